/* SPDX-License-Identifier: MIT */
/* `etw FILE`: what is in a trace, on one page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "tools/common/inputs.h"
#include "tools/common/number.h"
#include "tools/common/options.h"
#include "tools/common/output.h"
#include "tools/common/program.h"
#include "tools/etw/report.h"
#include "tools/etw/verb.h"

#define DEFAULT_TOP 10

enum {
	OPTION_TOP = ETW_OPTION_OWN,
};

static const struct option options[] = {
	ETW_SHARED_OPTIONS,
	{"top", required_argument, NULL, OPTION_TOP},
	{NULL, 0, NULL, 0},
};

struct summary {
	struct etw_shared_options shared;
	uint64_t top;
	struct etw_inputs inputs;
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_progress progress;
	struct report report;
	uint64_t loss_marks;
};

static void summary_done(struct summary *summary)
{
	etw_words_done(&summary->shared.manifests);
	for (size_t i = 0; summary->report.machines && i < summary->inputs.count; i++)
		machine_done(&summary->report.machines[i]);
	free(summary->report.machines);
	etw_inputs_done(&summary->inputs);
	processes_done(&summary->report.processes);
	tally_done(&summary->report.tally);
	etw_decoder_free(summary->decoder);
	etw_schema_store_free(summary->store);
}

static bool parse(struct summary *summary, int argc, char **argv)
{
	int code;

	opterr = 0;
	while ((code = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (code == '?' || code == ':') {
			if (!strcmp(argv[optind - 1], "--json"))
				etw_program_error("the summary is for people; for programs there "
						  "are etw info --json and etw dump --json");
			else
				etw_options_complain(code, argv, options);
			return false;
		}
		if (code == OPTION_TOP) {
			if (!etw_number_parse(optarg, UINT32_MAX, &summary->top)) {
				etw_program_error("--top wants a number, not \"%s\"", optarg);
				return false;
			}
		} else if (!etw_shared_option_take(&summary->shared, code)) {
			return false;
		}
	}
	if (!summary->shared.help && optind == argc) {
		etw_program_error("summary wants a file; see etw help summary");
		return false;
	}
	return true;
}

static int take_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct summary *summary = context;
	struct report *report = &summary->report;
	int64_t time = record->EventHeader.TimeStamp.QuadPart;
	struct etw_decoding decoding;

	if (UNLIKELY(address.offset == UINT32_MAX)) {
		summary->loss_marks++;
		return 0;
	}
	TRY(etw_decoder_run(summary->decoder, record, &decoding));
	if (!report->tally.count)
		report->first_ft = time;
	report->last_ft = time;
	machine_add(&report->machines[trace], &decoding);
	TRY(processes_add(&report->processes, &decoding, GetEventProcessorIndex(record)));
	return tally_add(&report->tally, &decoding);
}

static int take_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct summary *summary = context;

	(void)trace;
	(void)buffer;
	etw_progress_add(&summary->progress, 1);
	return 0;
}

/* Each machine keeps what all of its traces say, at the first of them. */
static void unite_machines(const struct summary *summary)
{
	struct machine *machines = summary->report.machines;

	for (size_t i = 1; i < summary->inputs.count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (!machines[j].is_repeated &&
			    machine_unite(&machines[j], etw_trace_header(summary->inputs.traces[j]),
					  &machines[i],
					  etw_trace_header(summary->inputs.traces[i])))
				break;
		}
	}
}

/* Both passes, then what follows from them. */
static int gather(struct summary *summary)
{
	const struct etw_trace_sink sink = {.context = summary,
					    .event = take_event,
					    .buffer = take_buffer,
					    .from_ft = INT64_MIN,
					    .to_ft = INT64_MAX};
	struct report *report = &summary->report;
	struct etw_fault fault = {0};
	int result = etw_inputs_learn(&summary->inputs, summary->store);

	if (result)
		return result;
	etw_progress_start(&summary->progress, "Reading events", summary->inputs.buffers);
	result = etw_trace_process(summary->inputs.traces, summary->inputs.count, &sink);
	etw_progress_end(&summary->progress);
	if (!result)
		result = tally_sort(&report->tally, summary->store);
	if (!result)
		result = processes_sort(&report->processes);
	if (result) {
		etw_inputs_error(&summary->inputs, result);
		return result;
	}
	unite_machines(summary);
	report->inputs = &summary->inputs;
	report->loss = etw_loss_of(&summary->inputs, summary->loss_marks);
	report->schema_damage = etw_schema_store_damage(summary->store, &fault);
	report->schema_problem = fault.sentence;
	return 0;
}

static int print(const struct summary *summary)
{
	bool has_colour = etw_colour_wanted(summary->shared.colour);
	const struct report_look look = {
		.width = etw_terminal_width(),
		.top = (size_t)summary->top,
		.bold = has_colour ? "\033[1m" : "",
		.warn = has_colour ? "\033[1;31m" : "",
		.plain = has_colour ? "\033[0m" : "",
	};
	struct etw_output output;
	int result;

	if (!summary->shared.no_pager)
		(void)etw_pager_start();
	result = etw_output_open(NULL, &output);
	if (!result) {
		report_write(&output.text, &summary->report, &look);
		result = etw_output_flush(&output);
		etw_output_done(&output);
	}
	etw_pager_wait();
	if (result && result != ETW_OUTPUT_CLOSED) {
		etw_program_error("cannot write: %s", strerror(-result));
		return ETW_EXIT_FAILED;
	}
	return etw_loss_is_damaged(&summary->report.loss) ? ETW_EXIT_DAMAGED : ETW_EXIT_OK;
}

static int run(int argc, char **argv)
{
	CLEANUP(summary_done) struct summary summary = {.top = DEFAULT_TOP};

	if (!parse(&summary, argc, argv))
		return ETW_EXIT_USAGE;
	if (summary.shared.help) {
		etw_verb_help_print(&etw_verb_summary);
		return ETW_EXIT_OK;
	}
	if (etw_inputs_open(argv + optind, (size_t)(argc - optind), &summary.inputs))
		return ETW_EXIT_FAILED;
	summary.report.machines = calloc(summary.inputs.count, sizeof(struct machine));
	if (!summary.report.machines || etw_schema_store_create(&summary.store) ||
	    etw_decoder_create(summary.store, &summary.decoder)) {
		etw_program_error("out of memory");
		return ETW_EXIT_FAILED;
	}
	if (etw_shared_manifests_load(&summary.shared, summary.store) || gather(&summary))
		return ETW_EXIT_FAILED;
	return print(&summary);
}

const struct etw_verb etw_verb_summary = {
	.name = "summary",
	.arguments = "FILE...",
	.one_line = "machine, session, loss, busiest processes and providers",
	.help = "  --top N             rows of each table (10)\n" ETW_SHARED_HELP "\nExamples:\n"
		"  etw trace.etl\n"
		"  etw summary --manifest Contoso.man kernel.etl user.etl\n",
	.run = run,
};
