/* SPDX-License-Identifier: MIT */
/* `etw summary --json`: what the page shows, for programs. The keys are described in docs/format/json.md. */
#include "base/guid.h"
#include "tools/etw/advice.h"
#include "tools/etw/info.h"
#include "tools/etw/json_members.h"
#include "tools/etw/process_json.h"
#include "tools/etw/report.h"
#include "tools/etw/report_io.h"
#include "tools/etw/report_tables.h"

static void put_machine(struct etw_text *text, const struct machine *machine,
			const struct etw_etl_header *header)
{
	CLEANUP(etw_text_done) struct etw_text value = {0};
	const char *name = machine_os_name(header);
	const bool is_linux = machine_is_linux(machine, header);

	machine_write(&value, machine, header);
	etw_text_puts(text, ",\"machine\":{\"description\":");
	json_value(text, etw_text_string(&value));
	json_text(text, "computer", etw_text_string(&machine->computer));
	json_text(text, "os_name",
		  machine->product.bytes ? etw_text_string(&machine->product)
		  : is_linux             ? "Linux"
					 : name);
	json_text(text, "model", etw_text_string(&machine->model));
	json_text(text, "processor", etw_text_string(&machine->processor));
	if (machine->memory_mb)
		json_number(text, "memory_mb", machine->memory_mb);
	etw_text_clear(&value);
	if (machine_zone_write(&value, header))
		json_text(text, "zone", etw_text_string(&value));
	etw_text_putc(text, '}');
}

static void put_file(struct etw_text *text, const struct report *report, size_t index)
{
	struct etw_trace *trace = report->inputs->traces[index];
	const struct etw_etl_header *header = etw_trace_header(trace);
	CLEANUP(etw_text_done) struct etw_text value = {0};

	etw_text_puts(text, index ? ",{\"file\":" : "{\"file\":");
	json_value(text, report->inputs->paths[index]);
	json_number(text, "bytes", etw_trace_bytes(trace));
	json_number(text, "buffers", etw_trace_buffers(trace));
	/* What an earlier file said of the same machine is not said again. */
	if (!report->machines[index].is_repeated)
		put_machine(text, &report->machines[index], header);
	machine_mode_write(&value, header->log_file_mode);
	json_text(text, "mode", etw_text_string(&value));
	etw_text_clear(&value);
	machine_clock_write(&value, header);
	json_text(text, "clock", etw_text_string(&value));
	account_write_json(text, &report->machines[index].account);
	info_header_json(text, header);
	info_findings_json(text, etw_trace_findings(trace));
	etw_text_putc(text, '}');
}

static void put_processes(struct etw_text *text, const struct report *report)
{
	const struct etw_process_usage *usage = &report->usage;

	etw_text_printf(text, ",\"cpu_time_by\":\"%s\",\"processes\":[",
			process_measure_name(usage->measure));
	for (size_t i = 0; i < usage->shares.count; i++) {
		const struct etw_process_share *share = usage->sorted[i];

		etw_text_printf(text, "%s{\"events\":%llu", i ? "," : "",
				(unsigned long long)share->events);
		if (usage->measure != ETW_PROCESS_BY_EVENTS)
			json_number(text, "cpu_ns", etw_process_usage_time(usage, share) * 100);
		report_io_json(text, usage, share);
		if (share->pid != ETW_PROCESS_NONE)
			json_number(text, "pid", share->pid);
		json_text(text, "process", report_process_name(share));
		if (share->process)
			json_text(text, "command_line", share->process->program->command_line);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
}

static void put_provider(struct etw_text *text, const struct tally_provider *provider)
{
	char guid[ETW_GUID_BARE_BYTES];

	etw_guid_format(&provider->guid, guid);
	etw_text_printf(text, "{\"guid\":\"%s\"", guid);
	json_string(text, "provider", provider->name);
	if (provider->is_classic)
		etw_text_puts(text, ",\"classic\":true");
	json_number(text, "count", provider->count);
	for (unsigned i = 0; i < TALLY_STATUSES; i++) {
		if (provider->statuses[i])
			json_number(text, etw_decode_status_name((enum etw_decode_status)i),
				    provider->statuses[i]);
	}
	etw_text_putc(text, '}');
}

static void put_events(struct etw_text *text, const struct report *report)
{
	const struct tally *tally = &report->tally;

	json_number(text, "events", tally->count);
	json_number(text, "payload_bytes", tally->payload_bytes);
	json_number(text, "decoded", tally->complete);
	json_number(text, "manifest_data", tally->manifest_data);
	json_number(text, "schema_carriers", tally->carriers);
	if (tally->count) {
		json_time(text, "first", report->first_ft);
		json_time(text, "last", report->last_ft);
	}
	etw_text_puts(text, ",\"providers\":[");
	for (size_t i = 0; i < tally->providers.count; i++) {
		if (i)
			etw_text_putc(text, ',');
		put_provider(text, tally->sorted_providers[i]);
	}
	etw_text_putc(text, ']');
}

static void put_loss(struct etw_text *text, const struct etw_loss *loss)
{
	CLEANUP(etw_text_done) struct etw_text sentence = {0};

	etw_loss_write(&sentence, loss);
	json_number(text, "events_lost", loss->events);
	json_number(text, "buffers_lost", loss->buffers);
	json_number(text, "loss_marks", loss->marks);
	json_number(text, "files_not_closed", loss->unclosed);
	json_number(text, "unreadable_places", loss->skipped_places);
	json_number(text, "unreadable_bytes", loss->skipped_bytes);
	json_text(text, "loss", etw_text_string(&sentence));
}

void report_write_json(struct etw_text *text, const struct report *report)
{
	CLEANUP(etw_text_done) struct etw_text advice = {0};

	etw_text_puts(text, "{\"files\":[");
	for (size_t i = 0; i < report->inputs->count; i++)
		put_file(text, report, i);
	etw_text_putc(text, ']');
	put_events(text, report);
	report_kinds_json(text, report);
	report_lives_json(text, report);
	put_processes(text, report);
	if (report->schema_damage) {
		json_number(text, "schemas_damaged", report->schema_damage);
		json_text(text, "schemas_damaged_reason", report->schema_problem);
	}
	if (advice_write(&advice, &report->tally, report->inputs, report->is_known_used, SIZE_MAX))
		json_text(text, "advice", etw_text_string(&advice));
	notes_write_json(text, &report->notes);
	put_loss(text, &report->loss);
	etw_text_puts(text, "}\n");
}
