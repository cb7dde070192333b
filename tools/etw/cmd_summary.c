/* SPDX-License-Identifier: MIT */
/* `etw FILE`: what is in a trace, on one page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/number.h"
#include "tools/common/options.h"
#include "tools/common/output.h"
#include "tools/common/program.h"
#include "tools/etw/cmd.h"
#include "tools/etw/page.h"

#define DEFAULT_TOP 10 /* and no more in the first screen than fit */

enum {
	OPTION_TOP = ETW_OPTION_OWN,
	OPTION_FILTER,
	OPTION_JSON,
};

static const struct option options[] = {
	ETW_SHARED_OPTIONS,
	{"top", required_argument, NULL, OPTION_TOP},
	{"filter", required_argument, NULL, OPTION_FILTER},
	{"json", no_argument, NULL, OPTION_JSON},
	{NULL, 0, NULL, 0},
};

struct summary {
	struct etw_shared_options shared;
	uint64_t top;
	bool is_json;
	struct filter filter;
	bool has_top; /* --top was given: so many rows, whatever the screen has */
	struct page page;
};

static void summary_done(struct summary *summary)
{
	etw_words_done(&summary->shared.manifests);
	filter_done(&summary->filter);
	page_done(&summary->page);
}

static bool take_option(void *context, int code)
{
	struct summary *summary = context;

	if (code == OPTION_JSON) {
		summary->is_json = true;
		return true;
	}
	if (code == OPTION_FILTER) {
		if (!etw_words_add(&summary->filter.expressions, optarg))
			return true;
		etw_program_message("out of memory");
		return false;
	}
	summary->has_top = true;
	if (etw_number_parse(optarg, UINT32_MAX, &summary->top))
		return true;
	etw_program_message("--top wants a number, not \"%s\"", optarg);
	return false;
}

static int print(const struct summary *summary)
{
	bool has_colour = etw_colour_wanted(STDOUT_FILENO, summary->shared.colour);
	const struct report_look look = {
		.width = etw_terminal_width(STDOUT_FILENO),
		.height = summary->has_top ? 0 : etw_terminal_height(STDOUT_FILENO),
		.top = (size_t)summary->top,
		.bold = has_colour ? "\033[1m" : "",
		.warn = has_colour ? "\033[1;31m" : "",
		.plain = has_colour ? "\033[0m" : "",
	};
	struct etw_output output = {0};
	int result;

	if (!summary->shared.no_pager && !summary->is_json)
		(void)etw_pager_start();
	result = etw_output_open(NULL, &output);
	if (!result) {
		if (summary->is_json)
			report_write_json(&output.text, &summary->page.report);
		else
			report_write(&output.text, &summary->page.report, &look);
		result = etw_output_flush(&output);
	}
	etw_pager_wait();
	result = etw_output_tell(&output, result);
	etw_output_done(&output);
	if (result != ETW_EXIT_OK)
		return result;
	return etw_loss_is_damaged(&summary->page.report.loss) ? ETW_EXIT_DAMAGED : ETW_EXIT_OK;
}

static int run(int argc, char **argv)
{
	CLEANUP(summary_done) struct summary summary = {.top = DEFAULT_TOP};
	int status = etw_verb_parse(&etw_verb_summary, argc, argv, &summary.shared, &summary);

	if (status != ETW_VERB_GOES_ON)
		return status;
	if (!filter_prepare(&summary.filter, true))
		return ETW_EXIT_USAGE;
	if (!filter_is_empty(&summary.filter))
		summary.page.filter = &summary.filter;
	if (page_open(&summary.page, argv + optind, (size_t)(argc - optind), &summary.shared) ||
	    page_gather(&summary.page))
		return ETW_EXIT_FAILED;
	if (summary.page.filter && !summary.page.report.tally.count)
		etw_program_message("no event in the trace matches --filter");
	return print(&summary);
}

const struct etw_verb etw_verb_summary = {
	.name = "summary",
	.arguments = "FILE...",
	.one_line = "machine, session, loss, busiest processes and providers",
	.help = "  --top N             rows of each table (10, or as many as the first screen has\n"
		"                      room for)\n"
		"  --json              everything as one JSON object, with all rows\n"
		"  --filter EXPR       count only events of which this is true; may be repeated.\n"
		"                      etw-dump(1) says what can be written\n" ETW_SHARED_HELP
		"\nExamples:\n"
		"  etw trace.etl\n"
		"  etw summary --manifest Contoso.man kernel.etl user.etl\n",
	.run = run,
	.options = options,
	.take = take_option,
	.wants_file = true,
};
