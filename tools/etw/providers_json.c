/* SPDX-License-Identifier: MIT */
/* One provider as an object, for programs. The keys are described in docs/format/json.md. */
#include <inttypes.h>
#include <string.h>

#include "base/guid.h"
#include "schema/types.h"
#include "tools/etw/providers.h"

static void put_value(struct etw_text *text, const char *value)
{
	etw_text_json_string(text, value, strlen(value));
}

/* Nothing where there is no text. */
static void put_string(struct etw_text *text, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	etw_text_printf(text, ",\"%s\":", key);
	put_value(text, value);
}

static void put_number(struct etw_text *text, const char *key, uint64_t value)
{
	etw_text_printf(text, ",\"%s\":%" PRIu64, key, value);
}

static void put_mask(struct etw_text *text, const char *key, uint64_t value)
{
	etw_text_printf(text, ",\"%s\":\"0x%" PRIx64 "\"", key, value);
}

static void put_length(struct etw_text *text, const struct etw_schema *schema,
		       const struct etw_field *field)
{
	if (field->flags & PropertyParamLength)
		put_string(text, "length", schema->fields[field->length].name);
	else if (field->length && !(field->flags & PropertyStruct) &&
		 etw_schema_type(field->in_type)->extent == ETW_EXTENT_GIVEN)
		put_number(text, "length", field->length);
	if (field->flags & PropertyParamCount)
		put_string(text, "count", schema->fields[field->count].name);
	else if (etw_field_is_array(field) && !(field->flags & ETW_FIELD_TO_END))
		put_number(text, "count", field->count);
}

static void put_fields(struct etw_text *text, const struct etw_schema *schema, size_t first,
		       size_t count, unsigned depth)
{
	etw_text_puts(text, ",\"fields\":[");
	for (size_t i = first; i < first + count && i < schema->field_count; i++) {
		const struct etw_field *field = &schema->fields[i];

		etw_text_puts(text, i == first ? "{\"name\":" : ",{\"name\":");
		put_value(text, field->name);
		put_string(text, "type", provider_type_name(field));
		put_string(text, "out_type", provider_out_type_name(field));
		put_string(text, "map", field->map_name);
		put_length(text, schema, field);
		if (field->flags & PropertyStruct && depth < ETW_SCHEMA_DEPTH_MAX)
			put_fields(text, schema, field->struct_first, field->struct_count,
				   depth + 1);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
}

/* Names of fields from the first one on whose size nobody knows. */
static void put_lost_fields(const struct facts *facts, const struct fact_layout *layout,
			    struct etw_text *text)
{
	struct etw_known_field field;

	if (!facts->known || layout->template == WIRE_KNOWN_NONE ||
	    layout->field_count <= layout->schema->top_count)
		return;
	etw_text_puts(text, ",\"lost_fields\":[");
	for (size_t i = layout->schema->top_count; i < layout->field_count; i++) {
		if (etw_known_field_at(facts->known, layout->template, i, &field) < 0)
			break;
		etw_text_puts(text, i > layout->schema->top_count ? "," : "");
		put_value(text, field.name);
	}
	etw_text_putc(text, ']');
}

static void put_layouts(const struct facts *facts, const struct fact_event *event,
			struct etw_text *text)
{
	etw_text_puts(text, ",\"layouts\":[");
	for (size_t i = 0; i < event->layout_count; i++) {
		const struct fact_layout *layout = &event->layouts[i];

		etw_text_printf(text, "%s{\"is_complete\":%s", i ? "," : "",
				layout->marks & WIRE_KNOWN_INCOMPLETE ? "false" : "true");
		if (layout->marks & WIRE_KNOWN_INFERRED)
			etw_text_puts(text, ",\"is_inferred\":true");
		if (layout->marks & WIRE_KNOWN_DOUBT)
			etw_text_puts(text, ",\"is_doubtful\":true");
		put_string(text, "builds", layout->builds);
		put_string(text, "source", layout->source);
		put_fields(text, layout->schema, 0, layout->schema->top_count, 0);
		put_lost_fields(facts, layout, text);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
}

static void put_numbers(const struct etw_schema *schema, struct etw_text *text)
{
	const EVENT_DESCRIPTOR *descriptor = &schema->descriptor;
	char guid[ETW_GUID_BARE_BYTES];

	if (schema->source == DecodingSourceWbem) {
		etw_guid_format(&schema->event_guid, guid);
		etw_text_printf(text, "{\"classic\":true,\"class\":\"%s\"", guid);
		put_number(text, "version", descriptor->Version);
		put_number(text, "opcode", descriptor->Opcode);
		return;
	}
	etw_text_printf(text, "{\"id\":%u", descriptor->Id);
	put_number(text, "version", descriptor->Version);
	put_number(text, "level", descriptor->Level);
	put_number(text, "opcode", descriptor->Opcode);
	put_number(text, "task", descriptor->Task);
	put_number(text, "channel", descriptor->Channel);
	put_mask(text, "keywords", descriptor->Keyword);
}

void provider_json_event(const struct facts *facts, const struct fact_event *event,
			 struct etw_text *text)
{
	const struct etw_schema *schema = event->layouts[0].schema;

	put_numbers(schema, text);
	put_string(text, "level_name", schema->level_name);
	put_string(text, "task_name", schema->task_name);
	put_string(text, "opcode_name", schema->opcode_name);
	put_string(text, "channel_name", schema->channel_name);
	put_string(text, "keyword_names", schema->keywords);
	put_string(text, "event_name", schema->event_name);
	put_string(text, "symbol", schema->symbol);
	put_string(text, "message", schema->message);
	put_layouts(facts, event, text);
	etw_text_putc(text, '}');
}

static void put_named(struct etw_text *text, const struct etw_named *named, bool is_first,
		      bool is_mask)
{
	etw_text_puts(text, is_first ? "{\"name\":" : ",{\"name\":");
	put_value(text, named->name ? named->name : "");
	if (is_mask)
		put_mask(text, "mask", named->value);
	else
		put_number(text, "value", named->value);
}

static void put_names(const struct etw_provider_schema *schema, struct etw_text *text)
{
	etw_text_puts(text, ",\"keywords\":[");
	for (size_t i = 0; i < schema->keyword_count; i++) {
		put_named(text, &schema->keywords[i], i == 0, true);
		etw_text_putc(text, '}');
	}
	etw_text_puts(text, "],\"levels\":[");
	for (size_t i = 0; i < schema->level_count; i++) {
		put_named(text, &schema->levels[i], i == 0, false);
		etw_text_putc(text, '}');
	}
	etw_text_puts(text, "],\"tasks\":[");
	for (size_t i = 0; i < schema->task_count; i++) {
		put_named(text, &schema->tasks[i].named, i == 0, false);
		etw_text_putc(text, '}');
	}
	etw_text_puts(text, "],\"opcodes\":[");
	for (size_t i = 0; i < schema->opcode_count; i++) {
		put_named(text, &schema->opcodes[i].named, i == 0, false);
		if (schema->opcodes[i].task)
			put_number(text, "task", schema->opcodes[i].task);
		etw_text_putc(text, '}');
	}
	etw_text_puts(text, "],\"channels\":[");
	for (size_t i = 0; i < schema->channel_count; i++) {
		put_named(text, &schema->channels[i].named, i == 0, false);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
}

static void put_maps(const struct etw_provider_schema *schema, struct etw_text *text)
{
	etw_text_puts(text, ",\"maps\":[");
	for (size_t i = 0; i < schema->map_count; i++) {
		const struct etw_map *map = &schema->maps[i];

		etw_text_puts(text, i ? ",{\"name\":" : "{\"name\":");
		put_value(text, map->name ? map->name : "");
		etw_text_printf(text, ",\"kind\":\"%s\",\"entries\":[",
				map->flags & EVENTMAP_INFO_FLAG_MANIFEST_BITMAP ? "bits"
										: "values");
		for (uint32_t j = 0; j < map->count; j++) {
			etw_text_printf(text, "%s{\"value\":%" PRIu32, j ? "," : "",
					map->entries[j].value);
			put_string(text, "name", map->entries[j].text);
			etw_text_putc(text, '}');
		}
		etw_text_puts(text, "]}");
	}
	etw_text_putc(text, ']');
}

/* Names with a blank between them. */
static void put_sources(const char *sources, struct etw_text *text)
{
	etw_text_puts(text, ",\"sources\":[");
	for (const char *at = sources; *at;) {
		size_t bytes = strcspn(at, " ");

		etw_text_puts(text, at == sources ? "" : ",");
		etw_text_json_string(text, at, bytes);
		at += bytes + (at[bytes] != '\0');
	}
	etw_text_putc(text, ']');
}

size_t provider_json_write(const struct facts *facts, const struct provider_filter *filter,
			   struct etw_text *text)
{
	size_t count = 0;

	provider_object_begin(facts->entry, text);
	if (facts->schema) {
		put_string(text, "shown", facts->known ? "known" : "installed");
		if (*facts->sources)
			put_sources(facts->sources, text);
		put_names(facts->schema, text);
		put_maps(facts->schema, text);
		etw_text_puts(text, ",\"events\":[");
		for (size_t i = 0; i < facts->event_count; i++) {
			if (!provider_filter_takes(filter, &facts->events[i], NULL))
				continue;
			etw_text_puts(text, count++ ? "," : "");
			provider_json_event(facts, &facts->events[i], text);
		}
		etw_text_putc(text, ']');
	}
	etw_text_puts(text, "}\n");
	return count;
}
