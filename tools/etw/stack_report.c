/* SPDX-License-Identifier: MIT */
#include "tools/etw/stack_report.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/common/output.h"
#include "tools/etw/stack_profile.h"
#include "tools/etw/stack_text.h"

#define PROCESSES_SHOWN 5
#define FUNCTIONS_SHOWN 10
#define CALLERS_SHOWN   3  /* one above the other */
#define LEAST_FRAMELESS 50 /* one stack of so many */

static bool is_hot(const struct etw_call *call, struct etw_call *const *hot, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (hot[i] == call)
			return true;
	}
	return false;
}

/*
 * From each function that took time itself, those that led there: functions only, and none behind an address that lies in no
 * module. Code without frame pointers leaves anything in their place, and a caller that is none is worse than none.
 */
static int add_callers(struct etw_calls *callers, const struct etw_call_node *node)
{
	const uint64_t weight = node->exclusive;
	struct etw_call *path[1 + CALLERS_SHOWN];
	size_t levels = 0;

	for (; levels < ARRAY_SIZE(path) && node->call && node->call->name.kind == STACK_FRAME &&
	       (!levels || node->call->name.module);
	     node = node->parent)
		TRY(etw_calls_name(callers, &node->call->name, &path[levels++]));
	return etw_calls_add(callers, path, levels, weight, 1);
}

static int gather_callers(const struct etw_calls *calls, struct etw_call *const *hot, size_t count,
			  struct etw_calls *ret)
{
	const struct etw_call_node *node = calls->root.first;
	size_t depth = 0;

	for (; node; node = etw_call_node_next(&calls->root, node, /* skip= */ false, &depth)) {
		if (node->exclusive && is_hot(node->call, hot, count))
			TRY(add_callers(ret, node));
	}
	return etw_calls_sum(ret);
}

/* "main < start (75%)": the way that most of a function's time came by. */
static void put_callers(struct etw_text *text, const struct etw_calls *callers,
			const struct etw_call *function)
{
	const struct etw_call_node *node = callers->root.first;
	uint64_t weight = 0;

	while (node && etw_call_compare(&node->call->name, &function->name) != 0)
		node = node->next;
	if (!node || !node->first)
		return;
	for (const struct etw_call_node *at = node->first; at; at = at->first) {
		etw_text_puts(text, weight ? " < " : "");
		if (at->call->name.function)
			etw_output_clean(text, at->call->name.function);
		else
			stack_frame_write(text, &at->call->name);
		weight = at->inclusive;
	}
	if (weight == node->inclusive)
		return;
	etw_text_puts(text, " (");
	etw_number_share(text, weight, node->inclusive);
	etw_text_putc(text, ')');
}

static int put_functions(struct etw_text *text, struct stack_profile *profile,
			 const struct stack_report *report)
{
	static const struct etw_grid_column columns[] = {
		{.title = "CPU", .is_right = true},
		{.title = "share", .is_right = true},
		{.title = "function itself"},
		{.title = "called by", .gives_way = true},
	};
	CLEANUP(etw_calls_done) struct etw_calls callers = {0};
	struct etw_call **list;
	struct etw_grid grid;
	size_t count;

	TRY(etw_calls_list(&profile->calls, STACK_FRAME, ETW_CALLS_EXCLUSIVE, &list, &count));
	count = count < FUNCTIONS_SHOWN ? count : FUNCTIONS_SHOWN;
	TRY(gather_callers(&profile->calls, list, count, &callers));
	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < count && list[i]->exclusive; i++) {
		stack_weight_write(etw_grid_cell(&grid), &profile->query, list[i]->exclusive);
		etw_number_share(etw_grid_cell(&grid), list[i]->exclusive,
				 profile->calls.root.inclusive);
		stack_frame_write(etw_grid_cell(&grid), &list[i]->name);
		put_callers(etw_grid_cell(&grid), &callers, list[i]);
	}
	etw_grid_print(&grid, report->width, report->bold, report->plain, text);
	etw_grid_done(&grid);
	return 0;
}

/* Processes in a line: "cc1 (12) 45.0%, as (13) 5.1%, ... and 3 more". */
static int put_processes(struct etw_text *text, struct stack_profile *profile)
{
	struct etw_call **list;
	size_t count;

	TRY(etw_calls_list(&profile->calls, STACK_PROCESS, ETW_CALLS_INCLUSIVE, &list, &count));
	etw_text_puts(text, "  by process: ");
	for (size_t i = 0; i < count && i < PROCESSES_SHOWN; i++) {
		etw_text_puts(text, i ? ", " : "");
		stack_frame_write(text, &list[i]->name);
		etw_text_putc(text, ' ');
		etw_number_share(text, list[i]->inclusive, profile->calls.root.inclusive);
	}
	if (count > PROCESSES_SHOWN)
		etw_text_printf(text, ", ... and %zu more", count - PROCESSES_SHOWN);
	etw_text_putc(text, '\n');
	return 0;
}

static int put_all(struct etw_text *text, struct stack_profile *profile,
		   const struct stack_report *report)
{
	const uint64_t events = profile->counts.events;
	const uint64_t none = profile->counts.fates[ETW_STACK_NONE] +
			      profile->counts.fates[ETW_STACK_UNDEFINED];

	if (!events)
		return 0;
	etw_text_printf(text, "%sWhere %s CPU time went%s (", report->bold, report->whose,
			report->plain);
	etw_number_count(text, events, "profile sample");
	etw_text_puts(text, ": ");
	etw_number_duration(text, (int64_t)profile->calls.root.inclusive);
	if (none) {
		etw_text_puts(text, "; ");
		etw_number_grouped(text, none);
		etw_text_puts(text, " of them without a stack");
	}
	etw_text_puts(text, ")\n");
	TRY(put_processes(text, profile));
	TRY(put_functions(text, profile, report));
	/* Ends of functions have no frame in any program: a few of them are not worth a line here. */
	if (profile->counts.frameless * LEAST_FRAMELESS >= events)
		stack_frameless_write(text, profile);
	etw_text_puts(text, "  etw stacks shows more: the tree of calls, callers, waits\n\n");
	return 0;
}

int stack_report_write(struct etw_text *text, const struct stack_report *report)
{
	CLEANUP(stack_profile_done)
	struct stack_profile profile = {
		.query = {.events = STACK_SAMPLES,
			  .wants_process = report->wants_process,
			  .wants_context = report->wants_context,
			  .from_ft = INT64_MIN,
			  .to_ft = INT64_MAX},
		.inputs = report->inputs,
		.store = report->store,
		.decoder = report->decoder,
	};
	int result = stack_profile_gather(&profile);

	return result ? result : put_all(text, &profile, report);
}
