/* SPDX-License-Identifier: MIT */
/* The events of a provider, and which enable bit each has. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "compile/read_internal.h"

#define INSERTS_MAX 99 /* in one message */

static int read_keywords(struct mc_reader *reader, struct mc_event *event, const char *list)
{
	size_t room = strlen(list) / 2 + 1;

	event->keywords = etw_arena_array(&reader->manifest->arena, room, sizeof(void *));
	if (!event->keywords)
		return -ENOMEM;
	for (const char *at = list; *(at += strspn(at, " \t\r\n"));) {
		size_t bytes = strcspn(at, " \t\r\n");
		char *name = etw_arena_strndup(&reader->manifest->arena, at, bytes);
		const struct mc_name *keyword;

		if (!name)
			return -ENOMEM;
		TRY(etw_compile_use(reader, event->element, SYMBOL_KEYWORD, NULL, name, &keyword));
		if (keyword) {
			event->keywords[event->keyword_count++] = keyword;
			event->mask |= keyword->value;
		}
		at += bytes;
	}
	return 0;
}

static int read_references(struct mc_reader *reader, struct mc_event *event)
{
	const struct etw_xml_element *element = event->element;
	const char *channel = etw_xml_attribute(element, "channel");
	const char *level = etw_xml_attribute(element, "level");
	const char *task = etw_xml_attribute(element, "task");
	const char *opcode = etw_xml_attribute(element, "opcode");
	const char *keywords = etw_xml_attribute(element, "keywords");
	const char *tid = etw_xml_attribute(element, "template");

	if (channel)
		TRY(etw_compile_use_channel(reader, element, channel, &event->channel));
	if (level)
		TRY(etw_compile_use(reader, element, SYMBOL_LEVEL, NULL, level, &event->level));
	if (task)
		TRY(etw_compile_use(reader, element, SYMBOL_TASK, NULL, task, &event->task));
	if (opcode)
		TRY(etw_compile_use(reader, element, SYMBOL_OPCODE, event->task, opcode,
				    &event->opcode));
	if (keywords)
		TRY(read_keywords(reader, event, keywords));
	if (tid) {
		event->template_of = etw_compile_find_template(reader, tid);
		if (!event->template_of)
			TRY(etw_compile_complain(reader, element, "there is no template %s", tid));
	}
	if (event->channel)
		event->mask |= event->channel->keyword;
	return 0;
}

static uint8_t channel_value(const struct mc_provider *provider, const struct mc_event *event)
{
	if (event->channel)
		return event->channel->value;
	return provider->has_control_guid ? 12 : 0;
}

/* An event without a symbol is called after its descriptor. */
static int name_event(struct mc_reader *reader, struct mc_event *event)
{
	const struct mc_provider *provider = reader->provider;
	char text[256];

	event->symbol = etw_compile_attribute_symbol(event->element);
	if (event->symbol)
		return etw_compile_claim(reader, event->element, SYMBOL_EVENT + MC_SYMBOL, provider,
					 event->symbol, event, "event's symbol");
	(void)snprintf(
		text, sizeof(text), "%.150s_EVENT_0x%x_%x_%x_%x_%x_%x_%llx", provider->symbol,
		event->value, event->version, channel_value(provider, event),
		event->level ? (unsigned)event->level->value : 0,
		event->opcode ? (unsigned)event->opcode->value : 0,
		event->task ? (unsigned)event->task->value : 0, (unsigned long long)event->mask);
	event->symbol = etw_arena_strdup(&reader->manifest->arena, text);
	return event->symbol ? 0 : -ENOMEM;
}

static int read_event(struct mc_reader *reader, const struct etw_xml_element *element)
{
	struct mc_provider *provider = reader->provider;
	struct mc_event *event = etw_compile_new(reader, sizeof(*event));

	if (!event)
		return -ENOMEM;
	event->element = element;
	event->value = (uint16_t)etw_compile_attribute_number(element, "value", 0);
	event->version = (uint8_t)etw_compile_attribute_number(element, "version", 0);
	event->name = etw_xml_attribute(element, "name");
	event->is_not_logged = etw_compile_attribute_flag(element, "notLogged");
	TRY(etw_compile_message(reader, element, &event->message));
	TRY(read_references(reader, event));
	TRY(etw_compile_claim_number(reader, element, SYMBOL_EVENT + MC_VALUE, provider,
				     event->value | (uint64_t)event->version << 16,
				     "event's value and version"));
	TRY(name_event(reader, event));
	MC_APPEND(provider->events, provider->last_event, event);
	provider->event_count++;
	return 0;
}

static uint64_t hash_bit(const struct mc_event *event)
{
	return etw_hash_mix(etw_hash_mix(1, event->mask), event->level ? event->level->value : 0);
}

static bool is_same_bit(const void *item, const void *key)
{
	const struct mc_event *left = item, *right = key;

	return left->mask == right->mask &&
	       (left->level ? left->level->value : 0) == (right->level ? right->level->value : 0);
}

/* Each pair of level and mask has a bit, by its first event. */
static int number_bits(struct mc_reader *reader, struct etw_table *pairs)
{
	struct mc_provider *provider = reader->provider;

	provider->bits = etw_arena_array(&reader->manifest->arena, provider->event_count + 1,
					 sizeof(void *));
	if (!provider->bits)
		return -ENOMEM;
	for (struct mc_event *event = provider->events; event; event = event->next) {
		uint64_t hash = hash_bit(event);
		const struct mc_event *first = etw_table_find(pairs, hash, is_same_bit, event);

		if (first) {
			event->bit = first->bit;
			continue;
		}
		TRY(etw_table_insert(pairs, hash, event));
		event->bit = provider->bit_count;
		provider->bits[provider->bit_count++] = event;
	}
	return 0;
}

int etw_compile_read_events(struct mc_reader *reader)
{
	struct etw_table pairs;
	int r;

	for (const struct etw_xml_element *list =
		     etw_xml_first(reader->provider->element, "events");
	     list; list = etw_xml_next(list, "events")) {
		for (const struct etw_xml_element *at = etw_xml_first(list, "event"); at;
		     at = etw_xml_next(at, "event"))
			TRY(read_event(reader, at));
	}
	etw_table_init(&pairs);
	r = number_bits(reader, &pairs);
	etw_table_done(&pairs);
	return r;
}

/* What an Admin channel's readers are owed. */
static int check_admin(struct mc_reader *reader, const struct mc_event *event)
{
	if (!event->channel || event->channel->is_imported ||
	    event->channel->type != MC_CHANNEL_ADMIN)
		return 0;
	if (!etw_xml_attribute(event->element, "message"))
		TRY(etw_compile_complain(reader, event->element,
					 "the event %s of an Admin channel needs a message",
					 event->symbol));
	if (!event->level && etw_xml_attribute(event->element, "level"))
		return 0; /* it has been complained of */
	if (!event->level || event->level->value < 1 || event->level->value > 4)
		TRY(etw_compile_complain(reader, event->element,
					 "the event %s of an Admin channel needs a level from "
					 "Critical to Informational",
					 event->symbol));
	return 0;
}

static int check_opcode(struct mc_reader *reader, const struct mc_event *event)
{
	if (!event->task || !event->opcode || event->opcode->task)
		return 0;
	for (const struct mc_name *other = reader->provider->opcodes.first; other;
	     other = other->next) {
		if (other->task == event->task && other->value == event->opcode->value)
			return etw_compile_complain(
				reader, event->element,
				"the opcode %s has the value of the opcode %s of the task %s",
				event->opcode->name, other->name, event->task->name);
	}
	return 0;
}

/* %1 to %99 stand for fields, %1!s! for one with a format. */
static int check_text(struct mc_reader *reader, const struct mc_event *event, const char *text)
{
	unsigned count = event->template_of ? event->template_of->field_count : 0;
	unsigned inserts = 0;

	while (text && (text = strchr(text, '%'))) {
		unsigned number = 0;

		text++;
		if (*text == '%') {
			text++;
			continue;
		}
		for (int i = 0; i < 2 && *text >= '0' && *text <= '9'; i++)
			number = number * 10 + (unsigned)(*text++ - '0');
		if (number && *text >= '0' && *text <= '9')
			return etw_compile_complain(
				reader, event->element,
				"the message of the event %s refers to %%%u%c, and inserts end at "
				"%%99",
				event->symbol, number, *text);
		if (number && ++inserts > INSERTS_MAX)
			return etw_compile_complain(reader, event->element,
						    "the message of the event %s has more than %d "
						    "inserts",
						    event->symbol, INSERTS_MAX);
		if (number > count)
			return etw_compile_complain(
				reader, event->element,
				"the message of the event %s refers to %%%u, and it has %u %s",
				event->symbol, number, count, count == 1 ? "field" : "fields");
		if (number && *text == '!' && !strchr(text + 1, '!'))
			return etw_compile_complain(
				reader, event->element,
				"the format of %%%u in the message of the event %s has no end",
				number, event->symbol);
	}
	return 0;
}

static int check_inserts(struct mc_reader *reader, const struct mc_event *event)
{
	/* A template that is not there has been complained of. */
	if (!event->message ||
	    (!event->template_of && etw_xml_attribute(event->element, "template")))
		return 0;
	for (size_t i = 0; i <= reader->manifest->culture_count; i++) {
		size_t before = reader->manifest->error_count;

		TRY(check_text(reader, event, event->message->texts[i]));
		/* Translations repeat the fault of what they are made of. */
		if (reader->manifest->error_count > before)
			return 0;
	}
	return 0;
}

/* KEY=value, semicolons between; those within quotes belong to a value. */
static int check_attributes(struct mc_reader *reader, const struct mc_event *event)
{
	const char *at = etw_xml_attribute(event->element, "attributes");

	while (at && *at) {
		const char *start = at;
		bool is_quoted = false;

		for (; *at && (is_quoted || *at != ';'); at++)
			is_quoted ^= *at == '"';
		if (is_quoted ||
		    (at > start && (*start == '=' || !memchr(start, '=', (size_t)(at - start)))))
			return etw_compile_complain(
				reader, event->element,
				"attributes of the event %s are not of the form NAME=value;...",
				event->symbol);
		at += *at == ';';
	}
	return 0;
}

int etw_compile_check_events(struct mc_reader *reader)
{
	for (const struct mc_event *event = reader->provider->events; event; event = event->next) {
		TRY(check_admin(reader, event));
		TRY(check_opcode(reader, event));
		TRY(check_inserts(reader, event));
		TRY(check_attributes(reader, event));
	}
	return 0;
}
