/* SPDX-License-Identifier: MIT */
/* Events: numbers, names, and the template's fields. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/manifest_internal.h"

#define KEYWORDS_MAX 64 /* names that one event may list */

struct keyword {
	uint64_t mask;
	const char *name;
	size_t bytes;
};

/* Attributes of an event; an enclosing task or opcode element may stand for two of them. */
struct event_place {
	const struct etw_xml_element *element;
	const char *task;
	const char *opcode;
};

static int read_numbers(struct manifest_reader *reader, const struct etw_xml_element *element,
			EVENT_DESCRIPTOR *descriptor)
{
	const char *id = etw_xml_attribute(element, "value");
	const char *version = etw_xml_attribute(element, "version");
	uint64_t number;

	if (!id || !etw_manifest_number(id, UINT16_MAX, &number))
		return etw_manifest_refuse(reader, element, "value",
					   "the value of an event is missing or no 16-bit number");
	descriptor->Id = (USHORT)number;
	if (!version)
		return 0;
	if (!etw_manifest_number(version, UINT8_MAX, &number))
		return etw_manifest_refuse(reader, element, "version",
					   "the version of an event is no 8-bit number");
	descriptor->Version = (UCHAR)number;
	return 0;
}

static int read_task_and_opcode(struct manifest_reader *reader, const struct event_place *place,
				struct etw_schema *schema)
{
	const struct manifest_symbol *symbol =
		place->task ? etw_manifest_find(reader, SYMBOL_TASK, reader->provider, place->task)
			    : NULL;
	const struct manifest_task *task = symbol ? symbol->object : NULL;

	TRY(etw_manifest_keep(reader, place->task, &schema->task_name));
	TRY(etw_manifest_keep(reader, place->opcode, &schema->opcode_name));
	if (task) {
		schema->descriptor.Task = (USHORT)symbol->value;
		schema->event_guid = task->event_guid;
	}
	if (place->opcode)
		etw_manifest_find_opcode(reader, task ? task->element : NULL, place->opcode,
					 &schema->descriptor.Opcode);
	return 0;
}

static int compare_keywords(const void *left, const void *right)
{
	uint64_t left_mask = ((const struct keyword *)left)->mask;
	uint64_t right_mask = ((const struct keyword *)right)->mask;

	return left_mask < right_mask ? -1 : left_mask > right_mask;
}

static int keep_keyword_names(struct manifest_reader *reader, struct keyword *keywords,
			      size_t count, const char **ret)
{
	if (!count)
		return 0;
	qsort(keywords, count, sizeof(*keywords), compare_keywords);
	etw_text_clear(&reader->text);
	for (size_t i = 0; i < count; i++) {
		if (i)
			etw_text_puts(&reader->text, "; ");
		etw_text_append(&reader->text, keywords[i].name, keywords[i].bytes);
	}
	TRY(etw_text_error(&reader->text));
	return etw_manifest_keep(reader, etw_text_string(&reader->text), ret);
}

static int read_keywords(struct manifest_reader *reader, const struct etw_xml_element *element,
			 struct etw_schema *schema)
{
	static const char blanks[] = " \t\r\n";
	const char *at = etw_xml_attribute(element, "keywords");
	struct keyword keywords[KEYWORDS_MAX];
	size_t count = 0;

	while (at && *(at += strspn(at, blanks)) && count < KEYWORDS_MAX) {
		struct keyword *keyword = &keywords[count++];
		const char *name;

		*keyword = (struct keyword){.name = at, .bytes = strcspn(at, blanks)};
		name = etw_arena_strndup(&reader->scratch, at, keyword->bytes);
		if (!name)
			return -ENOMEM;
		etw_manifest_find_keyword(reader, name, &keyword->mask);
		schema->descriptor.Keyword |= keyword->mask;
		at += keyword->bytes;
	}
	return keep_keyword_names(reader, keywords, count, &schema->keywords);
}

static int read_channel(struct manifest_reader *reader, const struct etw_xml_element *element,
			struct etw_schema *schema)
{
	const char *name = etw_xml_attribute(element, "channel");
	struct manifest_channel channel = {.name = name};

	if (!name)
		return 0;
	etw_manifest_find_channel(reader, name, &channel);
	schema->descriptor.Channel = channel.value;
	schema->descriptor.Keyword |= channel.keyword;
	return etw_manifest_keep(reader, channel.name, &schema->channel_name);
}

static int read_template(struct manifest_reader *reader, const struct etw_xml_element *element,
			 struct etw_schema *schema)
{
	const char *tid = etw_xml_attribute(element, "template");
	const struct manifest_symbol *symbol;
	const struct manifest_template *template;

	if (!tid)
		return 0;
	symbol = etw_manifest_find(reader, SYMBOL_TEMPLATE, reader->provider, tid);
	if (!symbol)
		return etw_manifest_refuse(reader, element, "template",
					   "the template of an event is not defined");
	template = symbol->object;
	schema->fields = template->fields;
	schema->field_count = template->field_count;
	schema->top_count = template->top_count;
	schema->template_flags = template->flags;
	return 0;
}

static int read_event(struct manifest_reader *reader, const struct event_place *place,
		      struct etw_schema *schema)
{
	const struct etw_xml_element *element = place->element;
	const char *level = etw_xml_attribute(element, "level");

	schema->provider = reader->provider_guid;
	schema->provider_name = reader->provider_name;
	schema->source = DecodingSourceXMLFile;
	schema->owner = reader->owner;
	TRY(read_numbers(reader, element, &schema->descriptor));
	TRY(etw_manifest_keep(reader, etw_xml_attribute(element, "name"), &schema->event_name));
	TRY(etw_manifest_keep(reader, level, &schema->level_name));
	if (level)
		etw_manifest_find_level(reader, level, &schema->descriptor.Level);
	TRY(read_task_and_opcode(reader, place, schema));
	TRY(read_keywords(reader, element, schema));
	TRY(read_channel(reader, element, schema));
	TRY(etw_manifest_message(reader, etw_xml_attribute(element, "message"), &schema->message));
	TRY(read_template(reader, element, schema));
	if (!etw_guid_is_null(&reader->control_guid)) {
		schema->event_guid = reader->control_guid;
		schema->template_flags |= TEMPLATE_CONTROL_GUID;
	}
	return 0;
}

static const char *attribute_or(const struct etw_xml_element *element, const char *name,
				const char *otherwise)
{
	const char *value = etw_xml_attribute(element, name);

	return value ? value : otherwise;
}

/*
 * Counts the events among the children of @parent, or reads them when there is room for schemas.
 * Tasks and opcodes may group events, one within the other.
 */
static int walk_events(struct manifest_reader *reader, const struct etw_xml_element *parent,
		       const struct event_place *outer, struct etw_schema *room, size_t *count)
{
	for (const struct etw_xml_element *at = parent->first_child; at; at = at->next) {
		struct event_place place = *outer;

		if (strcmp(at->name, "event") == 0) {
			place.element = at;
			place.task = attribute_or(at, "task", outer->task);
			place.opcode = attribute_or(at, "opcode", outer->opcode);
			if (room)
				TRY(read_event(reader, &place, &room[*count]));
			++*count;
		} else if (strcmp(at->name, "task") == 0 && !outer->task) {
			place.task = attribute_or(at, "name", "");
			TRY(walk_events(reader, at, &place, room, count));
		} else if (strcmp(at->name, "opcode") == 0 && !outer->opcode) {
			place.opcode = attribute_or(at, "name", "");
			TRY(walk_events(reader, at, &place, room, count));
		}
	}
	return 0;
}

static int walk_lists(struct manifest_reader *reader, struct etw_schema *room, size_t *count)
{
	static const struct event_place nowhere;

	for (const struct etw_xml_element *list = etw_xml_first(reader->provider, "events"); list;
	     list = etw_xml_next(list, "events"))
		TRY(walk_events(reader, list, &nowhere, room, count));
	return 0;
}

int etw_manifest_read_events(struct manifest_reader *reader, struct etw_provider_schema *provider)
{
	size_t count = 0;

	TRY(walk_lists(reader, NULL, &count));
	provider->schemas = etw_arena_array(reader->arena, count, sizeof(*provider->schemas));
	if (!provider->schemas)
		return -ENOMEM;
	return walk_lists(reader, provider->schemas, &provider->schema_count);
}
