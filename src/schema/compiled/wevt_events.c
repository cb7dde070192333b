/* SPDX-License-Identifier: MIT */
/* Events: numbers, names, the template's fields; then the names and attributes that stand elsewhere. */
#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/compiled/wevt_internal.h"

#define KEYWORDS_MAX 64 /* bits there are */

/* Names of keywords that several events list. */
struct known_keywords {
	const uint8_t *at; /* offsets of `count` keywords */
	uint32_t count;
	const char *names;
};

/* Attributes of one event, in their order. */
struct pending_attribute {
	struct pending_attribute *next;
	const char *text;
};

struct pending_event {
	struct pending_event *next;
	struct etw_schema *schema;
	struct pending_attribute *first, *last;
	uint32_t offset; /* of its first attribute */
};

/* The events of a provider by id and version, for the attributes. */
struct event_index {
	struct etw_table table; /* struct pending_event */
	struct pending_event *first;
};

static bool is_list_of_keywords(const void *item, const void *key)
{
	const struct known_keywords *known = item;
	const struct known_keywords *wanted = key;

	return known->count == wanted->count &&
	       memcmp(known->at, wanted->at, wanted->count * sizeof(le32)) == 0;
}

/* Ends the work on a text that will be refused. */
static bool is_too_long(const struct wevt_reader *reader)
{
	return reader->text.bytes > reader->joined_left;
}

static int join_keywords(struct wevt_reader *reader, const struct known_keywords *keywords,
			 uint32_t offset, const char **ret)
{
	const char *names[KEYWORDS_MAX];
	const char *separator = "";

	/* The conversion of names uses the reader's text, so they come first. */
	for (uint32_t i = 0; i < keywords->count; i++) {
		struct wire_wevt_keyword wire;
		const uint8_t *at;

		TRY(etw_wevt_peek(reader, etw_load32(keywords->at + i * sizeof(le32)), sizeof(wire),
				  "KEYW", &at));
		memcpy(&wire, at, sizeof(wire));
		TRY(etw_wevt_name(reader, le32_get(wire.name), &names[i]));
	}
	etw_text_clear(&reader->text);
	for (uint32_t i = 0; i < keywords->count; i++) {
		if (!names[i])
			continue;
		etw_text_puts(&reader->text, separator);
		etw_text_puts(&reader->text, names[i]);
		separator = "; ";
		if (is_too_long(reader))
			break;
	}
	if (!reader->text.bytes)
		return etw_text_error(&reader->text);
	return etw_wevt_keep_joined(reader, offset, "EVNT", ret);
}

static int read_keywords(struct wevt_reader *reader, uint32_t offset, uint32_t count,
			 const char **ret)
{
	struct known_keywords wanted = {.count = count};
	struct known_keywords *known;
	uint64_t hash;

	if (!count)
		return 0;
	if (count > KEYWORDS_MAX)
		return etw_wevt_refuse(reader, offset, "EVNT", "NumberOfKeywords",
				       "an event has more keywords than there are bits");
	TRY(etw_wevt_peek(reader, offset, count * sizeof(le32), "EVNT", &wanted.at));
	hash = etw_hash_bytes(reader->seed, wanted.at, count * sizeof(le32));
	known = etw_table_find(&reader->keywords, hash, is_list_of_keywords, &wanted);
	if (!known) {
		TRY(join_keywords(reader, &wanted, offset, &wanted.names));
		known = etw_arena_copy(&reader->scratch, &wanted, sizeof(wanted));
		if (!known)
			return -ENOMEM;
		TRY(etw_table_insert(&reader->keywords, hash, known));
	}
	*ret = known->names;
	return 0;
}

static int read_task(struct wevt_reader *reader, uint32_t offset, struct etw_schema *schema)
{
	struct wire_wevt_task wire;
	const uint8_t *at;

	if (!offset)
		return 0;
	TRY(etw_wevt_peek(reader, offset, sizeof(wire), "TASK", &at));
	memcpy(&wire, at, sizeof(wire));
	schema->event_guid = etw_guid_read(wire.event_guid);
	return etw_wevt_name(reader, le32_get(wire.name), &schema->task_name);
}

/* The name of the entry at @offset, whose offset is @name_at bytes further. */
static int read_entry_name(struct wevt_reader *reader, uint32_t offset, size_t name_at,
			   const char *structure, const char **ret)
{
	const uint8_t *at;

	if (!offset)
		return 0;
	TRY(etw_wevt_peek(reader, offset, name_at + sizeof(le32), structure, &at));
	return etw_wevt_name(reader, etw_load32(at + name_at), ret);
}

static int read_names(struct wevt_reader *reader, const struct wire_wevt_event *wire,
		      struct etw_schema *schema)
{
	TRY(read_entry_name(reader, le32_get(wire->level_entry),
			    offsetof(struct wire_wevt_level, name), "LEVL", &schema->level_name));
	TRY(read_entry_name(reader, le32_get(wire->opcode_entry),
			    offsetof(struct wire_wevt_opcode, name), "OPCO", &schema->opcode_name));
	TRY(read_entry_name(reader, le32_get(wire->channel_entry),
			    offsetof(struct wire_wevt_channel, name), "CHAN",
			    &schema->channel_name));
	TRY(read_task(reader, le32_get(wire->task_entry), schema));
	return read_keywords(reader, le32_get(wire->keywords), le32_get(wire->keyword_count),
			     &schema->keywords);
}

static int read_fields(struct wevt_reader *reader, uint32_t offset, struct etw_schema *schema)
{
	const struct wevt_template *template;

	if (!offset)
		return 0;
	TRY(etw_wevt_read_template(reader, offset, &template));
	schema->fields = template->fields;
	schema->field_count = template->field_count;
	schema->top_count = template->top_count;
	schema->template_flags = template->flags;
	return 0;
}

static int read_event(struct wevt_reader *reader, const struct wire_wevt_event *wire,
		      struct etw_schema *schema)
{
	const struct etw_provider_schema *provider = reader->provider;

	schema->provider = provider->guid;
	schema->provider_name = provider->name;
	schema->owner = provider;
	schema->source = DecodingSourceXMLFile;
	schema->descriptor = (EVENT_DESCRIPTOR){
		.Id = le16_get(wire->id),
		.Version = wire->version,
		.Channel = wire->channel,
		.Level = wire->level,
		.Opcode = wire->opcode,
		.Task = le16_get(wire->task),
		.Keyword = le64_get(wire->keyword),
	};
	TRY(read_names(reader, wire, schema));
	TRY(etw_wevt_message(reader, le32_get(wire->message), &schema->message));
	TRY(read_fields(reader, le32_get(wire->template), schema));
	etw_provider_schema_show_control(provider, schema);
	return 0;
}

struct event_key {
	uint16_t id;
	uint8_t version;
};

static bool is_event(const void *item, const void *key)
{
	const EVENT_DESCRIPTOR *descriptor =
		&((const struct pending_event *)item)->schema->descriptor;
	const struct event_key *wanted = key;

	return descriptor->Id == wanted->id && descriptor->Version == wanted->version;
}

static uint64_t hash_event(const struct wevt_reader *reader, const struct event_key *key)
{
	return etw_hash_mix(reader->seed, (uint64_t)key->id << 8 | key->version);
}

static int index_events(struct wevt_reader *reader, struct event_index *index)
{
	struct etw_provider_schema *provider = reader->provider;
	struct pending_event *events = etw_arena_array(&reader->scratch, provider->schema_count,
						       sizeof(*events));

	if (!events)
		return -ENOMEM;
	for (size_t i = 0; i < provider->schema_count; i++) {
		const EVENT_DESCRIPTOR *descriptor = &provider->schemas[i].descriptor;
		struct event_key key = {descriptor->Id, descriptor->Version};
		uint64_t hash = hash_event(reader, &key);

		events[i].schema = &provider->schemas[i];
		if (!etw_table_find(&index->table, hash, is_event, &key))
			TRY(etw_table_insert(&index->table, hash, &events[i]));
	}
	return 0;
}

static int read_attribute(struct wevt_reader *reader, struct event_index *index, uint32_t offset,
			  const struct wire_wevt_attribute *wire)
{
	struct event_key key = {le16_get(wire->id), wire->version};
	struct pending_event *event = etw_table_find(&index->table, hash_event(reader, &key),
						     is_event, &key);
	struct pending_attribute *attribute;
	const char *text;

	TRY(etw_wevt_string(reader, le32_get(wire->value), &text));
	if (!event || !text)
		return 0;
	if (wire->key == WIRE_WEVT_ATTRIBUTE_NAME)
		event->schema->event_name = text;
	if (wire->key != WIRE_WEVT_ATTRIBUTE_VALUE)
		return 0;
	attribute = etw_arena_alloc(&reader->scratch, sizeof(*attribute));
	if (!attribute)
		return -ENOMEM;
	attribute->text = text;
	if (event->last) {
		event->last->next = attribute;
	} else {
		event->first = attribute;
		event->offset = offset;
		event->next = index->first;
		index->first = event;
	}
	event->last = attribute;
	return 0;
}

static int join_attributes(struct wevt_reader *reader, const struct pending_event *event)
{
	etw_text_clear(&reader->text);
	for (const struct pending_attribute *at = event->first; at; at = at->next) {
		if (reader->text.bytes)
			etw_text_putc(&reader->text, ';');
		etw_text_puts(&reader->text, at->text);
		if (is_too_long(reader))
			break;
	}
	return etw_wevt_keep_joined(reader, event->offset, "EVTA", &event->schema->attributes);
}

static int read_attributes(struct wevt_reader *reader, const struct wevt_list *list,
			   struct event_index *index)
{
	TRY(index_events(reader, index));
	for (uint32_t i = 0; i < list->count; i++) {
		struct wire_wevt_attribute wire;
		uint32_t offset = list->offset + i * (uint32_t)sizeof(wire);

		memcpy(&wire, list->at + i * sizeof(wire), sizeof(wire));
		TRY(read_attribute(reader, index, offset, &wire));
	}
	for (const struct pending_event *event = index->first; event; event = event->next)
		TRY(join_attributes(reader, event));
	return 0;
}

int etw_wevt_read_events(struct wevt_reader *reader)
{
	struct etw_provider_schema *provider = reader->provider;
	struct event_index index = {0};
	struct wevt_list list;
	int r;

	TRY(etw_wevt_list(reader, WIRE_WEVT_EVENTS, "EVNT",
			  sizeof(struct wire_wevt_list) + sizeof(le32),
			  sizeof(struct wire_wevt_event), &list));
	provider->schemas = etw_arena_array(reader->arena, list.count, sizeof(*provider->schemas));
	if (!provider->schemas)
		return -ENOMEM;
	for (uint32_t i = 0; i < list.count; i++) {
		struct wire_wevt_event wire;

		memcpy(&wire, list.at + i * sizeof(wire), sizeof(wire));
		TRY(read_event(reader, &wire, &provider->schemas[i]));
		provider->schema_count++;
	}
	TRY(etw_wevt_list(reader, WIRE_WEVT_ATTRIBUTES, "EVTA", sizeof(struct wire_wevt_list),
			  sizeof(struct wire_wevt_attribute), &list));
	if (!list.count)
		return 0;
	r = read_attributes(reader, &list, &index);
	etw_table_done(&index.table);
	return r;
}
