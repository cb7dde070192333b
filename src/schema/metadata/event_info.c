/* SPDX-License-Identifier: MIT */
/* Every offset and count is checked against the blob before it is followed. */
#include "schema/metadata/event_info.h"

#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/text.h"
#include "base/utf.h"
#include "schema/types.h"
#include "wire/event_info.h"

#define EVENT_INFO "TRACE_EVENT_INFO"
#define MAP_INFO   "EVENT_MAP_INFO"

/* Text may take this many times the size of the blob: TDH shares no strings, others might. */
#define TEXT_FACTOR ((size_t)4)

struct reader {
	struct etw_arena *arena;
	struct etw_arena_mark mark; /* of the arena before the reading */
	const uint8_t *at;
	size_t bytes;
	size_t text_bytes_left; /* so that strings that share bytes cannot grow without bound */
	const char *structure;
	struct etw_text text; /* scratch for conversions */
	struct etw_fault *reterr;
};

static int refuse(struct reader *reader, uint64_t offset, const char *field, const char *sentence)
{
	return etw_fault_set(reader->reterr, -EBADMSG, offset, reader->structure, field, sentence);
}

/* The string at @offset in UTF-16 units without NUL; -EBADMSG when it leaves the blob. */
static int find_string(struct reader *reader, uint32_t offset, const char *field, size_t *ret_units)
{
	size_t units;

	if (offset >= reader->bytes)
		return refuse(reader, offset, field, "a string lies outside the blob");
	units = etw_utf16_length(reader->at + offset, (reader->bytes - offset) / 2);
	if (units == (reader->bytes - offset) / 2)
		return refuse(reader, offset, field, "a string is not terminated");
	if (2 * units > reader->text_bytes_left)
		return refuse(reader, offset, field, "the strings overlap too much");
	reader->text_bytes_left -= 2 * units;
	*ret_units = units;
	return 0;
}

static int keep_text(struct reader *reader, const char **ret)
{
	const char *copy;

	TRY(etw_text_error(&reader->text));
	copy = etw_arena_strndup(reader->arena, etw_text_string(&reader->text), reader->text.bytes);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

/* An absent string leaves *ret alone. */
static int read_string(struct reader *reader, le32 offset, const char *field, const char **ret)
{
	uint32_t at = le32_get(offset);
	size_t units;

	if (!at)
		return 0;
	TRY(find_string(reader, at, field, &units));
	etw_text_clear(&reader->text);
	etw_text_utf16(&reader->text, reader->at + at, units);
	return keep_text(reader, ret);
}

/* Texts from message tables end in a blank that is not theirs. */
static int read_message(struct reader *reader, le32 offset, const char *field, const char **ret)
{
	uint32_t at = le32_get(offset);
	size_t units;

	if (!at)
		return 0;
	TRY(find_string(reader, at, field, &units));
	if (units && etw_load16(reader->at + at + 2 * (units - 1)) == ' ')
		units--;
	etw_text_clear(&reader->text);
	etw_text_utf16(&reader->text, reader->at + at, units);
	return keep_text(reader, ret);
}

static int read_keywords(struct reader *reader, le32 offset, const char **ret)
{
	uint32_t at = le32_get(offset);
	size_t units;

	if (!at)
		return 0;
	etw_text_clear(&reader->text);
	for (;;) {
		TRY(find_string(reader, at, "KeywordsNameOffset", &units));
		if (!units)
			break;
		if (reader->text.bytes)
			etw_text_puts(&reader->text, "; ");
		/* Here too a blank may trail each name. */
		etw_text_utf16(&reader->text, reader->at + at,
			       etw_load16(reader->at + at + 2 * (units - 1)) == ' ' ? units - 1
										    : units);
		at += (uint32_t)(2 * (units + 1));
	}
	if (!reader->text.bytes)
		return 0;
	return keep_text(reader, ret);
}

/* One that does not lie in the blob is left out: it says nothing of where values are. */
static int read_custom(struct reader *reader, uint32_t offset, struct etw_field *field)
{
	struct etw_bytes bytes = {reader->at, reader->bytes};
	struct etw_custom_schema *custom;
	struct wire_custom_schema wire;
	const uint8_t *head, *at;
	uint8_t *copy;

	if (!etw_bytes_take(&bytes, offset))
		return 0;
	head = etw_bytes_take(&bytes, sizeof(wire));
	if (!head)
		return 0;
	memcpy(&wire, head, sizeof(wire));
	at = etw_bytes_take(&bytes, le16_get(wire.bytes));
	if (!at || le16_get(wire.bytes) > reader->text_bytes_left)
		return 0;
	reader->text_bytes_left -= le16_get(wire.bytes);
	custom = etw_arena_alloc(reader->arena, sizeof(*custom));
	copy = etw_arena_alloc(reader->arena, le16_get(wire.bytes) + (size_t)1);
	if (!custom || !copy)
		return -ENOMEM;
	memcpy(copy, at, le16_get(wire.bytes));
	*custom = (struct etw_custom_schema){le16_get(wire.protocol), le16_get(wire.bytes), copy};
	field->custom = custom;
	field->flags |= PropertyHasCustomSchema;
	return 0;
}

static int read_field(struct reader *reader, const struct wire_property_info *wire,
		      struct etw_field *field)
{
	uint32_t flags = le32_get(wire->flags);

	field->flags = flags & ETW_EVENT_INFO_FLAGS & ~(uint32_t)PropertyHasCustomSchema;
	field->name = "";
	TRY(read_string(reader, wire->name, "NameOffset", &field->name));
	field->count = le16_get(wire->count);
	field->length = le16_get(wire->length);
	if (flags & PropertyHasTags)
		field->tags = le32_get(wire->tags) & 0x0fffffff;
	if (flags & PropertyStruct) {
		field->flags &= ~(uint32_t)(PropertyParamLength | PropertyParamFixedLength);
		field->length = 0;
		field->struct_first = le16_get(wire->in_type);
		field->struct_count = le16_get(wire->out_type);
		return 0;
	}
	field->in_type = le16_get(wire->in_type);
	field->out_type = le16_get(wire->out_type);
	if (!field->out_type)
		field->out_type = etw_schema_out_type(field->in_type);
	if (flags & PropertyHasCustomSchema)
		return read_custom(reader, le32_get(wire->map_name), field);
	return read_string(reader, wire->map_name, "MapNameOffset", &field->map_name);
}

static int read_fields(struct reader *reader, const struct wire_event_info *wire,
		       struct etw_schema *schema)
{
	uint32_t count = le32_get(wire->property_count);
	uint32_t top_count = le32_get(wire->top_level_count);
	struct etw_field *fields;
	const char *sentence;

	if (count > ETW_SCHEMA_FIELDS_MAX || top_count > count)
		return refuse(reader, offsetof(struct wire_event_info, property_count),
			      "PropertyCount", "the number of properties is beyond the limit");
	if ((reader->bytes - WIRE_EVENT_INFO_BYTES) / WIRE_PROPERTY_INFO_BYTES < count)
		return refuse(reader, offsetof(struct wire_event_info, property_count),
			      "PropertyCount", "the properties go beyond the blob");
	fields = etw_arena_array(reader->arena, count, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		struct wire_property_info property;

		memcpy(&property, reader->at + WIRE_EVENT_INFO_BYTES + i * sizeof(property),
		       sizeof(property));
		TRY(read_field(reader, &property, &fields[i]));
	}
	schema->fields = fields;
	schema->field_count = (uint16_t)count;
	schema->top_count = (uint16_t)top_count;
	sentence = etw_schema_fields_check(schema);
	if (sentence)
		return refuse(reader, WIRE_EVENT_INFO_BYTES, "EventPropertyInfoArray", sentence);
	return 0;
}

static int read_names(struct reader *reader, const struct wire_event_info *wire,
		      struct etw_schema *schema)
{
	TRY(read_string(reader, wire->provider_name, "ProviderNameOffset", &schema->provider_name));
	TRY(read_string(reader, wire->level_name, "LevelNameOffset", &schema->level_name));
	TRY(read_string(reader, wire->channel_name, "ChannelNameOffset", &schema->channel_name));
	TRY(read_keywords(reader, wire->keywords_name, &schema->keywords));
	TRY(read_string(reader, wire->task_name, "TaskNameOffset", &schema->task_name));
	TRY(read_string(reader, wire->opcode_name, "OpcodeNameOffset", &schema->opcode_name));
	TRY(read_message(reader, wire->event_message, "EventMessageOffset", &schema->message));
	TRY(read_message(reader, wire->provider_message, "ProviderMessageOffset",
			 &schema->provider_message));
	/* MOF classes have the names of the fields that are activities' ids in the next two places. */
	if (schema->source == DecodingSourceWbem) {
		TRY(read_string(reader, wire->event_name, "ActivityIDNameOffset",
				&schema->activity_id_name));
		return read_string(reader, wire->event_attributes, "RelatedActivityIDNameOffset",
				   &schema->related_activity_id_name);
	}
	TRY(read_string(reader, wire->event_name, "EventNameOffset", &schema->event_name));
	return read_string(reader, wire->event_attributes, "EventAttributesOffset",
			   &schema->attributes);
}

static int read_event_info(struct reader *reader, struct etw_schema **ret)
{
	struct wire_event_info wire;
	struct etw_schema *schema;
	uint32_t source;

	if (reader->bytes < sizeof(wire))
		return refuse(reader, reader->bytes, NULL, "the blob ends within the structure");
	memcpy(&wire, reader->at, sizeof(wire));
	source = le32_get(wire.decoding_source);
	if (source >= DecodingSourceMax)
		return refuse(reader, offsetof(struct wire_event_info, decoding_source),
			      "DecodingSource", "the decoding source is unknown");
	schema = etw_arena_alloc(reader->arena, sizeof(*schema));
	if (!schema)
		return -ENOMEM;
	schema->provider = etw_guid_read(wire.provider);
	schema->event_guid = etw_guid_read(wire.event_guid);
	schema->descriptor = (EVENT_DESCRIPTOR){
		.Id = le16_get(wire.id),
		.Version = wire.version,
		.Channel = wire.channel,
		.Level = wire.level,
		.Opcode = wire.opcode,
		.Task = le16_get(wire.task),
		.Keyword = le64_get(wire.keyword),
	};
	schema->source = (DECODING_SOURCE)source;
	schema->template_flags = le32_get(wire.flags);
	TRY(read_names(reader, &wire, schema));
	TRY(read_fields(reader, &wire, schema));
	*ret = schema;
	return 0;
}

static struct reader begin(struct etw_arena *arena, struct etw_bytes blob, const char *structure,
			   struct etw_fault *reterr)
{
	return (struct reader){
		.arena = arena,
		.mark = etw_arena_mark(arena),
		.at = blob.at,
		.bytes = blob.left,
		.text_bytes_left = TEXT_FACTOR * blob.left,
		.structure = structure,
		.reterr = reterr,
	};
}

/* A reading that failed leaves nothing in the arena. */
static int end(struct reader *reader, int result)
{
	etw_text_done(&reader->text);
	if (result < 0)
		etw_arena_release(reader->arena, reader->mark);
	return result;
}

int etw_event_info_parse(struct etw_arena *arena, struct etw_bytes blob, struct etw_schema **ret,
			 struct etw_fault *reterr)
{
	struct reader reader = begin(arena, blob, EVENT_INFO, reterr);

	return end(&reader, read_event_info(&reader, ret));
}

static int read_map_entries(struct reader *reader, struct etw_map *map)
{
	struct etw_map_entry *entries = etw_arena_array(reader->arena, map->count,
							sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->count; i++) {
		struct wire_map_entry wire;

		memcpy(&wire, reader->at + WIRE_MAP_INFO_BYTES + i * sizeof(wire), sizeof(wire));
		entries[i].value = le32_get(wire.value);
		entries[i].text = "";
		TRY(read_message(reader, wire.text, "OutputOffset", &entries[i].text));
	}
	map->entries = entries;
	return 0;
}

static int read_map_info(struct reader *reader, struct etw_map **ret)
{
	struct wire_map_info wire;
	struct etw_map *map;

	if (reader->bytes < sizeof(wire))
		return refuse(reader, reader->bytes, NULL, "the blob ends within the structure");
	memcpy(&wire, reader->at, sizeof(wire));
	if (le32_get(wire.flags) & EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP)
		return refuse(reader, offsetof(struct wire_map_info, flags), "Flag",
			      "pattern maps are not supported");
	if (le32_get(wire.value_type) != EVENTMAP_ENTRY_VALUETYPE_ULONG)
		return refuse(reader, offsetof(struct wire_map_info, value_type),
			      "MapEntryValueType", "maps of strings are not supported");
	map = etw_arena_alloc(reader->arena, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->flags = le32_get(wire.flags);
	map->count = le32_get(wire.entry_count);
	if (map->count > ETW_SCHEMA_MAP_ENTRIES_MAX ||
	    (reader->bytes - sizeof(wire)) / WIRE_MAP_ENTRY_BYTES < map->count)
		return refuse(reader, offsetof(struct wire_map_info, entry_count), "EntryCount",
			      "the entries go beyond the blob");
	TRY(read_string(reader, wire.name, "NameOffset", &map->name));
	if (!map->name)
		return refuse(reader, 0, "NameOffset", "the map has no name");
	TRY(read_map_entries(reader, map));
	*ret = map;
	return 0;
}

int etw_event_map_parse(struct etw_arena *arena, struct etw_bytes blob, GUID *ret_provider,
			struct etw_map **ret, struct etw_fault *reterr)
{
	const uint8_t *provider = etw_bytes_take(&blob, sizeof(GUID));
	struct reader reader = begin(arena, blob, MAP_INFO, reterr);

	if (!provider)
		return refuse(&reader, blob.left, NULL, "the blob ends within the structure");
	TRY(end(&reader, read_map_info(&reader, ret)));
	*ret_provider = etw_guid_read(provider);
	return 0;
}
