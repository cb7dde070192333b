/* SPDX-License-Identifier: MIT */
/* One provider as a page: what it is, its names and maps, its events with their fields. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "export/export.h"
#include "schema/manifest/manifest.h"
#include "schema/manifest/manifest_types.h"
#include "schema/types.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/etw/providers.h"

#define LABEL_WIDTH 10

static const char *without_prefix(const char *name)
{
	const char *colon = name ? strchr(name, ':') : NULL;

	return colon ? colon + 1 : name;
}

const char *provider_type_name(const struct etw_field *field)
{
	const char *name;

	if (field->flags & PropertyStruct)
		return "Struct";
	name = without_prefix(etw_manifest_in_type_name(field->in_type));
	return name ? name : "?";
}

const char *provider_out_type_name(const struct etw_field *field)
{
	if (field->flags & PropertyStruct || !field->out_type ||
	    field->out_type == etw_schema_out_type(field->in_type))
		return NULL;
	return without_prefix(etw_manifest_out_type_name(field->out_type));
}

static void put_label(struct etw_text *text, const struct provider_look *look, const char *label)
{
	etw_text_printf(text, "%s%-*s%s", look->bold, LABEL_WIDTH, label, look->plain);
}

static void put_title(struct etw_text *text, const struct provider_look *look, const char *title)
{
	etw_text_printf(text, "\n%s%s%s\n", look->bold, title, look->plain);
}

static void put_origin(const struct facts *facts, const struct provider_look *look,
		       struct etw_text *text)
{
	const struct catalogue_entry *entry = facts->entry;

	put_label(text, look, "From");
	if (!facts->schema) {
		etw_text_puts(text, "nothing but the name is known of it\n");
		return;
	}
	if (entry->system) {
		etw_text_puts(text, "the tracepoints of this machine\n");
		return;
	}
	if (!facts->known) {
		etw_text_puts(text, "installed, from ");
		etw_output_clean(text, entry->file ? entry->file : "a file");
		if (entry->is_known)
			etw_text_puts(text, " (it is also known: --known)");
		etw_text_putc(text, '\n');
		return;
	}
	etw_text_puts(text, "known");
	if (*facts->sources) {
		etw_text_puts(text, ", from ");
		etw_output_clean(text, facts->sources);
	}
	if (entry->is_installed)
		etw_text_puts(text, " (it is also installed: --installed)");
	etw_text_putc(text, '\n');
	if (*entry->builds) {
		put_label(text, look, "Windows");
		etw_text_puts(text, "builds ");
		etw_output_clean(text, entry->builds);
		etw_text_putc(text, '\n');
	}
}

static void put_count(struct etw_text *text, size_t count, const char *what)
{
	if (!count)
		return;
	etw_text_puts(text, ", ");
	etw_number_grouped(text, count);
	etw_text_printf(text, " %s", what);
}

static void put_head(const struct facts *facts, const struct provider_look *look,
		     struct etw_text *text)
{
	const struct catalogue_entry *entry = facts->entry;
	char guid[ETW_GUID_BRACED_BYTES];

	etw_text_puts(text, look->bold);
	etw_output_clean(text, entry->name ? entry->name : "(no name)");
	etw_text_printf(text, "%s\n", look->plain);
	put_label(text, look, "GUID");
	if (entry->has_guid)
		etw_guid_format_braced(&entry->guid, guid);
	etw_text_printf(text, "%s\n", entry->has_guid ? guid : "nobody knows it");
	if (entry->also || *entry->formerly) {
		put_label(text, look, "Also");
		if (entry->also)
			etw_output_clean(text, entry->also);
		etw_text_puts(text, entry->also && *entry->formerly ? ", " : "");
		etw_output_clean(text, entry->formerly);
		etw_text_putc(text, '\n');
	}
	put_origin(facts, look, text);
	if (!facts->schema)
		return;
	put_label(text, look, "Events");
	etw_number_grouped(text, facts->event_count);
	put_count(text, facts->several_count, "with several layouts");
	put_count(text, facts->incomplete_count, "incomplete");
	put_count(text, facts->inferred_count, "with lengths that are inferred");
	put_count(text, facts->doubtful_count, "doubtful");
	etw_text_putc(text, '\n');
}

static void put_number(struct etw_text *text, uint64_t value, const char *name)
{
	etw_text_printf(text, "  %6" PRIu64 "  ", value);
	etw_output_clean(text, name ? name : "");
}

static void put_mask(struct etw_text *text, uint64_t value, int width, const char *name)
{
	char number[24];

	(void)snprintf(number, sizeof(number), "0x%" PRIx64, value);
	etw_text_printf(text, "  %*s  ", width, number);
	etw_output_clean(text, name ? name : "");
}

static void put_keywords(const struct etw_provider_schema *schema, const struct provider_look *look,
			 struct etw_text *text)
{
	if (schema->keyword_count)
		put_title(text, look, "Keywords");
	for (size_t i = 0; i < schema->keyword_count; i++) {
		put_mask(text, schema->keywords[i].value, 18, schema->keywords[i].name);
		etw_text_putc(text, '\n');
	}
}

static void put_levels(const struct etw_provider_schema *schema, const struct provider_look *look,
		       struct etw_text *text)
{
	if (schema->level_count)
		put_title(text, look, "Levels");
	for (size_t i = 0; i < schema->level_count; i++) {
		put_number(text, schema->levels[i].value, schema->levels[i].name);
		etw_text_putc(text, '\n');
	}
}

static void put_tasks(const struct etw_provider_schema *schema, const struct provider_look *look,
		      struct etw_text *text)
{
	if (schema->task_count)
		put_title(text, look, "Tasks");
	for (size_t i = 0; i < schema->task_count; i++) {
		put_number(text, schema->tasks[i].named.value, schema->tasks[i].named.name);
		etw_text_putc(text, '\n');
	}
	if (schema->opcode_count)
		put_title(text, look, "Opcodes");
	for (size_t i = 0; i < schema->opcode_count; i++) {
		const struct etw_opcode *opcode = &schema->opcodes[i];

		put_number(text, opcode->named.value, opcode->named.name);
		if (opcode->task)
			etw_text_printf(text, "  (of task %u)", opcode->task);
		etw_text_putc(text, '\n');
	}
}

static void put_channels(const struct etw_provider_schema *schema, const struct provider_look *look,
			 struct etw_text *text)
{
	if (schema->channel_count)
		put_title(text, look, "Channels");
	for (size_t i = 0; i < schema->channel_count; i++) {
		put_number(text, schema->channels[i].named.value, schema->channels[i].named.name);
		etw_text_putc(text, '\n');
	}
}

static void put_maps(const struct etw_provider_schema *schema, const struct provider_look *look,
		     struct etw_text *text)
{
	if (schema->map_count)
		put_title(text, look, "Maps");
	for (size_t i = 0; i < schema->map_count; i++) {
		const struct etw_map *map = &schema->maps[i];
		const bool is_bits = map->flags & EVENTMAP_INFO_FLAG_MANIFEST_BITMAP;

		etw_text_puts(text, "  ");
		etw_output_clean(text, map->name ? map->name : "(no name)");
		etw_text_puts(text, is_bits ? " (bits)\n" : "\n");
		for (uint32_t j = 0; j < map->count; j++) {
			if (is_bits)
				put_mask(text, map->entries[j].value, 12, map->entries[j].text);
			else
				etw_text_printf(text, "  %12" PRIu32 "  ", map->entries[j].value);
			if (!is_bits)
				etw_output_clean(text, map->entries[j].text ? map->entries[j].text
									    : "(no name)");
			etw_text_putc(text, '\n');
		}
	}
}

/* "UInt32[count]", "Binary(16)": a number, or the field that has it. */
static void put_type(const struct etw_schema *schema, const struct etw_field *field,
		     struct etw_text *text)
{
	etw_text_puts(text, provider_type_name(field));
	if (field->flags & PropertyParamLength)
		etw_text_printf(text, "(%s)", schema->fields[field->length].name);
	else if (field->length && etw_schema_type(field->in_type)->extent == ETW_EXTENT_GIVEN &&
		 !(field->flags & PropertyStruct))
		etw_text_printf(text, "(%u)", field->length);
	if (field->flags & PropertyParamCount)
		etw_text_printf(text, "[%s]", schema->fields[field->count].name);
	else if (etw_field_is_array(field) && field->flags & ETW_FIELD_TO_END)
		etw_text_puts(text, "[...]");
	else if (etw_field_is_array(field))
		etw_text_printf(text, "[%u]", field->count);
}

static void put_field(struct etw_grid *grid, const struct etw_schema *schema,
		      const struct etw_field *field, unsigned depth)
{
	const char *out_type = provider_out_type_name(field);
	struct etw_text *cell = etw_grid_cell(grid);
	size_t from;

	etw_text_printf(cell, "%*s", 6 + 2 * (int)depth, "");
	etw_output_clean(cell, field->name);
	cell = etw_grid_cell(grid);
	from = cell->bytes;
	put_type(schema, field, cell);
	(void)etw_export_clean(cell, from);
	if (out_type)
		etw_text_printf(cell, " as %s", out_type);
	if (field->map_name) {
		etw_text_puts(cell, ", map ");
		etw_output_clean(cell, field->map_name);
	}
}

static void put_fields(struct etw_grid *grid, const struct etw_schema *schema, size_t first,
		       size_t count, unsigned depth)
{
	for (size_t i = first; i < first + count && i < schema->field_count; i++) {
		const struct etw_field *field = &schema->fields[i];

		put_field(grid, schema, field, depth);
		if (field->flags & PropertyStruct && depth < ETW_SCHEMA_DEPTH_MAX)
			put_fields(grid, schema, field->struct_first, field->struct_count,
				   depth + 1);
	}
}

/* Fields of an incomplete layout from the first one on whose size nobody knows. */
static void put_lost_fields(struct etw_grid *grid, const struct facts *facts,
			    const struct fact_layout *layout)
{
	struct etw_known_field field;
	struct etw_text *cell;

	if (!facts->known || layout->template == WIRE_KNOWN_NONE)
		return;
	for (size_t i = layout->schema->top_count; i < layout->field_count; i++) {
		if (etw_known_field_at(facts->known, layout->template, i, &field) < 0)
			return;
		cell = etw_grid_cell(grid);
		etw_text_printf(cell, "%*s", 6, "");
		etw_output_clean(cell, field.name);
		etw_text_puts(etw_grid_cell(grid), i == layout->schema->top_count
							   ? "? (its size is not known)"
							   : "? (behind one of unknown size)");
	}
}

static void put_marks(const struct fact_layout *layout, struct etw_text *text)
{
	if (layout->marks & WIRE_KNOWN_INCOMPLETE)
		etw_text_puts(text, ", incomplete");
	if (layout->marks & WIRE_KNOWN_INFERRED)
		etw_text_puts(text, ", lengths inferred");
	if (layout->marks & WIRE_KNOWN_DOUBT)
		etw_text_puts(text, ", doubtful");
}

static void put_fact(struct etw_text *text, const char *before, const char *value)
{
	if (!value || !*value)
		return;
	etw_text_puts(text, before);
	etw_output_clean(text, value);
}

static void put_layout(const struct facts *facts, const struct fact_event *event, size_t index,
		       const struct provider_look *look, struct etw_text *text)
{
	static const struct etw_grid_column columns[] = {
		{.title = "field", .narrowest = 30},
		{.title = "type", .gives_way = true},
	};
	const struct fact_layout *layout = &event->layouts[index];
	struct etw_grid grid;

	if (event->layout_count > 1) {
		etw_text_printf(text, "      layout %zu of %zu", index + 1, event->layout_count);
		if (*layout->builds)
			put_fact(text, ", builds ", layout->builds);
		else
			put_fact(text, ", from ", layout->source);
		put_marks(layout, text);
		etw_text_putc(text, '\n');
	}
	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	put_fields(&grid, layout->schema, 0, layout->schema->top_count, 0);
	put_lost_fields(&grid, facts, layout);
	if (grid.cells)
		etw_grid_print(&grid, look->width, NULL, NULL, text);
	etw_grid_done(&grid);
}

/* Level, keywords, channel, symbol and marks, as far as there are any. */
static void put_details(const struct fact_event *event, struct etw_text *text)
{
	const struct etw_schema *schema = event->layouts[0].schema;
	const size_t from = text->bytes;

	etw_text_puts(text, "      level ");
	etw_text_unsigned(text, schema->descriptor.Level);
	if (schema->level_name)
		etw_text_printf(text, " %s", without_prefix(schema->level_name));
	put_fact(text, ", keywords ", schema->keywords);
	put_fact(text, ", channel ", schema->channel_name);
	put_fact(text, ", symbol ", schema->symbol);
	if (event->layout_count == 1) {
		put_fact(text, ", builds ", event->layouts[0].builds);
		put_fact(text, ", from ", event->layouts[0].source);
		put_marks(&event->layouts[0], text);
	}
	(void)etw_export_clean(text, from);
	etw_text_putc(text, '\n');
	if (schema->message) {
		etw_text_puts(text, "      message \"");
		etw_output_clean(text, schema->message);
		etw_text_puts(text, "\"\n");
	}
}

static void put_event(const struct facts *facts, const struct fact_event *event,
		      const struct provider_look *look, struct etw_text *text)
{
	const struct etw_schema *schema = event->layouts[0].schema;
	const bool is_classic = facts_is_classic(event);
	char guid[ETW_GUID_BRACED_BYTES];
	size_t before;

	etw_text_printf(text, "  %s%s%u", look->bold, is_classic ? "type " : "",
			is_classic ? schema->descriptor.Opcode : schema->descriptor.Id);
	etw_text_printf(text, " v%u%s", schema->descriptor.Version, look->plain);
	before = text->bytes;
	etw_text_puts(text, "  ");
	provider_event_name(schema, text);
	if (!etw_text_error(text) && text->bytes == before + 2)
		text->bytes = before;
	etw_text_putc(text, '\n');
	if (is_classic) {
		etw_guid_format_braced(&schema->event_guid, guid);
		etw_text_printf(text, "      class %s", guid);
		put_marks(&event->layouts[0], text);
		etw_text_putc(text, '\n');
	} else {
		put_details(event, text);
	}
	for (size_t i = 0; i < event->layout_count; i++)
		put_layout(facts, event, i, look, text);
}

static void put_names(const struct etw_provider_schema *schema, const struct provider_look *look,
		      struct etw_text *text)
{
	put_keywords(schema, look, text);
	put_levels(schema, look, text);
	put_tasks(schema, look, text);
	put_channels(schema, look, text);
	put_maps(schema, look, text);
}

size_t provider_page_write(const struct facts *facts, const struct provider_filter *filter,
			   const struct provider_look *look, struct etw_text *text)
{
	size_t count = 0;

	put_head(facts, look, text);
	if (!facts->schema)
		return 0;
	/* Who asks for some events knows the provider. */
	if (provider_filter_is_empty(filter))
		put_names(facts->schema, look, text);
	for (size_t i = 0; i < facts->event_count; i++) {
		if (!provider_filter_takes(filter, &facts->events[i], NULL))
			continue;
		if (!count++)
			put_title(text, look, "Events");
		put_event(facts, &facts->events[i], look, text);
	}
	return count;
}
