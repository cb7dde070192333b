/* SPDX-License-Identifier: MIT */
/* `etw info --json`: one object, for programs. The keys are described in docs/format/json.md. */
#include <inttypes.h>
#include <string.h>

#include "base/guid.h"
#include "export/export.h"
#include "schema/origin.h"
#include "tools/etw/info.h"
#include "tools/etw/json_members.h"

void info_header_json(struct etw_text *text, const struct etw_etl_header *header)
{
	etw_text_puts(text, ",\"header\":{");
	etw_text_printf(text, "\"os\":\"%u.%u\"", header->os_major, header->os_minor);
	json_number(text, "os_build", header->os_build);
	json_number(text, "processors", header->processors);
	json_number(text, "pointer_bytes", header->pointer_bytes);
	json_number(text, "cpu_mhz", header->cpu_mhz);
	json_number(text, "buffer_bytes", header->buffer_bytes);
	json_number(text, "buffers_written", header->buffers_written);
	json_number(text, "start_buffers", header->start_buffers);
	json_number(text, "buffers_lost", header->buffers_lost);
	json_number(text, "events_lost", header->events_lost);
	json_number(text, "log_file_mode", header->log_file_mode);
	json_number(text, "maximum_file_size", header->maximum_file_size);
	json_number(text, "timer_resolution", header->timer_resolution);
	json_number(text, "clock_type", header->clock_type);
	json_number(text, "perf_frequency", header->perf_frequency);
	json_time(text, "start", header->start_ft);
	json_time(text, "end", header->end_ft);
	json_time(text, "boot", header->boot_ft);
	json_string(text, "logger_name", header->logger_name);
	json_string(text, "log_file_name", header->log_file_name);
	etw_text_putc(text, '}');
}

static void put_statuses(struct etw_text *text, const uint64_t *statuses)
{
	for (unsigned i = 0; i < TALLY_STATUSES; i++) {
		if (statuses[i])
			json_number(text, etw_decode_status_name((enum etw_decode_status)i),
				    statuses[i]);
	}
}

static void put_origin(struct etw_text *text, const struct etw_schema *schema)
{
	const char *origin = schema ? etw_schema_origin_name((enum etw_schema_origin)schema->origin)
				    : NULL;
	const char *comma = "";

	if (origin)
		json_string(text, "schema", origin);
	if (!origin || !schema->marks)
		return;
	etw_text_puts(text, ",\"schema_marks\":[");
	for (unsigned i = 0; i < ETW_SCHEMA_MARKS; i++) {
		if (!(schema->marks & 1u << i))
			continue;
		etw_text_printf(text, "%s\"%s\"", comma, etw_schema_mark_name(i));
		comma = ",";
	}
	etw_text_putc(text, ']');
}

static void put_kinds(struct etw_text *text, const struct tally *tally)
{
	struct etw_text name = {0};

	etw_text_puts(text, ",\"events_by_kind\":[");
	for (size_t i = 0; i < tally->kinds.count; i++) {
		const struct tally_kind *kind = tally->sorted_kinds[i];
		const EVENT_DESCRIPTOR *descriptor = &kind->header.EventDescriptor;
		char guid[ETW_GUID_BARE_BYTES];

		etw_text_clear(&name);
		tally_kind_write(&name, kind);
		etw_guid_format(&kind->header.ProviderId, guid);
		etw_text_printf(text, "%s{\"guid\":\"%s\"", i ? "," : "", guid);
		if (kind->provider->name)
			json_string(text, "provider", kind->provider->name);
		json_string(text, "name", etw_text_string(&name));
		json_number(text, "id", descriptor->Id);
		json_number(text, "version", descriptor->Version);
		json_number(text, "opcode", descriptor->Opcode);
		json_number(text, "count", kind->count);
		json_number(text, "bytes", kind->bytes);
		put_statuses(text, kind->statuses);
		put_origin(text, kind->schema);
		if (kind->reason)
			json_string(text, "reason", kind->reason);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
	etw_text_done(&name);
}

static void put_counts(struct etw_text *text, const struct info *info)
{
	const char *comma = "";

	etw_text_puts(text, ",\"events_by_header\":{");
	for (unsigned i = 0; i < WIRE_HEADER_TYPES; i++) {
		if (!info->header_types[i])
			continue;
		etw_text_printf(text, "%s\"%s\":%" PRIu64, comma, info_header_type_name(i),
				info->header_types[i]);
		comma = ",";
	}
	etw_text_puts(text, "},\"events_by_processor\":{");
	comma = "";
	for (unsigned i = 0; i < INFO_PROCESSORS_MAX; i++) {
		if (!info->processors[i])
			continue;
		etw_text_printf(text, "%s\"%u\":%" PRIu64, comma, i, info->processors[i]);
		comma = ",";
	}
	etw_text_putc(text, '}');
}

void info_findings_json(struct etw_text *text, const struct etw_findings *findings)
{
	uint64_t all = 0;

	etw_text_puts(text, ",\"findings\":[");
	for (uint32_t i = 0; i < findings->kept_count; i++) {
		const struct etw_finding *finding = &findings->kept[i];

		etw_text_printf(text, "%s{\"kind\":\"%s\"", i ? "," : "",
				etw_finding_kind_name(finding->kind));
		json_number(text, "offset", finding->offset);
		json_number(text, "bytes", finding->bytes);
		json_number(text, "buffer", finding->buffer);
		json_string(text, "sentence", finding->sentence);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
	for (unsigned i = 0; i < ETW_FINDING_KINDS; i++)
		all += findings->counts[i];
	if (all > findings->kept_count)
		json_number(text, "findings_left_out", all - findings->kept_count);
}

static void put_buffers(struct etw_text *text, const struct info *info)
{
	etw_text_puts(text, ",\"buffer_list\":[");
	for (size_t i = 0; i < info->buffer_count; i++) {
		const struct info_buffer *row = &info->buffers[i];

		etw_text_printf(text, "%s{\"number\":%u", i ? "," : "", row->buffer.number);
		json_number(text, "offset", row->buffer.offset);
		json_number(text, "stride", row->buffer.stride);
		json_number(text, "valid_bytes", row->buffer.valid_bytes);
		json_number(text, "processor", row->buffer.processor);
		json_number(text, "flags", row->buffer.flags);
		json_number(text, "type", row->buffer.type);
		etw_text_printf(text, ",\"sequence\":%" PRId64 ",\"time_raw\":\"%" PRId64 "\"",
				row->buffer.sequence, row->buffer.time_raw);
		json_number(text, "events", row->events);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
}

void info_write_json(struct etw_text *text, const struct info *info, bool has_buffers)
{
	etw_text_puts(text, "{\"file\":");
	json_value(text, info->path);
	json_number(text, "bytes", etw_trace_bytes(info->trace));
	json_number(text, "buffers", etw_trace_buffers(info->trace));
	json_number(text, "events", info->tally.count);
	json_number(text, "payload_bytes", info->tally.payload_bytes);
	json_number(text, "decoded", info->tally.complete);
	json_number(text, "manifest_data", info->tally.manifest_data);
	info_header_json(text, etw_trace_header(info->trace));
	put_counts(text, info);
	put_kinds(text, &info->tally);
	etw_text_printf(text, ",\"is_closed\":%s", info->loss.unclosed ? "false" : "true");
	json_number(text, "buffers_overwritten", info_overwritten_buffers(info));
	json_number(text, "loss_marks", info->loss_marks);
	json_number(text, "unreadable_places", info->loss.skipped_places);
	json_number(text, "unreadable_bytes", info->loss.skipped_bytes);
	json_number(text, "doubtful_places", info->loss.doubted_places);
	notes_write_json(text, &info->notes);
	info_findings_json(text, etw_trace_findings(info->trace));
	if (has_buffers)
		put_buffers(text, info);
	etw_text_puts(text, "}\n");
}
