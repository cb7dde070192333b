/* SPDX-License-Identifier: MIT */
#include "tools/etw/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/time.h"
#include "decode/format.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/common/output.h"
#include "tools/etw/advice.h"
#include "tools/etw/process_table.h"

#define LABEL_WIDTH 10

/* Appends @value behind its label, broken at blanks to fit the width. */
static void put_fact(struct etw_text *text, const struct report_look *look, const char *label,
		     struct etw_text *value)
{
	const char *at = etw_text_string(value);
	size_t room = look->width > LABEL_WIDTH + 20 ? look->width - LABEL_WIDTH : 20;

	etw_text_printf(text, "%s%-*s%s", look->bold, LABEL_WIDTH, label, look->plain);
	while (strlen(at) > room) {
		size_t cut = room;

		while (cut && at[cut] != ' ')
			cut--;
		if (!cut)
			cut = strcspn(at, " ");
		if (!at[cut])
			break;
		etw_text_append(text, at, cut);
		etw_text_printf(text, "\n%-*s", LABEL_WIDTH, "");
		at += cut + 1;
	}
	etw_text_puts(text, at);
	etw_text_putc(text, '\n');
	etw_text_clear(value);
}

static void put_title(struct etw_text *text, const struct report_look *look, const char *title)
{
	etw_text_printf(text, "\n%s%s%s\n", look->bold, title, look->plain);
}

static void put_session(struct etw_text *text, const struct etw_etl_header *header)
{
	etw_output_clean(text, *header->logger_name ? header->logger_name : "(no name)");
	etw_text_puts(text, ": ");
	machine_mode_write(text, header->log_file_mode);
	etw_text_puts(text, ", buffers of ");
	etw_number_bytes(text, header->buffer_bytes);
	if (*header->log_file_name) {
		etw_text_puts(text, "; ");
		etw_output_clean(text, header->log_file_name);
	}
}

static void put_time_span(struct etw_text *text, int64_t from_ft, int64_t to_ft)
{
	etw_format_filetime(from_ft, text);
	etw_text_puts(text, " for ");
	etw_number_duration(text, etw_filetime_between(from_ft, to_ft));
}

static void put_recorded(struct etw_text *text, const struct report *report,
			 const struct etw_etl_header *header, bool has_zone)
{
	int64_t end = header->end_ft;

	put_time_span(text, header->start_ft, end >= header->start_ft ? end : report->last_ft);
	if (!end)
		etw_text_puts(text,
			      " (the session never wrote its end: still running, or crashed)");
	if (!has_zone)
		return;
	etw_text_puts(text, "; times are UTC");
	struct etw_text zone = {0};

	if (machine_zone_write(&zone, header))
		etw_text_printf(text, ", the machine's zone was %s", etw_text_string(&zone));
	etw_text_done(&zone);
}

static void put_boot(struct etw_text *text, const struct etw_etl_header *header)
{
	etw_format_filetime(header->boot_ft, text);
	if (header->start_ft > header->boot_ft) {
		etw_text_puts(text, ", ");
		etw_number_duration(text, header->start_ft - header->boot_ft);
		etw_text_puts(text, " before the trace");
	}
}

static void put_machine(struct etw_text *text, const struct report_look *look,
			const struct machine *machine, const struct etw_etl_header *header)
{
	struct etw_text value = {0};

	machine_write(&value, machine, header);
	put_fact(text, look, "Machine", &value);
	if (machine->model.bytes > 1 || machine->processor.bytes) {
		etw_text_puts(&value, etw_text_string(&machine->model));
		if (value.bytes && machine->processor.bytes)
			etw_text_puts(&value, ", ");
		etw_text_puts(&value, etw_text_string(&machine->processor));
		put_fact(text, look, "", &value);
	}
	if (header->boot_ft > 0) {
		put_boot(&value, header);
		put_fact(text, look, "Booted", &value);
	}
	etw_text_done(&value);
}

/* The facts of one file. */
static void put_file(struct etw_text *text, const struct report *report,
		     const struct report_look *look, size_t index)
{
	struct etw_trace *trace = report->inputs->traces[index];
	const struct etw_etl_header *header = etw_trace_header(trace);
	const struct machine *machine = &report->machines[index];
	struct etw_text value = {0};

	etw_output_clean(&value, report->inputs->paths[index]);
	etw_text_puts(&value, ", ");
	etw_number_bytes(&value, etw_trace_bytes(trace));
	etw_text_puts(&value, ", ");
	etw_number_count(&value, etw_trace_buffers(trace), "buffer");
	put_fact(text, look, "File", &value);
	if (!machine->is_repeated)
		put_machine(text, look, machine, header);
	put_session(&value, header);
	put_fact(text, look, "Session", &value);
	put_recorded(&value, report, header, /* has_zone= */ !machine->is_repeated);
	put_fact(text, look, "Recorded", &value);
	machine_clock_write(&value, header);
	if (!machine->is_repeated)
		put_fact(text, look, "Clock", &value);
	etw_text_done(&value);
}

static void put_totals(struct etw_text *text, const struct report *report,
		       const struct report_look *look)
{
	const struct tally *tally = &report->tally;
	struct etw_text value = {0};

	etw_number_grouped(&value, tally->count);
	etw_text_puts(&value, ", ");
	etw_number_bytes(&value, tally->payload_bytes);
	etw_text_puts(&value, " of payload");
	if (report->inputs->count > 1) {
		etw_text_puts(&value, ", in ");
		etw_number_count(&value, report->inputs->count, "file");
		etw_text_puts(&value, " merged by time");
	}
	if (tally->count) {
		etw_text_puts(&value, "; ");
		put_time_span(&value, report->first_ft, report->last_ft);
	}
	put_fact(text, look, "Events", &value);
	etw_number_share(&value, tally->complete, tally->count);
	etw_text_puts(&value, " of the events, to the last byte (");
	etw_number_grouped(&value, tally->complete);
	etw_text_puts(&value, " of ");
	etw_number_grouped(&value, tally->count);
	etw_text_puts(&value, ")");
	if (tally->manifest_data) {
		etw_text_puts(&value, "; ");
		etw_number_count(&value, tally->manifest_data, "event");
		etw_text_puts(&value, tally->manifest_data == 1 ? " carries" : " carry");
		etw_text_puts(&value, " manifest data of EventSources");
	}
	if (tally->carriers) {
		etw_text_puts(&value, "; ");
		etw_number_count(&value, tally->carriers, "other");
		etw_text_puts(&value, tally->carriers == 1 ? " carries schemas" : " carry schemas");
	}
	if (tally->count)
		put_fact(text, look, "Decoded", &value);
	etw_text_done(&value);
}

/* What the reader skipped, place by place, as far as it was kept. */
static void put_findings(struct etw_text *text, const struct report *report,
			 const struct report_look *look)
{
	struct etw_text value = {0};

	for (size_t i = 0; i < report->inputs->count; i++) {
		const struct etw_findings *findings = etw_trace_findings(report->inputs->traces[i]);
		uint32_t shown = findings->kept_count < look->top ? findings->kept_count
								  : (uint32_t)look->top;

		for (uint32_t j = 0; j < shown; j++) {
			const struct etw_finding *finding = &findings->kept[j];

			etw_text_printf(&value, "%s: %s (buffer ",
					etw_finding_kind_name(finding->kind), finding->sentence);
			etw_number_grouped(&value, finding->buffer);
			if (finding->bytes) {
				etw_text_puts(&value, ", ");
				etw_number_bytes(&value, finding->bytes);
			}
			etw_text_putc(&value, ')');
			put_fact(text, look, j ? "" : "Found", &value);
		}
	}
	if (report->schema_damage) {
		etw_number_count(&value, report->schema_damage, "schema");
		etw_text_printf(&value, " inside the trace could not be read: %s",
				report->schema_problem ? report->schema_problem : "damaged");
		put_fact(text, look, "Schemas", &value);
	}
	etw_text_done(&value);
}

const char *report_process_name(const struct etw_process_share *share)
{
	if (share->pid == ETW_PROCESS_NONE)
		return NULL;
	if (share->process && share->process->program->name)
		return share->process->program->name;
	/* What the system itself is called does not need an event. */
	return etw_processes_name(share->of, share->pid, INT64_MIN);
}

static void put_process_rows(struct etw_grid *grid, const struct etw_process_account *account,
			     size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		const struct etw_process_share *share = account->sorted[i];
		const char *name = report_process_name(share);
		struct etw_text *cell;

		if (account->measure != ETW_PROCESS_BY_EVENTS)
			etw_number_duration(etw_grid_cell(grid),
					    (int64_t)etw_process_account_time(account, share));
		etw_number_grouped(etw_grid_cell(grid), share->events);
		cell = etw_grid_cell(grid);
		if (share->pid == ETW_PROCESS_NONE)
			etw_text_putc(cell, '-');
		else
			etw_text_unsigned(cell, share->pid);
		etw_output_clean(etw_grid_cell(grid), share->pid == ETW_PROCESS_NONE
							      ? "threads of unknown processes"
						      : name ? name
							     : "-");
	}
}

static void put_processes(struct etw_text *text, const struct report *report,
			  const struct report_look *look)
{
	static const struct etw_grid_column columns[] = {
		{.title = "CPU time", .is_right = true},
		{.title = "events", .is_right = true},
		{.title = "pid", .is_right = true},
		{.title = "process", .gives_way = true},
	};
	const struct etw_process_account *account = &report->account;
	const char *measure = process_measure_words(account->measure);
	size_t count = account->shares.count, rows = count < look->top ? count : look->top;
	struct etw_text title = {0};
	struct etw_grid grid;

	if (!rows)
		return;
	etw_grid_init(&grid, columns + !measure, ARRAY_SIZE(columns) - !measure);
	if (measure)
		etw_text_printf(&title, "Busiest processes (CPU time by %s)", measure);
	else
		etw_text_puts(&title, "Busiest processes (by events; the trace has no context "
				      "switches or samples)");
	put_title(text, look, etw_text_string(&title));
	etw_text_done(&title);
	put_process_rows(&grid, account, rows);
	etw_grid_print(&grid, look->width, "", "", text);
	if (count > rows)
		etw_text_printf(text, "  ... and %zu more\n", count - rows);
	etw_grid_done(&grid);
}

static void put_providers(struct etw_text *text, const struct report *report,
			  const struct report_look *look)
{
	static const struct etw_grid_column columns[] = {
		{.title = "events", .is_right = true},
		{.title = "share", .is_right = true},
		{.title = "decoded", .is_right = true},
		{.title = "provider", .gives_way = true},
	};
	const struct tally *tally = &report->tally;
	size_t rows = tally->providers.count < look->top ? tally->providers.count : look->top;
	struct etw_grid grid;

	if (!rows)
		return;
	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	put_title(text, look, "Busiest providers");
	for (size_t i = 0; i < rows; i++) {
		const struct tally_provider *provider = tally->sorted_providers[i];

		etw_number_grouped(etw_grid_cell(&grid), provider->count);
		etw_number_share(etw_grid_cell(&grid), provider->count, tally->count);
		etw_number_share(etw_grid_cell(&grid), provider->statuses[ETW_DECODE_COMPLETE],
				 provider->count);
		tally_provider_write(etw_grid_cell(&grid), provider);
		if (provider->is_classic)
			etw_text_puts(&grid.text, " (classic)");
	}
	etw_grid_print(&grid, look->width, "", "", text);
	if (tally->providers.count > rows)
		etw_text_printf(text, "  ... and %zu more; etw info lists all\n",
				tally->providers.count - rows);
	etw_grid_done(&grid);
}

void report_write(struct etw_text *text, const struct report *report,
		  const struct report_look *look)
{
	struct etw_text advice = {0};

	for (size_t i = 0; i < report->inputs->count; i++) {
		put_file(text, report, look, i);
		if (report->inputs->count > 1)
			etw_text_putc(text, '\n');
	}
	put_totals(text, report, look);
	put_findings(text, report, look);
	put_processes(text, report, look);
	put_providers(text, report, look);
	if (advice_write(&advice, &report->tally, report->inputs, look->top)) {
		put_title(text, look, "What would decode the rest");
		etw_text_append(text, etw_text_string(&advice), advice.bytes);
	}
	etw_text_done(&advice);
	etw_text_putc(text, '\n');
	notes_write(text, &report->notes);
	if (report->loss.events || report->loss.buffers || etw_loss_is_damaged(&report->loss) ||
	    report->loss.unclosed)
		etw_text_puts(text, look->warn);
	etw_loss_write(text, &report->loss);
	etw_text_puts(text, look->plain);
	etw_text_putc(text, '\n');
}
