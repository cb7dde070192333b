/* SPDX-License-Identifier: MIT */
/* `etw info` for people: every header field, then tables. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "decode/format.h"
#include "export/export.h"
#include "schema/origin.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/common/output.h"
#include "tools/etw/info.h"
#include "tools/etw/trace_machine.h"

#define LABEL_WIDTH 18

const char *info_header_type_name(unsigned header_type)
{
	static const char *const names[WIRE_HEADER_TYPES] = {
		[WIRE_HEADER_SYSTEM32] = "SYSTEM32",     [WIRE_HEADER_SYSTEM64] = "SYSTEM64",
		[WIRE_HEADER_COMPACT32] = "COMPACT32",   [WIRE_HEADER_COMPACT64] = "COMPACT64",
		[WIRE_HEADER_FULL32] = "FULL32",         [WIRE_HEADER_FULL64] = "FULL64",
		[WIRE_HEADER_INSTANCE32] = "INSTANCE32", [WIRE_HEADER_INSTANCE64] = "INSTANCE64",
		[WIRE_HEADER_MESSAGE] = "MESSAGE",       [WIRE_HEADER_PERFINFO32] = "PERF32",
		[WIRE_HEADER_PERFINFO64] = "PERF64",     [WIRE_HEADER_EVENT32] = "EVENT32",
		[WIRE_HEADER_EVENT64] = "EVENT64",
	};

	return header_type < WIRE_HEADER_TYPES && names[header_type] ? names[header_type] : "?";
}

uint64_t info_overwritten_buffers(const struct info *info)
{
	return machine_overwritten_buffers(etw_trace_header(info->trace),
					   etw_trace_buffers(info->trace), info->last_sequence);
}

static void put_title(struct etw_text *text, const struct info_look *look, const char *title)
{
	etw_text_printf(text, "\n%s%s%s\n", look->bold, title, look->plain);
}

static void put_label(struct etw_text *text, const char *label)
{
	etw_text_printf(text, "  %-*s", LABEL_WIDTH, label);
}

static void put_number(struct etw_text *text, const char *label, uint64_t value)
{
	put_label(text, label);
	etw_number_grouped(text, value);
	etw_text_putc(text, '\n');
}

static void put_time(struct etw_text *text, const char *label, int64_t time_ft)
{
	put_label(text, label);
	if (time_ft)
		etw_format_filetime(time_ft, text);
	else
		etw_text_puts(text, "not written");
	etw_text_putc(text, '\n');
}

static void put_foreign(struct etw_text *text, const char *label, const char *string)
{
	put_label(text, label);
	etw_output_clean(text, string);
	etw_text_putc(text, '\n');
}

static void put_file(struct etw_text *text, const struct info *info, const struct info_look *look)
{
	etw_text_puts(text, look->bold);
	etw_output_clean(text, info->path);
	etw_text_printf(text, "%s\n", look->plain);
	put_number(text, "bytes", etw_trace_bytes(info->trace));
	put_number(text, "buffers", etw_trace_buffers(info->trace));
	put_number(text, "events", info->tally.count);
	put_number(text, "payload bytes", info->tally.payload_bytes);
	put_label(text, "decoded");
	etw_number_grouped(text, info->tally.complete);
	etw_text_puts(text, " (");
	etw_number_share(text, info->tally.complete, info->tally.count);
	etw_text_puts(text, ")\n");
	if (info->tally.manifest_data)
		put_number(text, "manifest data", info->tally.manifest_data);
}

static void put_header(struct etw_text *text, const struct info *info, const struct info_look *look)
{
	const struct etw_etl_header *header = etw_trace_header(info->trace);
	const struct machine machine = {0};
	uint64_t overwritten = info_overwritten_buffers(info);
	const char *os_name = machine_is_linux(&machine, header) ? "on Linux"
								 : machine_os_name(header);

	put_title(text, look, "Header");
	put_label(text, "system");
	etw_text_printf(text, "%u.%u build %u%s%s\n", header->os_major, header->os_minor,
			header->os_build, os_name ? ", " : "", os_name ? os_name : "");
	put_number(text, "processors", header->processors);
	put_number(text, "processor MHz", header->cpu_mhz);
	put_number(text, "pointer bytes", header->pointer_bytes);
	put_foreign(text, "session", header->logger_name);
	put_foreign(text, "written as", header->log_file_name);
	put_label(text, "mode");
	etw_text_printf(text, "0x%08" PRIx32 ": ", header->log_file_mode);
	machine_mode_write(text, header->log_file_mode);
	etw_text_putc(text, '\n');
	put_number(text, "buffer bytes", header->buffer_bytes);
	put_number(text, "start buffers", header->start_buffers);
	put_number(text, "buffers written", header->buffers_written);
	if (overwritten)
		put_number(text, "overwritten", overwritten);
	put_number(text, "buffers lost", header->buffers_lost);
	put_number(text, "events lost", header->events_lost);
	put_number(text, "maximum file size", header->maximum_file_size);
	put_label(text, "clock");
	machine_clock_write(text, header);
	etw_text_puts(text, "\n");
	put_number(text, "timer resolution", header->timer_resolution);
	put_time(text, "start", header->start_ft);
	put_time(text, "end", header->end_ft);
	put_time(text, "boot", header->boot_ft);
	put_label(text, "time zone");
	if (!machine_zone_write(text, header))
		etw_text_puts(text, "UTC or not told");
	etw_text_puts(text, "\n");
}

/* The states that a kind's events are in, commonest wording first. */
static void put_state(struct etw_text *text, const struct tally_kind *kind)
{
	const char *comma = "";

	if (kind->statuses[ETW_DECODE_COMPLETE] == kind->count) {
		etw_text_puts(text, "yes");
		return;
	}
	for (unsigned i = 0; i < TALLY_STATUSES; i++) {
		if (!kind->statuses[i])
			continue;
		etw_text_puts(text, comma);
		etw_text_puts(text, etw_decode_status_name((enum etw_decode_status)i));
		if (kind->statuses[i] != kind->count) {
			etw_text_putc(text, ' ');
			etw_number_grouped(text, kind->statuses[i]);
		}
		comma = ", ";
	}
}

/* The kind's name without its provider's, which stands above. */
static void put_kind_name(struct etw_text *text, const struct tally_kind *kind)
{
	struct etw_text name = {0}, provider = {0};
	const char *at;

	tally_kind_write(&name, kind);
	tally_provider_write(&provider, kind->provider);
	at = etw_text_string(&name);
	if (!strncmp(at, etw_text_string(&provider), provider.bytes) && at[provider.bytes] == '/')
		at += provider.bytes + 1;
	etw_text_puts(text, at);
	etw_text_done(&name);
	etw_text_done(&provider);
}

static void put_kind(struct etw_grid *grid, const struct tally_kind *kind)
{
	const EVENT_DESCRIPTOR *descriptor = &kind->header.EventDescriptor;

	etw_number_grouped(etw_grid_cell(grid), kind->count);
	etw_number_grouped(etw_grid_cell(grid), kind->bytes);
	if (kind->provider->is_classic)
		etw_text_putc(etw_grid_cell(grid), '-');
	else
		etw_text_unsigned(etw_grid_cell(grid), descriptor->Id);
	etw_text_unsigned(etw_grid_cell(grid), descriptor->Version);
	etw_text_unsigned(etw_grid_cell(grid), descriptor->Opcode);
	put_state(etw_grid_cell(grid), kind);
	etw_schema_origin_write(kind->schema, etw_grid_cell(grid));
	put_kind_name(etw_grid_cell(grid), kind);
}

static void put_provider(struct etw_text *text, const struct tally_provider *provider,
			 const struct info_look *look)
{
	char guid[ETW_GUID_BRACED_BYTES];

	etw_guid_format_braced(&provider->guid, guid);
	etw_text_printf(text, "\n%s", look->bold);
	tally_provider_write(text, provider);
	etw_text_puts(text, look->plain);
	etw_text_printf(text, "%s%s, ", provider->name ? " " : "", provider->name ? guid : "");
	etw_number_count(text, provider->count, "event");
	etw_text_puts(text, provider->is_classic ? " (classic)\n" : "\n");
}

static void put_kinds(struct etw_text *text, const struct info *info, const struct info_look *look)
{
	static const struct etw_grid_column columns[] = {
		{.title = "count", .is_right = true, .narrowest = 9},
		{.title = "bytes", .is_right = true, .narrowest = 11},
		{.title = "id", .is_right = true, .narrowest = 5},
		{.title = "v", .is_right = true, .narrowest = 2},
		{.title = "op", .is_right = true, .narrowest = 3},
		{.title = "decoded", .narrowest = 9},
		{.title = "schema", .narrowest = 8},
		{.title = "event", .gives_way = true},
	};
	const struct tally *tally = &info->tally;
	const struct tally_provider *provider = NULL;
	struct etw_grid grid;

	for (size_t i = 0; i < tally->kinds.count; i++) {
		const struct tally_kind *kind = tally->sorted_kinds[i];

		if (kind->provider != provider) {
			provider = kind->provider;
			put_provider(text, provider, look);
			etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
		}
		put_kind(&grid, kind);
		if (i + 1 == tally->kinds.count ||
		    tally->sorted_kinds[i + 1]->provider != provider) {
			etw_grid_print(&grid, look->width, "", "", text);
			etw_grid_done(&grid);
		}
	}
}

static void put_reasons(struct etw_text *text, const struct info *info,
			const struct info_look *look)
{
	const struct tally *tally = &info->tally;
	bool has_title = false;

	for (size_t i = 0; i < tally->kinds.count; i++) {
		const struct tally_kind *kind = tally->sorted_kinds[i];

		/* Providers without any schema are told once, by the summary. */
		if (!kind->reason || kind->statuses[ETW_DECODE_NO_SCHEMA] == kind->count)
			continue;
		if (!has_title)
			put_title(text, look, "Why events do not decode to the last byte");
		has_title = true;
		etw_text_puts(text, "  ");
		tally_kind_write(text, kind);
		etw_text_printf(text, ": %s\n", kind->reason);
	}
}

static void put_counts(struct etw_text *text, const struct info *info, const struct info_look *look)
{
	put_title(text, look, "Events by header type");
	for (unsigned i = 0; i < WIRE_HEADER_TYPES; i++) {
		if (info->header_types[i])
			put_number(text, info_header_type_name(i), info->header_types[i]);
	}
	put_title(text, look, "Events by processor");
	for (unsigned i = 0; i < INFO_PROCESSORS_MAX; i++) {
		char label[16] = "";
		struct etw_text number = {0};

		if (!info->processors[i])
			continue;
		etw_text_unsigned(&number, i);
		strncat(label, etw_text_string(&number), sizeof(label) - 1);
		etw_text_done(&number);
		put_number(text, label, info->processors[i]);
	}
}

static void put_findings(struct etw_text *text, const struct info *info,
			 const struct info_look *look)
{
	static const struct etw_grid_column columns[] = {
		{.title = "kind"},
		{.title = "buffer", .is_right = true},
		{.title = "offset", .is_right = true},
		{.title = "bytes", .is_right = true},
		{.title = "what", .gives_way = true},
	};
	const struct etw_findings *findings = etw_trace_findings(info->trace);
	struct etw_grid grid;
	uint64_t all = 0;

	for (unsigned i = 0; i < ETW_FINDING_KINDS; i++)
		all += findings->counts[i];
	if (!all)
		return;
	put_title(text, look, "Findings");
	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < findings->kept_count; i++) {
		const struct etw_finding *finding = &findings->kept[i];

		etw_text_puts(etw_grid_cell(&grid), etw_finding_kind_name(finding->kind));
		etw_text_unsigned(etw_grid_cell(&grid), finding->buffer);
		etw_text_unsigned(etw_grid_cell(&grid), finding->offset);
		etw_text_unsigned(etw_grid_cell(&grid), finding->bytes);
		etw_text_puts(etw_grid_cell(&grid), finding->sentence);
	}
	etw_grid_print(&grid, look->width, "", "", text);
	etw_grid_done(&grid);
	if (all > findings->kept_count) {
		etw_text_puts(text, "  ... and ");
		etw_number_grouped(text, all - findings->kept_count);
		etw_text_puts(text, " more\n");
	}
}

static void put_buffers(struct etw_text *text, const struct info *info,
			const struct info_look *look)
{
	static const struct etw_grid_column columns[] = {
		{.title = "buffer", .is_right = true}, {.title = "offset", .is_right = true},
		{.title = "stride", .is_right = true}, {.title = "valid", .is_right = true},
		{.title = "cpu", .is_right = true},    {.title = "flags", .is_right = true},
		{.title = "type", .is_right = true},   {.title = "sequence", .is_right = true},
		{.title = "events", .is_right = true},
	};
	struct etw_grid grid;

	put_title(text, look, "Buffers");
	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < info->buffer_count; i++) {
		const struct info_buffer *row = &info->buffers[i];
		const struct etw_etl_buffer *buffer = &row->buffer;

		etw_text_unsigned(etw_grid_cell(&grid), buffer->number);
		etw_text_unsigned(etw_grid_cell(&grid), buffer->offset);
		etw_text_unsigned(etw_grid_cell(&grid), buffer->stride);
		etw_text_unsigned(etw_grid_cell(&grid), buffer->valid_bytes);
		etw_text_unsigned(etw_grid_cell(&grid), buffer->processor);
		etw_text_printf(etw_grid_cell(&grid), "0x%x", buffer->flags);
		etw_text_unsigned(etw_grid_cell(&grid), buffer->type);
		etw_text_signed(etw_grid_cell(&grid), buffer->sequence);
		etw_text_unsigned(etw_grid_cell(&grid), row->events);
	}
	etw_grid_print(&grid, look->width, "", "", text);
	etw_grid_done(&grid);
}

void info_write_text(struct etw_text *text, const struct info *info, const struct info_look *look)
{
	put_file(text, info, look);
	put_header(text, info, look);
	put_counts(text, info, look);
	put_kinds(text, info, look);
	put_reasons(text, info, look);
	if (look->has_buffers)
		put_buffers(text, info, look);
	put_findings(text, info, look);
	etw_text_putc(text, '\n');
	notes_write(text, &info->notes);
	if (info->loss.events || info->loss.buffers || etw_loss_is_damaged(&info->loss) ||
	    info->loss.unclosed)
		etw_text_puts(text, look->warn);
	etw_loss_write(text, &info->loss);
	etw_text_printf(text, "%s\n", look->plain);
}
