/* SPDX-License-Identifier: MIT */
/* `$(string.x)` and `$(mc.x)`, and the texts they stand for. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "schema/compiled/message_table.h"
#include "schema/manifest/manifest_internal.h"

static bool is_culture(const struct etw_xml_element *resources, const char *culture)
{
	const char *own = etw_xml_attribute(resources, "culture");

	return own && culture && strcasecmp(own, culture) == 0;
}

/* The fallback culture's resources, else those of en-US, else the first. */
static const struct etw_xml_element *choose_resources(const struct etw_xml_element *localization)
{
	const char *fallback = etw_xml_attribute(localization, "fallbackCulture");
	const struct etw_xml_element *first = etw_xml_first(localization, "resources");

	for (const struct etw_xml_element *at = first; at; at = etw_xml_next(at, "resources")) {
		if (is_culture(at, fallback))
			return at;
	}
	for (const struct etw_xml_element *at = first; at; at = etw_xml_next(at, "resources")) {
		if (is_culture(at, "en-US"))
			return at;
	}
	return first;
}

static int define_string(struct manifest_reader *reader, const struct etw_xml_element *resources,
			 const struct etw_xml_element *element)
{
	const char *id = etw_xml_attribute(element, "id");
	const char *value = etw_xml_attribute(element, "value");
	struct manifest_symbol *known;

	if (!id || !value)
		return etw_manifest_complain(reader, element, "a string lacks its id or value", id);
	known = etw_manifest_find(reader, SYMBOL_STRING, NULL, id);
	if (!known)
		return etw_manifest_define(reader, &(struct manifest_symbol){.kind = SYMBOL_STRING,
									     .name = id,
									     .value = 1,
									     .text = value,
									     .object = resources});
	if (known->object == resources)
		return etw_manifest_complain(reader, element,
					     "a string id occurs twice in one culture", id);
	known->object = resources;
	known->value++;
	return 0;
}

static int read_string_tables(struct manifest_reader *reader,
			      const struct etw_xml_element *resources)
{
	reader->culture_count++;
	for (const struct etw_xml_element *table = etw_xml_first(resources, "stringTable"); table;
	     table = etw_xml_next(table, "stringTable")) {
		for (const struct etw_xml_element *at = etw_xml_first(table, "string"); at;
		     at = etw_xml_next(at, "string"))
			TRY(define_string(reader, resources, at));
	}
	return 0;
}

/* The chosen culture first: what it lacks, another may have. */
static int read_localization(struct manifest_reader *reader,
			     const struct etw_xml_element *localization)
{
	const struct etw_xml_element *chosen = choose_resources(localization);

	if (chosen)
		TRY(read_string_tables(reader, chosen));
	for (const struct etw_xml_element *at = etw_xml_first(localization, "resources"); at;
	     at = etw_xml_next(at, "resources")) {
		if (at != chosen)
			TRY(read_string_tables(reader, at));
	}
	return 0;
}

static int define_message(struct manifest_reader *reader, const char *name, const char *reference)
{
	if (!name || !reference)
		return 0;
	TRY(etw_manifest_define(reader, &(struct manifest_symbol){.kind = SYMBOL_MESSAGE,
								  .name = name,
								  .text = reference}));
	return 0;
}

static int read_message_tables(struct manifest_reader *reader, const struct etw_xml_element *root)
{
	const struct etw_xml_element *at = root;
	static const char *const path[] = {"instrumentation", "events", "messageTable", "message"};

	for (size_t i = 0; i < ARRAY_SIZE(path) && at; i++)
		at = etw_xml_first(at, path[i]);
	for (; at; at = etw_xml_next(at, "message")) {
		const char *reference = etw_xml_attribute(at, "message");

		TRY(define_message(reader, etw_xml_attribute(at, "symbol"), reference));
		TRY(define_message(reader, etw_xml_attribute(at, "mid"), reference));
	}
	return 0;
}

int etw_manifest_read_strings(struct manifest_reader *reader, const struct etw_xml_element *root)
{
	for (const struct etw_xml_element *at = etw_xml_first(root, "localization"); at;
	     at = etw_xml_next(at, "localization"))
		TRY(read_localization(reader, at));
	return read_message_tables(reader, root);
}

/* What "$(string.x)" or "$(mc.x)" stands for; NULL when it is not there. */
static struct manifest_symbol *find_reference(struct manifest_reader *reader, const char *reference)
{
	enum symbol_kind kind = SYMBOL_STRING;
	size_t bytes = strlen(reference);

	if (bytes < 4 || strncmp(reference, "$(", 2) != 0 || reference[bytes - 1] != ')')
		return NULL;
	if (strncasecmp(reference + 2, "string.", 7) == 0)
		reference += 9;
	else if (strncasecmp(reference + 2, "mc.", 3) == 0)
		reference += 5, kind = SYMBOL_MESSAGE;
	else
		return NULL;
	etw_text_clear(&reader->text);
	etw_text_puts(&reader->text, reference);
	if (etw_text_error(&reader->text) || !reader->text.bytes)
		return NULL;
	reader->text.at[reader->text.bytes - 1] = '\0';
	return etw_manifest_find(reader, kind, NULL, reader->text.at);
}

/*
 * The string behind a reference, or NULL. A message table's entry refers to a string in turn, never to another
 * entry; which one is looked for once, since a short reference may lead to a long one again and again.
 */
static struct manifest_symbol *find_string(struct manifest_reader *reader, const char *reference)
{
	struct manifest_symbol *found = find_reference(reader, reference);
	struct manifest_symbol *string;

	if (!found || found->kind == SYMBOL_STRING)
		return found;
	if (found->text) {
		string = find_reference(reader, found->text);
		found->string = string && string->kind == SYMBOL_STRING ? string : NULL;
		found->text = NULL;
	}
	return found->string;
}

/* Made once, however many refer to it: a long text with many short references would grow without bound. */
static int make_message(struct manifest_reader *reader, struct manifest_symbol *string)
{
	struct manifest_message *message = etw_arena_alloc(&reader->scratch, sizeof(*message));

	if (!message)
		return -ENOMEM;
	etw_text_clear(&reader->text);
	etw_message_text(&reader->text, string->text);
	TRY(etw_text_error(&reader->text));
	message->text = etw_arena_strndup(reader->arena, etw_text_string(&reader->text),
					  reader->text.bytes);
	if (!message->text)
		return -ENOMEM;
	etw_manifest_note_inserts(message);
	string->message = message;
	return 0;
}

int etw_manifest_find_message(struct manifest_reader *reader, const struct etw_xml_element *element,
			      const struct manifest_message **ret)
{
	const char *reference = etw_xml_attribute(element, "message");
	struct manifest_symbol *string;

	*ret = NULL;
	if (!reference)
		return 0;
	string = find_string(reader, reference);
	TRY(etw_text_error(&reader->text));
	if (!string)
		return etw_manifest_complain(reader, element,
					     "a message refers to a string that no table has",
					     reference);
	if (string->value < reader->culture_count)
		TRY(etw_manifest_complain(reader, element,
					  "a message refers to a string that a culture lacks",
					  reference));
	if (!string->message)
		TRY(make_message(reader, string));
	*ret = string->message;
	return 0;
}

int etw_manifest_message(struct manifest_reader *reader, const struct etw_xml_element *element,
			 const char **ret)
{
	const struct manifest_message *message;

	TRY(etw_manifest_find_message(reader, element, &message));
	*ret = message ? message->text : NULL;
	return 0;
}
