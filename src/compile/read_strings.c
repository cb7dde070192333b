/* SPDX-License-Identifier: MIT */
/* The string tables of all cultures, the message table, and the references to them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "compile/read_internal.h"
#include "schema/compiled/language.h"

static const struct etw_xml_element *find_primary(const struct etw_xml_element *root)
{
	const struct etw_xml_element *first = NULL;

	for (const struct etw_xml_element *part = etw_xml_first(root, "localization"); part;
	     part = etw_xml_next(part, "localization")) {
		const char *fallback = etw_xml_attribute(part, "fallbackCulture");

		for (const struct etw_xml_element *at = etw_xml_first(part, "resources"); at;
		     at = etw_xml_next(at, "resources")) {
			const char *culture = etw_xml_attribute(at, "culture");

			if (!first)
				first = at;
			if (culture && strcasecmp(culture, fallback ? fallback : "en-US") == 0)
				return at;
		}
	}
	return first;
}

static size_t count_cultures(const struct etw_xml_element *root)
{
	size_t count = 0;

	for (const struct etw_xml_element *part = etw_xml_first(root, "localization"); part;
	     part = etw_xml_next(part, "localization")) {
		for (const struct etw_xml_element *at = etw_xml_first(part, "resources"); at;
		     at = etw_xml_next(at, "resources"))
			count++;
	}
	return count;
}

static struct mc_message *add_message(struct mc_reader *reader, const char *name)
{
	struct mc_manifest *manifest = reader->manifest;
	struct mc_message *message = etw_compile_new(reader, sizeof(*message));

	if (!message)
		return NULL;
	message->texts = etw_arena_array(&manifest->arena, manifest->culture_count + 1,
					 sizeof(*message->texts));
	if (!message->texts)
		return NULL;
	message->name = name;
	message->id = MC_NO_MESSAGE;
	MC_APPEND(manifest->messages, manifest->last_message, message);
	return message;
}

static int read_string(struct mc_reader *reader, const struct etw_xml_element *element,
		       size_t culture)
{
	const char *id = etw_xml_attribute(element, "id");
	const char *value = etw_xml_attribute(element, "value");
	struct mc_message *message;

	if (!id || !value)
		return 0;
	message = etw_compile_find(reader, SYMBOL_STRING, NULL, id);
	if (message && message->texts[culture])
		return etw_compile_complain(reader, element,
					    "the string %s is defined twice in one culture", id);
	if (!message) {
		message = add_message(reader, id);
		if (!message)
			return -ENOMEM;
		message->element = element;
		TRY(etw_compile_claim(reader, element, SYMBOL_STRING, NULL, id, message, "string"));
	}
	message->texts[culture] = value;
	return 0;
}

static int read_culture(struct mc_reader *reader, const struct etw_xml_element *resources)
{
	struct mc_culture *culture = etw_compile_new(reader, sizeof(*culture));
	struct mc_culture **last = &reader->manifest->cultures;
	size_t index = 0;

	if (!culture)
		return -ENOMEM;
	culture->name = etw_xml_attribute(resources, "culture");
	if (!culture->name)
		culture->name = "";
	else if (!etw_language_number(culture->name))
		TRY(etw_compile_complain(reader, resources, "the culture %s is not known",
					 culture->name));
	for (; *last; last = &(*last)->next)
		index++;
	*last = culture;
	culture->index = index;
	TRY(etw_compile_claim(reader, resources, SYMBOL_KINDS * 4, NULL, culture->name, culture,
			      "culture"));
	for (const struct etw_xml_element *table = etw_xml_first(resources, "stringTable"); table;
	     table = etw_xml_next(table, "stringTable")) {
		for (const struct etw_xml_element *at = etw_xml_first(table, "string"); at;
		     at = etw_xml_next(at, "string"))
			TRY(read_string(reader, at, index));
	}
	return 0;
}

/* What a reference stands for; complains where there is nothing. */
static int follow(struct mc_reader *reader, const struct etw_xml_element *element,
		  const char *reference, struct mc_message **ret)
{
	const char *start = strchr(reference, '.');
	size_t bytes = strlen(reference);
	bool is_string = strncasecmp(reference, "$(string.", 9) == 0;
	char *id;

	*ret = NULL;
	if (!start || bytes < 5 || reference[bytes - 1] != ')' || strncmp(reference, "$(", 2) != 0)
		return 0; /* the rules have complained */
	start++;
	id = etw_arena_strndup(&reader->manifest->arena, start,
			       (size_t)(reference + bytes - 1 - start));
	if (!id)
		return -ENOMEM;
	*ret = etw_compile_find(reader, is_string ? SYMBOL_STRING : SYMBOL_MESSAGE, NULL, id);
	if (!*ret)
		return etw_compile_complain(reader, element, "there is no %s %s",
					    is_string ? "string" : "message", id);
	return 0;
}

static int read_message(struct mc_reader *reader, const struct etw_xml_element *element)
{
	const char *reference = etw_xml_attribute(element, "message");
	const char *mid = etw_xml_attribute(element, "mid");
	const char *symbol = etw_compile_attribute_symbol(element);
	struct mc_message *message;

	if (!reference)
		return 0;
	TRY(follow(reader, element, reference, &message));
	if (!message)
		return 0;
	message->id = (uint32_t)etw_compile_attribute_number(element, "value", 0);
	message->is_id_given = true;
	message->symbol = symbol;
	TRY(etw_compile_claim_number(reader, element, SYMBOL_MESSAGE + MC_VALUE, NULL, message->id,
				     "message's value"));
	TRY(etw_compile_claim(reader, element, SYMBOL_MESSAGE, NULL, symbol, message,
			      "message's symbol"));
	if (mid && (!symbol || strcmp(mid, symbol) != 0))
		TRY(etw_compile_claim(reader, element, SYMBOL_MESSAGE, NULL, mid, message,
				      "message's mid"));
	return 0;
}

int etw_compile_read_strings(struct mc_reader *reader, const struct etw_xml_element *root)
{
	const struct etw_xml_element *primary = find_primary(root);
	const struct etw_xml_element *at = root;
	static const char *const path[] = {"instrumentation", "events", "messageTable", "message"};

	reader->manifest->culture_count = count_cultures(root);
	if (primary)
		TRY(read_culture(reader, primary));
	for (const struct etw_xml_element *part = etw_xml_first(root, "localization"); part;
	     part = etw_xml_next(part, "localization")) {
		for (at = etw_xml_first(part, "resources"); at;
		     at = etw_xml_next(at, "resources")) {
			if (at != primary)
				TRY(read_culture(reader, at));
		}
	}
	at = root;
	for (size_t i = 0; i < ARRAY_SIZE(path) && at; i++)
		at = etw_xml_first(at, path[i]);
	for (; at; at = etw_xml_next(at, "message"))
		TRY(read_message(reader, at));
	return 0;
}

/* Every culture must have what is used: the primary one by rule, the others as they can. */
static int check_texts(struct mc_reader *reader, const struct etw_xml_element *element,
		       const struct mc_message *message)
{
	for (const struct mc_culture *culture = reader->manifest->cultures; culture;
	     culture = culture->next) {
		if (message->texts[culture->index])
			continue;
		if (culture->index == 0)
			return etw_compile_complain(reader, element,
						    "the culture %s lacks the string %s",
						    culture->name, message->name);
		TRY(etw_compile_warn(reader, element, "the culture %s lacks the string %s",
				     culture->name, message->name));
	}
	return 0;
}

int etw_compile_message(struct mc_reader *reader, const struct etw_xml_element *element,
			struct mc_message **ret)
{
	const char *reference = etw_xml_attribute(element, "message");

	*ret = NULL;
	if (!reference)
		return 0;
	TRY(follow(reader, element, reference, ret));
	return *ret ? check_texts(reader, element, *ret) : 0;
}

int etw_compile_winmeta_message(struct mc_reader *reader, enum symbol_kind kind, const char *name,
				const char *text, uint32_t id, struct mc_message **ret)
{
	static const char *const kinds[] = {
		[SYMBOL_LEVEL] = "level",     [SYMBOL_TASK] = "task",
		[SYMBOL_OPCODE] = "opcode",   [SYMBOL_KEYWORD] = "keyword",
		[SYMBOL_CHANNEL] = "channel",
	};
	char full[64];
	size_t used;
	char *copy;

	used = (size_t)snprintf(full, sizeof(full), "%s_", kinds[kind]);
	/* The symbols of winmeta.h: levels by name, the others by their text without its blanks. */
	for (const char *at = kind == SYMBOL_LEVEL ? name : text; *at && used < sizeof(full) - 1;
	     at++) {
		if (*at != ' ')
			full[used++] = *at;
	}
	full[used] = '\0';
	*ret = etw_compile_find(reader, SYMBOL_KINDS * 5, NULL, full);
	if (*ret)
		return 0;
	copy = etw_arena_strdup(&reader->manifest->arena, full);
	*ret = copy ? add_message(reader, copy) : NULL;
	if (!*ret)
		return -ENOMEM;
	(*ret)->is_winmeta = true;
	(*ret)->id = id;
	for (size_t i = 0; i <= reader->manifest->culture_count; i++)
		(*ret)->texts[i] = text;
	return etw_compile_claim(reader, reader->provider->element, SYMBOL_KINDS * 5, NULL, copy,
				 *ret, "winmeta's message");
}
