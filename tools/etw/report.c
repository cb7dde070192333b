/* SPDX-License-Identifier: MIT */
#include "tools/etw/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "decode/format.h"
#include "tools/common/number.h"
#include "tools/common/output.h"
#include "tools/etw/advice.h"
#include "tools/etw/report_io.h"
#include "tools/etw/report_tables.h"

#define LABEL_WIDTH 10

/* Of each, so much that the first screen has room for what else belongs there. */
#define FILES_SHOWN_MAX    4
#define REASONS_SHOWN_MAX  2
#define FINDINGS_SHOWN_MAX 2
/* Blank line, title, names of columns and the line that counts the rest, of two tables; the pager's own line. */
#define TABLES_FRAME_LINES 9
#define TABLES_LINES_MIN   6

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
	struct etw_text zone = {0};

	put_time_span(text, header->start_ft, end >= header->start_ft ? end : report->last_ft);
	if (has_zone && machine_zone_write(&zone, header))
		etw_text_printf(text, "; machine's zone %s", etw_text_string(&zone));
	etw_text_done(&zone);
	if (!end)
		etw_text_puts(text,
			      " (the session never wrote its end: still running, or crashed)");
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

/* One line a file; of many, those that begin the list. */
static void put_files(struct etw_text *text, const struct report *report,
		      const struct report_look *look)
{
	const struct etw_inputs *inputs = report->inputs;
	struct etw_text value = {0};
	size_t shown = inputs->count > FILES_SHOWN_MAX ? FILES_SHOWN_MAX - 1 : inputs->count;

	for (size_t i = 0; i < shown; i++) {
		const struct etw_etl_header *header = etw_trace_header(inputs->traces[i]);

		etw_output_clean(&value, inputs->paths[i]);
		etw_text_puts(&value, ", ");
		etw_number_bytes(&value, etw_trace_bytes(inputs->traces[i]));
		if (*header->logger_name) {
			etw_text_puts(&value, "; session ");
			etw_output_clean(&value, header->logger_name);
		}
		put_fact(text, look, i ? "" : "File", &value);
	}
	if (shown < inputs->count) {
		etw_text_puts(&value, "... and ");
		etw_number_count(&value, inputs->count - shown, "more file");
		put_fact(text, look, "", &value);
	}
	etw_text_done(&value);
}

/* Of several machines each with the first of its files. */
static void put_machines(struct etw_text *text, const struct report *report,
			 const struct report_look *look)
{
	const struct etw_inputs *inputs = report->inputs;
	struct etw_text value = {0};
	size_t repeated = 0;

	for (size_t i = 0; i < inputs->count; i++)
		repeated += report->machines[i].is_repeated;
	for (size_t i = 0; i < inputs->count; i++) {
		if (report->machines[i].is_repeated)
			continue;
		machine_write(&value, &report->machines[i], etw_trace_header(inputs->traces[i]));
		if (repeated + 1 < inputs->count) {
			etw_text_puts(&value, " (");
			etw_output_clean(&value, inputs->paths[i]);
			etw_text_putc(&value, ')');
		}
		put_fact(text, look, "Machine", &value);
	}
	etw_text_done(&value);
}

/* How the session of a file was set up, and what of its machine is no first question. */
static void put_details(struct etw_text *text, const struct report *report,
			const struct report_look *look, size_t index)
{
	struct etw_trace *trace = report->inputs->traces[index];
	const struct etw_etl_header *header = etw_trace_header(trace);
	const struct machine *machine = &report->machines[index];
	bool is_one = report->inputs->count == 1;
	uint64_t overwritten = machine_overwritten_buffers(header, etw_trace_buffers(trace),
							   /* last_sequence= */ 0);
	struct etw_text value = {0};

	if (!is_one) {
		etw_output_clean(&value, report->inputs->paths[index]);
		put_fact(text, look, "File", &value);
	}
	put_session(&value, header);
	etw_text_puts(&value, "; ");
	etw_number_count(&value, etw_trace_buffers(trace), "buffer");
	if (overwritten) {
		etw_text_puts(&value, ", and ");
		etw_number_grouped(&value, overwritten);
		etw_text_puts(&value, " earlier ones that were overwritten");
	}
	put_fact(text, look, "Session", &value);
	if (!is_one) {
		put_recorded(&value, report, header, /* has_zone= */ !machine->is_repeated);
		put_fact(text, look, "Recorded", &value);
	}
	if (machine->is_repeated) {
		etw_text_done(&value);
		return;
	}
	if (header->boot_ft > 0) {
		put_boot(&value, header);
		put_fact(text, look, "Booted", &value);
	}
	machine_clock_write(&value, header);
	put_fact(text, look, "Clock", &value);
	if (machine->model.bytes || machine->processor.bytes) {
		etw_text_puts(&value, etw_text_string(&machine->model));
		if (value.bytes && machine->processor.bytes)
			etw_text_puts(&value, ", ");
		etw_text_puts(&value, etw_text_string(&machine->processor));
		put_fact(text, look, "Hardware", &value);
	}
	etw_text_done(&value);
}

static void put_when(struct etw_text *text, const struct report *report,
		     const struct report_look *look)
{
	struct etw_text value = {0};

	if (report->inputs->count == 1) {
		put_recorded(&value, report, etw_trace_header(report->inputs->traces[0]),
			     /* has_zone= */ true);
		put_fact(text, look, "Recorded", &value);
	} else if (report->tally.count) {
		put_time_span(&value, report->first_ft, report->last_ft);
		put_fact(text, look, "Recorded", &value);
	}
	etw_text_done(&value);
}

/* Of several files each that tells it, with its name. */
static void put_steal(struct etw_text *text, const struct report *report,
		      const struct report_look *look)
{
	const struct etw_inputs *inputs = report->inputs;
	struct etw_text value = {0};

	for (size_t i = 0; i < inputs->count; i++) {
		if (!account_steal_write(&value, &report->machines[i].account))
			continue;
		if (inputs->count > 1) {
			etw_text_puts(&value, " (");
			etw_output_clean(&value, inputs->paths[i]);
			etw_text_putc(&value, ')');
		}
		put_fact(text, look, "Steal", &value);
	}
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
	etw_text_clear(&value);
	if (advice_reasons_write(&value, tally, REASONS_SHOWN_MAX))
		put_fact(text, look, "Undecoded", &value);
	etw_text_done(&value);
}

static void put_loss(struct etw_text *text, const struct report *report,
		     const struct report_look *look)
{
	struct etw_text value = {0};
	const char *line;

	/* The last line of every command, which begins with "lost: ". */
	etw_loss_write(&value, &report->loss);
	line = etw_text_string(&value) + strcspn(etw_text_string(&value), " ");
	struct etw_text rest = {0};

	etw_text_puts(&rest, line + (*line == ' '));
	if (report->notes.count) {
		etw_text_puts(&rest, "; ");
		etw_number_count(&rest, report->notes.count, "note");
		etw_text_puts(&rest, " at the end");
	}
	put_fact(text, look, "Lost", &rest);
	etw_text_done(&rest);
	etw_text_done(&value);
}

/* What the reader skipped, place by place, as far as it was kept. */
static void put_findings(struct etw_text *text, const struct report *report,
			 const struct report_look *look)
{
	struct etw_text value = {0};

	for (size_t i = 0; i < report->inputs->count; i++) {
		const struct etw_findings *findings = etw_trace_findings(report->inputs->traces[i]);
		size_t limit = look->height ? FINDINGS_SHOWN_MAX : look->top;
		uint32_t shown = findings->kept_count < limit ? findings->kept_count
							      : (uint32_t)limit;

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
		if (shown && shown < findings->kept_count) {
			etw_text_puts(&value, "... and ");
			etw_number_count(&value, findings->kept_count - shown, "more place");
			etw_text_puts(&value, "; etw info lists them");
			put_fact(text, look, "", &value);
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

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/*
 * The two tables that end the first screen share what the facts above them left of it. On a screen that is too
 * small for both they run on.
 */
static void put_tables(struct etw_text *text, const struct report *report,
		       const struct report_look *look)
{
	size_t kinds = report->tally.kinds.count < look->top ? report->tally.kinds.count
							     : look->top;
	size_t processes = report->usage.shares.count < look->top ? report->usage.shares.count
								  : look->top;

	if (look->height) {
		size_t used = count_lines(etw_text_string(text)) + TABLES_FRAME_LINES;
		size_t left = look->height > used + TABLES_LINES_MIN ? look->height - used
								     : TABLES_LINES_MIN;

		if (kinds + processes > left) {
			size_t half = left / 2;

			if (kinds <= half)
				processes = left - kinds;
			else if (processes <= left - half)
				kinds = left - processes;
			else
				kinds = half, processes = left - half;
		}
	}
	report_kinds_write(text, report, look, kinds);
	report_processes_write(text, report, look, processes);
}

static void put_rest(struct etw_text *text, const struct report *report,
		     const struct report_look *look)
{
	struct etw_text advice = {0};

	report_io_write(text, report, look, look->top);
	report_providers_write(text, report, look);
	report_title_write(text, look, "How it was recorded");
	for (size_t i = 0; i < report->inputs->count; i++)
		put_details(text, report, look, i);
	if (advice_write(&advice, &report->tally, report->inputs, report->is_known_used,
			 look->top)) {
		report_title_write(text, look, "What would decode the rest");
		etw_text_append(text, etw_text_string(&advice), advice.bytes);
	}
	etw_text_done(&advice);
}

void report_write(struct etw_text *text, const struct report *report,
		  const struct report_look *look)
{
	/* First which machine, what was lost and what did not decode; then what happened and who was there. */
	put_files(text, report, look);
	put_machines(text, report, look);
	put_when(text, report, look);
	put_steal(text, report, look);
	put_totals(text, report, look);
	put_loss(text, report, look);
	put_findings(text, report, look);
	put_tables(text, report, look);
	put_rest(text, report, look);
	etw_text_putc(text, '\n');
	notes_write(text, &report->notes);
	if (report->loss.events || report->loss.buffers || report->loss.skipped_places ||
	    report->loss.unclosed)
		etw_text_puts(text, look->warn);
	etw_loss_write(text, &report->loss);
	etw_text_puts(text, look->plain);
	etw_text_putc(text, '\n');
}
