/* SPDX-License-Identifier: MIT */
/*
 * The fixed parts are laid out first; strings are appended, and each returns the offset that its place in
 * the fixed parts is filled with. A failure is remembered and told once, at the end.
 */
#include "schema/metadata/event_info_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/utf.h"
#include "schema/metadata/event_info.h"
#include "wire/event_info.h"

#define BLOB_BYTES_MAX ((size_t)INT32_MAX)

#define MANIFEST_MAP                                                                 \
	(EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP | EVENTMAP_INFO_FLAG_MANIFEST_BITMAP | \
	 EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP)

struct writer {
	uint8_t *at; /* owned */
	size_t bytes;
	size_t room;
	int error;
};

/* Room for @bytes more, zeroed and counted; NULL when there is none, which is remembered. */
static uint8_t *extend(struct writer *writer, size_t bytes)
{
	if (writer->error)
		return NULL;
	if (bytes > BLOB_BYTES_MAX - writer->bytes) {
		writer->error = -EMSGSIZE;
		return NULL;
	}
	if (bytes > writer->room - writer->bytes) {
		size_t room = 2 * writer->room + bytes + 256;
		uint8_t *grown = realloc(writer->at, room);

		if (!grown) {
			writer->error = -ENOMEM;
			return NULL;
		}
		writer->at = grown;
		writer->room = room;
	}
	uint8_t *at = writer->at + writer->bytes;

	memset(at, 0, bytes);
	writer->bytes += bytes;
	return at;
}

/* Appends @bytes of text, @tail behind it and a NUL; NULL is absent. Returns the offset. */
static le32 add_text(struct writer *writer, const char *text, size_t bytes, const char *tail)
{
	size_t tail_bytes = strlen(tail);
	size_t offset = writer->bytes;
	size_t units = etw_utf8_put_utf16(text, bytes, NULL);
	uint8_t *at = extend(writer, 2 * (units + tail_bytes + 1));

	if (!at)
		return le32_of(0);
	(void)etw_utf8_put_utf16(text, bytes, at);
	(void)etw_utf8_put_utf16(tail, tail_bytes, at + 2 * units);
	return le32_of((uint32_t)offset);
}

static le32 add_string(struct writer *writer, const char *text, const char *tail)
{
	return text ? add_text(writer, text, strlen(text), tail) : le32_of(0);
}

/* The names, each with its NUL, and an empty one. */
static le32 add_keywords(struct writer *writer, const char *keywords)
{
	le32 offset = le32_of((uint32_t)writer->bytes);

	if (!keywords || !*keywords)
		return le32_of(0);
	while (*keywords) {
		const char *end = strstr(keywords, "; ");
		size_t bytes = end ? (size_t)(end - keywords) : strlen(keywords);

		(void)add_text(writer, keywords, bytes, "");
		keywords += bytes + (end ? 2 : 0);
	}
	(void)extend(writer, 2);
	return offset;
}

/* Strings are all that lies before it, so that its place is even. */
static le32 add_custom(struct writer *writer, const struct etw_custom_schema *custom)
{
	struct wire_custom_schema wire = {
		.protocol = le16_of(custom->protocol),
		.bytes = le16_of(custom->bytes),
	};
	size_t offset = writer->bytes;
	uint8_t *at = extend(writer, sizeof(wire) + ALIGN_UP((size_t)custom->bytes, 2));

	if (!at)
		return le32_of(0);
	memcpy(at, &wire, sizeof(wire));
	memcpy(at + sizeof(wire), custom->at, custom->bytes);
	return le32_of((uint32_t)offset);
}

static void add_field(struct writer *writer, const struct etw_field *field, size_t at)
{
	struct wire_property_info wire = {
		.flags = le32_of(field->flags & ETW_EVENT_INFO_FLAGS),
		.count = le16_of(field->count),
		.length = le16_of(field->length),
	};

	wire.name = add_string(writer, field->name, "");
	if (field->flags & PropertyStruct) {
		wire.in_type = le16_of(field->struct_first);
		wire.out_type = le16_of(field->struct_count);
	} else {
		wire.in_type = le16_of(field->in_type);
		wire.out_type = le16_of(field->out_type);
		wire.map_name = field->custom ? add_custom(writer, field->custom)
					      : add_string(writer, field->map_name, "");
	}
	if (field->flags & PropertyHasTags)
		wire.tags = le32_of(field->tags);
	if (!writer->error)
		memcpy(writer->at + at, &wire, sizeof(wire));
}

static void set_identity(const struct etw_schema *schema, struct wire_event_info *wire)
{
	etw_guid_write(wire->provider, &schema->provider);
	etw_guid_write(wire->event_guid, &schema->event_guid);
	wire->flags = le32_of(schema->template_flags);
	wire->decoding_source = le32_of(schema->source);
	wire->id = le16_of(schema->descriptor.Id);
	wire->version = schema->descriptor.Version;
	wire->channel = schema->descriptor.Channel;
	wire->level = schema->descriptor.Level;
	wire->opcode = schema->descriptor.Opcode;
	wire->task = le16_of(schema->descriptor.Task);
	wire->keyword = le64_of(schema->descriptor.Keyword);
	wire->property_count = le32_of(schema->field_count);
	wire->top_level_count = le32_of(schema->top_count);
}

static void add_names(struct writer *writer, const struct etw_schema *schema,
		      struct wire_event_info *wire)
{
	bool is_manifest = schema->source == DecodingSourceXMLFile;
	const char *blank = is_manifest ? " " : "";
	const char *provider_message = schema->provider_message;

	if (!provider_message && schema->owner)
		provider_message = schema->owner->message;
	wire->provider_name = add_string(writer, schema->provider_name, "");
	wire->level_name = add_string(writer, schema->level_name, "");
	wire->channel_name = add_string(writer, schema->channel_name, "");
	wire->keywords_name = add_keywords(writer, schema->keywords);
	wire->task_name = add_string(writer, schema->task_name, "");
	wire->opcode_name = add_string(writer, schema->opcode_name, "");
	wire->event_message = add_string(writer, schema->message, blank);
	wire->provider_message = add_string(writer, provider_message, blank);
	/* MOF classes have the names of the fields that are activities' ids in the next two places. */
	if (schema->source == DecodingSourceWbem) {
		wire->event_name = add_string(writer, schema->activity_id_name, "");
		wire->event_attributes = add_string(writer, schema->related_activity_id_name, "");
		return;
	}
	if (schema->event_name && schema->event_name == schema->task_name)
		wire->event_name = wire->task_name;
	else
		wire->event_name = add_string(writer, schema->event_name, "");
	wire->event_attributes = add_string(writer, schema->attributes, "");
}

static int finish(struct writer *writer, uint8_t **ret, size_t *ret_bytes)
{
	if (writer->error) {
		free(writer->at);
		return writer->error;
	}
	*ret = writer->at;
	*ret_bytes = writer->bytes;
	return 0;
}

/* The properties lie at the end of the fixed parts, which begin at the front. */
static void add_fields(struct writer *writer, const struct etw_field *fields, uint16_t count,
		       size_t head_bytes)
{
	for (size_t i = 0; i < count; i++)
		add_field(writer, &fields[i], head_bytes + i * WIRE_PROPERTY_INFO_BYTES);
}

int etw_event_info_write(const struct etw_schema *schema, uint8_t **ret, size_t *ret_bytes)
{
	struct wire_event_info wire = {0};
	struct writer writer = {0};

	(void)extend(&writer, sizeof(wire) + schema->field_count * WIRE_PROPERTY_INFO_BYTES);
	set_identity(schema, &wire);
	add_fields(&writer, schema->fields, schema->field_count, sizeof(wire));
	add_names(&writer, schema, &wire);
	if (!writer.error)
		memcpy(writer.at, &wire, sizeof(wire));
	return finish(&writer, ret, ret_bytes);
}

int etw_filter_info_write(const struct etw_filter_schema *filter, uint8_t **ret, size_t *ret_bytes)
{
	struct wire_filter_info wire = {
		.value = filter->value,
		.version = filter->version,
		.property_count = le32_of(filter->field_count),
	};
	struct writer writer = {0};

	(void)extend(&writer, sizeof(wire) + filter->field_count * WIRE_PROPERTY_INFO_BYTES);
	add_fields(&writer, filter->fields, filter->field_count, sizeof(wire));
	wire.message = add_string(&writer, filter->message, " ");
	if (!writer.error)
		memcpy(writer.at, &wire, sizeof(wire));
	return finish(&writer, ret, ret_bytes);
}

int etw_event_map_write(const struct etw_map *map, uint8_t **ret, size_t *ret_bytes)
{
	const char *blank = map->flags & MANIFEST_MAP ? " " : "";
	struct wire_map_info wire = {
		.flags = le32_of(map->flags),
		.entry_count = le32_of(map->count),
		.value_type = le32_of(EVENTMAP_ENTRY_VALUETYPE_ULONG),
	};
	struct writer writer = {0};

	(void)extend(&writer, sizeof(wire) + (map->count + (size_t)1) * WIRE_MAP_ENTRY_BYTES);
	wire.name = add_string(&writer, map->name, "");
	for (size_t i = 0; i < map->count; i++) {
		struct wire_map_entry entry = {.value = le32_of(map->entries[i].value)};

		entry.text = add_string(&writer, map->entries[i].text, blank);
		if (!writer.error)
			memcpy(writer.at + sizeof(wire) + i * sizeof(entry), &entry, sizeof(entry));
	}
	if (!writer.error)
		memcpy(writer.at, &wire, sizeof(wire));
	return finish(&writer, ret, ret_bytes);
}
