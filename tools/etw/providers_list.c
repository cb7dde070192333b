/* SPDX-License-Identifier: MIT */
/* Lists of providers, and of events of several providers. */
#include <inttypes.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/etw/providers.h"

/* Below that, a GUID would leave too little for the names; pipes have room for everything. */
#define GUID_COLUMN_WIDTH_MIN 130

static void put_name(const struct catalogue_entry *entry, struct etw_text *text)
{
	char guid[ETW_GUID_BARE_BYTES];

	if (entry->name) {
		etw_output_clean(text, entry->name);
		return;
	}
	etw_guid_format(&entry->guid, guid);
	etw_text_puts(text, guid);
}

static void put_origin(const struct catalogue_entry *entry, struct etw_text *text)
{
	if (entry->system)
		etw_text_puts(text, "tracepoints");
	else if (entry->is_installed)
		etw_text_puts(text, entry->is_known ? "installed, known" : "installed");
	else
		etw_text_puts(text, entry->is_known ? "known" : "name only");
}

static void put_row(struct etw_grid *grid, const struct catalogue_entry *entry, bool has_guids)
{
	char guid[ETW_GUID_BARE_BYTES] = "-";

	put_name(entry, etw_grid_cell(grid));
	etw_number_grouped(etw_grid_cell(grid), (uint64_t)entry->event_count + entry->class_count);
	put_origin(entry, etw_grid_cell(grid));
	etw_output_clean(etw_grid_cell(grid), *entry->builds ? entry->builds : "-");
	if (!has_guids)
		return;
	if (entry->has_guid)
		etw_guid_format(&entry->guid, guid);
	etw_text_puts(etw_grid_cell(grid), guid);
}

static void put_table(const struct catalogue_entry *const *entries, size_t count,
		      const struct provider_look *look, struct etw_text *text)
{
	static const struct etw_grid_column columns[] = {
		{.title = "provider", .gives_way = true},
		{.title = "events", .is_right = true},
		{.title = "from"},
		{.title = "Windows builds"},
		{.title = "GUID"},
	};
	const bool has_guids = !look->width || look->width >= GUID_COLUMN_WIDTH_MIN;
	struct etw_grid grid;

	etw_grid_init(&grid, columns, ARRAY_SIZE(columns) - !has_guids);
	for (size_t i = 0; i < count; i++)
		put_row(&grid, entries[i], has_guids);
	etw_grid_print(&grid, look->width, look->bold, look->plain, text);
	etw_grid_done(&grid);
}

static void put_string(struct etw_text *text, const char *key, const char *value)
{
	etw_text_printf(text, ",\"%s\":", key);
	etw_text_json_ansi(text, (const uint8_t *)value, strlen(value));
}

void provider_object_begin(const struct catalogue_entry *entry, struct etw_text *text)
{
	char guid[ETW_GUID_BARE_BYTES];

	etw_text_puts(text, "{\"provider\":");
	if (entry->name)
		etw_text_json_string(text, entry->name, strlen(entry->name));
	else
		etw_text_puts(text, "null");
	if (entry->has_guid) {
		etw_guid_format(&entry->guid, guid);
		put_string(text, "guid", guid);
	}
	if (entry->also)
		put_string(text, "also", entry->also);
	if (*entry->formerly) {
		etw_text_puts(text, ",\"formerly\":[");
		etw_text_json_string(text, entry->formerly, strlen(entry->formerly));
		etw_text_putc(text, ']');
	}
	etw_text_printf(text, ",\"is_installed\":%s,\"is_known\":%s",
			entry->is_installed ? "true" : "false", entry->is_known ? "true" : "false");
	if (entry->file)
		put_string(text, "file", entry->file);
	if (*entry->builds)
		put_string(text, "builds", entry->builds);
	etw_text_printf(text, ",\"event_count\":%" PRIu32 ",\"classic_event_count\":%" PRIu32,
			entry->event_count, entry->class_count);
}

void providers_list_write(const struct catalogue_entry *const *entries, size_t count,
			  const struct provider_look *look, struct etw_text *text)
{
	if (!look->is_json) {
		put_table(entries, count, look, text);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		provider_object_begin(entries[i], text);
		etw_text_puts(text, "}\n");
	}
}

/* For other programs: every line says all, with tabs between the columns, since names have blanks in them. */
static void put_event_line(const struct facts *facts, const struct fact_event *event,
			   const struct etw_text *where, struct etw_text *text)
{
	const EVENT_DESCRIPTOR *descriptor = &event->layouts[0].schema->descriptor;
	const bool is_classic = facts_is_classic(event);

	put_name(facts->entry, text);
	etw_text_printf(text, "\t%s%u\tv%u\t", is_classic ? "type " : "",
			is_classic ? descriptor->Opcode : descriptor->Id, descriptor->Version);
	provider_event_name(event->layouts[0].schema, text);
	if (where->bytes) {
		etw_text_putc(text, '\t');
		etw_text_append(text, where->at, where->bytes);
	}
	etw_text_putc(text, '\n');
}

static void put_event_cells(struct etw_grid *grid, const struct fact_event *event,
			    const struct etw_text *where)
{
	const EVENT_DESCRIPTOR *descriptor = &event->layouts[0].schema->descriptor;
	const bool is_classic = facts_is_classic(event);

	etw_text_printf(etw_grid_cell(grid), "%s%u", is_classic ? "type " : "",
			is_classic ? descriptor->Opcode : descriptor->Id);
	etw_text_printf(etw_grid_cell(grid), "v%u", descriptor->Version);
	provider_event_name(event->layouts[0].schema, etw_grid_cell(grid));
	etw_text_append(etw_grid_cell(grid), etw_text_string(where), where->bytes);
}

/* For people: a table below the provider's name. */
static void put_event_table(const struct facts *facts, struct etw_grid *grid,
			    const struct provider_look *look, struct etw_text *text)
{
	etw_text_puts(text, look->bold);
	put_name(facts->entry, text);
	etw_text_printf(text, "%s\n", look->plain);
	etw_grid_print(grid, look->width, NULL, NULL, text);
	etw_text_putc(text, '\n');
}

static void put_event_object(const struct facts *facts, const struct fact_event *event,
			     const struct etw_text *where, struct etw_text *text)
{
	char guid[ETW_GUID_BARE_BYTES];

	etw_text_puts(text, "{\"provider\":");
	if (facts->entry->name)
		etw_text_json_string(text, facts->entry->name, strlen(facts->entry->name));
	else
		etw_text_puts(text, "null");
	if (facts->entry->has_guid) {
		etw_guid_format(&facts->entry->guid, guid);
		put_string(text, "guid", guid);
	}
	if (where->bytes) {
		etw_text_puts(text, ",\"found_in\":");
		etw_text_json_string(text, where->at, where->bytes);
	}
	etw_text_puts(text, ",\"event\":");
	provider_json_event(facts, event, text);
	etw_text_puts(text, "}\n");
}

size_t provider_rows_write(const struct facts *facts, const struct provider_filter *filter,
			   const struct provider_look *look, struct etw_text *text)
{
	static const struct etw_grid_column columns[] = {
		{.title = "id", .is_right = true, .narrowest = 9},
		{.title = "version"},
		{.title = "event"},
		{.title = "found in", .gives_way = true},
	};
	CLEANUP(etw_text_done) struct etw_text where = {0};
	const bool is_table = !look->is_json && look->width;
	struct etw_grid grid;
	size_t count = 0;

	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < facts->event_count; i++) {
		etw_text_clear(&where);
		if (!provider_filter_takes(filter, &facts->events[i], &where))
			continue;
		count++;
		if (look->is_json)
			put_event_object(facts, &facts->events[i], &where, text);
		else if (is_table)
			put_event_cells(&grid, &facts->events[i], &where);
		else
			put_event_line(facts, &facts->events[i], &where, text);
	}
	if (is_table && count)
		put_event_table(facts, &grid, look, text);
	etw_grid_done(&grid);
	return count;
}
