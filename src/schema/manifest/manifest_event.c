/* SPDX-License-Identifier: MIT */
/* Events: numbers, names, and the template's fields. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"

#define KEYWORDS_MAX 64 /* names that one event may list */

struct keyword {
	uint64_t mask;
	const char *name;
};

/* Attributes of an event; an enclosing task or opcode element may stand for two of them. */
struct event_place {
	const struct etw_xml_element *element;
	const char *task;
	const char *opcode;
};

/* The name of what a reference stands for, or the reference itself. */
static int name_of(struct manifest_reader *reader, const struct manifest_name *found,
		   const char *reference, const char **ret)
{
	if (!found)
		return etw_manifest_keep(reader, reference, ret);
	*ret = found->named.name;
	return 0;
}

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

/* A task's own opcode and one of every task's may not be told apart by number. */
static int check_opcode(struct manifest_reader *reader, const struct etw_xml_element *element,
			const struct manifest_name *task, const struct manifest_name *opcode)
{
	char number[17];

	if (!task || !task->element || opcode->task)
		return 0;
	(void)snprintf(number, sizeof(number), "%llx", (unsigned long long)opcode->named.value);
	if (!etw_manifest_find(reader, etw_part_of(SYMBOL_OPCODE, PART_VALUE), task->element,
			       number))
		return 0;
	return etw_manifest_complain(reader, element,
				     "the value of an event's opcode is that of its task's own one",
				     opcode->named.name);
}

static int read_task_and_opcode(struct manifest_reader *reader, const struct event_place *place,
				struct etw_schema *schema)
{
	const struct manifest_name *task = NULL;
	const struct manifest_name *opcode = NULL;

	if (place->task) {
		TRY(etw_manifest_use(reader, place->element, SYMBOL_TASK, NULL, place->task,
				     &task));
		TRY(name_of(reader, task, place->task, &schema->task_name));
	}
	if (task) {
		schema->descriptor.Task = (USHORT)task->named.value;
		schema->event_guid = task->event_guid;
	}
	if (!place->opcode)
		return 0;
	TRY(etw_manifest_use(reader, place->element, SYMBOL_OPCODE, task, place->opcode, &opcode));
	TRY(name_of(reader, opcode, place->opcode, &schema->opcode_name));
	if (!opcode)
		return 0;
	schema->descriptor.Opcode = (UCHAR)opcode->named.value;
	return check_opcode(reader, place->element, task, opcode);
}

static int read_level(struct manifest_reader *reader, const struct etw_xml_element *element,
		      struct etw_schema *schema)
{
	const char *name = etw_xml_attribute(element, "level");
	const struct manifest_name *level;

	if (!name)
		return 0;
	TRY(etw_manifest_use(reader, element, SYMBOL_LEVEL, NULL, name, &level));
	if (level)
		schema->descriptor.Level = (UCHAR)level->named.value;
	return name_of(reader, level, name, &schema->level_name);
}

/* Few, and those of one mask keep their order. */
static void insert_keyword(struct keyword *keywords, size_t count, struct keyword keyword)
{
	while (count && keywords[count - 1].mask > keyword.mask) {
		keywords[count] = keywords[count - 1];
		count--;
	}
	keywords[count] = keyword;
}

static int keep_keyword_names(struct manifest_reader *reader, const struct keyword *keywords,
			      size_t count, const char **ret)
{
	if (!count)
		return 0;
	etw_text_clear(&reader->text);
	for (size_t i = 0; i < count; i++) {
		if (i)
			etw_text_puts(&reader->text, "; ");
		etw_text_puts(&reader->text, keywords[i].name);
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

	for (; at && *(at += strspn(at, blanks)); at += strcspn(at, blanks)) {
		const char *name = etw_arena_strndup(&reader->scratch, at, strcspn(at, blanks));
		const struct manifest_name *found;

		if (!name)
			return -ENOMEM;
		if (count == KEYWORDS_MAX) {
			TRY(etw_manifest_complain(reader, element,
						  "an event lists more than 64 keywords", name));
			break;
		}
		TRY(etw_manifest_use(reader, element, SYMBOL_KEYWORD, NULL, name, &found));
		insert_keyword(keywords, count++,
			       (struct keyword){found ? found->named.value : 0,
						found ? found->named.name : name});
		schema->descriptor.Keyword |= found ? found->named.value : 0;
	}
	return keep_keyword_names(reader, keywords, count, &schema->keywords);
}

static int read_channel(struct manifest_reader *reader, const struct etw_xml_element *element,
			struct etw_schema *schema, const struct etw_channel **ret)
{
	const char *name = etw_xml_attribute(element, "channel");

	*ret = NULL;
	if (!name)
		return 0;
	TRY(etw_manifest_use_channel(reader, element, name, ret));
	if (!*ret)
		return etw_manifest_keep(reader, name, &schema->channel_name);
	schema->descriptor.Channel = (UCHAR)(*ret)->named.value;
	schema->descriptor.Keyword |= (*ret)->keyword;
	schema->channel_name = (*ret)->named.name;
	return 0;
}

static int read_template(struct manifest_reader *reader, const struct etw_xml_element *element,
			 struct etw_schema *schema)
{
	const char *tid = etw_xml_attribute(element, "template");
	const struct manifest_template *template;

	if (!tid)
		return 0;
	template = etw_manifest_find_template(reader, tid);
	if (!template)
		return etw_manifest_refuse(reader, element, "template",
					   "the template of an event is not defined");
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
	const struct manifest_message *message;
	const struct etw_channel *channel;

	schema->provider = reader->schema->guid;
	schema->provider_name = reader->schema->name;
	schema->source = DecodingSourceXMLFile;
	schema->owner = reader->schema;
	TRY(read_numbers(reader, element, &schema->descriptor));
	TRY(etw_manifest_keep_attribute(reader, element, "name", &schema->event_name));
	TRY(etw_manifest_keep_attribute(reader, element, "symbol", &schema->symbol));
	TRY(etw_manifest_keep_attribute(reader, element, "attributes", &schema->attributes));
	TRY(read_level(reader, element, schema));
	TRY(read_task_and_opcode(reader, place, schema));
	TRY(read_keywords(reader, element, schema));
	TRY(read_channel(reader, element, schema, &channel));
	TRY(etw_manifest_find_message(reader, element, &message));
	schema->message = message ? message->text : NULL;
	TRY(read_template(reader, element, schema));
	etw_provider_schema_show_control(reader->schema, schema);
	return etw_manifest_check_event(reader, element, schema, channel, message);
}

static const char *attribute_or(const struct etw_xml_element *element, const char *name,
				const char *otherwise)
{
	const char *value = etw_xml_attribute(element, name);

	return value ? value : otherwise;
}

/* The name; each event within looks it up, so that a long one would cost far more than it takes. */
static int read_group(struct manifest_reader *reader, const struct etw_xml_element *element,
		      bool is_read, const char **ret)
{
	const char *name = attribute_or(element, "name", "");

	*ret = name;
	if (strnlen(name, MANIFEST_NAME_BYTES_MAX + 1) <= MANIFEST_NAME_BYTES_MAX)
		return 0;
	*ret = "";
	if (!is_read)
		return 0;
	return etw_manifest_complain(reader, element, "the name of a group of events is too long",
				     name);
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
			TRY(read_group(reader, at, room != NULL, &place.task));
			TRY(walk_events(reader, at, &place, room, count));
		} else if (strcmp(at->name, "opcode") == 0 && !outer->opcode) {
			TRY(read_group(reader, at, room != NULL, &place.opcode));
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

/* By id, as compiled resources have them; versions of an id stay in their order. */
int etw_manifest_read_events(struct manifest_reader *reader)
{
	struct etw_schema *schemas, *room;
	struct manifest_key *keys;
	size_t count = 0;

	TRY(walk_lists(reader, NULL, &count));
	schemas = etw_arena_array(reader->arena, count, sizeof(*schemas));
	room = etw_arena_array(&reader->scratch, count, sizeof(*room));
	keys = etw_arena_array(&reader->scratch, count, sizeof(*keys));
	if (!schemas || !room || !keys)
		return -ENOMEM;
	count = 0;
	TRY(walk_lists(reader, room, &count));
	for (size_t i = 0; i < count; i++) {
		keys[i].number = room[i].descriptor.Id;
		keys[i].item = &room[i];
	}
	etw_manifest_sort(keys, count);
	for (size_t i = 0; i < count; i++)
		schemas[i] = *(const struct etw_schema *)keys[i].item;
	reader->schema->schemas = schemas;
	reader->schema->schema_count = count;
	return 0;
}
