/* SPDX-License-Identifier: MIT */
#include "tools/etw/stack_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/macros.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/common/output.h"

#define DEPTH_SHOWN_MAX 40 /* deeper levels are not moved further to the right */
#define MODULES_SHOWN   8
#define FRAMELESS_SHOWN 3 /* modules without frame pointers */
#define HOOK_SAMPLE     0x0F2E
#define HOOK_SWITCH     0x0524

void stack_frame_write(struct etw_text *text, const struct etw_call_name *name)
{
	if (name->kind == STACK_FRAME) {
		etw_output_clean(text, name->module ? name->module : "?");
		etw_text_putc(text, '!');
	}
	if (name->function)
		etw_output_clean(text, name->function);
	else
		etw_text_printf(text, "0x%" PRIx64, name->number);
	if (!name->file)
		return;
	etw_text_puts(text, " (");
	etw_output_clean(text, name->file);
	if (name->line)
		etw_text_printf(text, ":%" PRIu32, name->line);
	etw_text_putc(text, ')');
}

void stack_weight_write(struct etw_text *text, const struct stack_query *query, uint64_t weight)
{
	if (query->by_count)
		etw_number_grouped(text, weight);
	else
		etw_number_duration(text, (int64_t)weight);
}

static const char *weight_title(const struct stack_query *query)
{
	if (query->by_count)
		return "count";
	return query->events == STACK_SAMPLES ? "CPU" : "waited";
}

static void put_title(struct etw_text *text, const struct stack_look *look, const char *title)
{
	etw_text_printf(text, "%s%s%s\n", look->bold, title, look->plain);
}

static void put_more(struct etw_text *text, size_t count, size_t rows)
{
	if (count <= rows)
		return;
	etw_text_puts(text, "  ... and ");
	etw_number_grouped(text, count - rows);
	etw_text_puts(text, " more\n");
}

static void put_share(struct etw_grid *grid, const struct stack_profile *profile, uint64_t weight)
{
	etw_number_share(etw_grid_cell(grid), weight, profile->calls.root.inclusive);
}

int stack_processes_write(struct etw_text *text, struct stack_profile *profile,
			  const struct stack_look *look)
{
	const struct stack_query *query = &profile->query;
	const struct etw_grid_column columns[] = {
		{.title = weight_title(query), .is_right = true},
		{.title = "share", .is_right = true},
		{.title = "events", .is_right = true},
		{.title = "process", .gives_way = true},
	};
	struct etw_call **list;
	struct etw_grid grid;
	size_t count;

	TRY(etw_calls_list(&profile->calls, STACK_PROCESS, ETW_CALLS_INCLUSIVE, &list, &count));
	put_title(text, look, "By process");
	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < count && i < look->rows; i++) {
		stack_weight_write(etw_grid_cell(&grid), query, list[i]->inclusive);
		put_share(&grid, profile, list[i]->inclusive);
		etw_number_grouped(etw_grid_cell(&grid), list[i]->count);
		stack_frame_write(etw_grid_cell(&grid), &list[i]->name);
	}
	etw_grid_print(&grid, look->width, look->bold, look->plain, text);
	etw_grid_done(&grid);
	put_more(text, count, look->rows);
	etw_text_putc(text, '\n');
	return 0;
}

int stack_functions_write(struct etw_text *text, struct stack_profile *profile,
			  const struct stack_look *look)
{
	static const struct etw_grid_column columns[] = {
		{.title = "itself", .is_right = true},       {.title = "share", .is_right = true},
		{.title = "with callees", .is_right = true}, {.title = "share", .is_right = true},
		{.title = "function", .gives_way = true},
	};
	const struct stack_query *query = &profile->query;
	struct etw_call **list;
	struct etw_grid grid;
	size_t count;

	TRY(etw_calls_list(&profile->calls, STACK_FRAME, ETW_CALLS_EXCLUSIVE, &list, &count));
	if (!count)
		return 0;
	put_title(text, look, "By function");
	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < count && i < look->rows; i++) {
		stack_weight_write(etw_grid_cell(&grid), query, list[i]->exclusive);
		put_share(&grid, profile, list[i]->exclusive);
		stack_weight_write(etw_grid_cell(&grid), query, list[i]->inclusive);
		put_share(&grid, profile, list[i]->inclusive);
		stack_frame_write(etw_grid_cell(&grid), &list[i]->name);
	}
	etw_grid_print(&grid, look->width, look->bold, look->plain, text);
	etw_grid_done(&grid);
	put_more(text, count, look->rows);
	etw_text_putc(text, '\n');
	return 0;
}

static bool is_shown(const struct etw_calls *calls, const struct etw_call_node *node,
		     const struct stack_look *look)
{
	return (unsigned __int128)node->inclusive * 1000 >=
	       (unsigned __int128)calls->root.inclusive * look->least_permille;
}

void stack_tree_write(struct etw_text *text, const struct stack_query *query,
		      const struct etw_calls *calls, const struct stack_look *look,
		      const char *title)
{
	const struct etw_grid_column columns[] = {
		{.title = "share", .is_right = true},
		{.title = weight_title(query), .is_right = true},
		{.title = "itself", .is_right = true},
		{.title = "", .gives_way = true},
	};
	const struct etw_call_node *node = calls->root.first;
	size_t depth = 0, left = 0, shown = 0;
	struct etw_grid grid;

	put_title(text, look, title);
	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	while (node) {
		const bool wanted = is_shown(calls, node, look) && shown < look->rows;
		struct etw_text *cell;

		if (wanted) {
			etw_number_share(etw_grid_cell(&grid), node->inclusive,
					 calls->root.inclusive);
			stack_weight_write(etw_grid_cell(&grid), query, node->inclusive);
			cell = etw_grid_cell(&grid);
			if (node->exclusive)
				stack_weight_write(cell, query, node->exclusive);
			cell = etw_grid_cell(&grid);
			for (size_t i = 0; i < depth && i < DEPTH_SHOWN_MAX; i++)
				etw_text_putc(cell, ' ');
			stack_frame_write(cell, &node->call->name);
			shown++;
		} else {
			left++;
		}
		node = etw_call_node_next(&calls->root, node, /* skip= */ !wanted, &depth);
	}
	etw_grid_print(&grid, look->width, look->bold, look->plain, text);
	etw_grid_done(&grid);
	if (left) {
		etw_text_puts(text, "  ... and ");
		etw_number_grouped(text, left);
		etw_text_puts(text, left == 1 ? " smaller branch\n" : " smaller branches\n");
	}
	etw_text_putc(text, '\n');
}

static const char *const event_nouns[] = {
	[STACK_SAMPLES] = "profile sample",
	[STACK_SWITCHES] = "switch-in",
	[STACK_OTHERS] = "event",
};

/* "  12 stacks do not reach ...": a line; nothing where there is none. */
static void put_line(struct etw_text *text, uint64_t count, const char *noun, const char *what)
{
	if (!count)
		return;
	etw_text_puts(text, "  ");
	etw_number_count(text, count, noun);
	etw_text_printf(text, " %s\n", what);
}

/* Of how many events there is one. */
static uint64_t stack_count(const struct stack_counts *counts)
{
	return counts->events - counts->fates[ETW_STACK_NONE] - counts->fates[ETW_STACK_UNDEFINED];
}

void stack_frameless_write(struct etw_text *text, const struct stack_profile *profile)
{
	const struct stack_counts *counts = &profile->counts;

	if (!counts->frameless)
		return;
	etw_text_puts(text, "  ");
	etw_number_grouped(text, counts->frameless);
	etw_text_puts(text, " of ");
	etw_number_count(text, stack_count(counts), "stack");
	etw_text_puts(text, counts->frameless == 1 ? " lacks" : " lack");
	etw_text_puts(text, " callers, for want of frame pointers in ");
	for (size_t i = 0; i < profile->frameless_count && i < FRAMELESS_SHOWN; i++) {
		etw_text_puts(text, i ? ", " : "");
		etw_output_clean(text, profile->frameless[i].module->name);
		etw_text_puts(text, " (");
		etw_number_grouped(text, profile->frameless[i].stacks);
		etw_text_putc(text, ')');
	}
	if (profile->frameless_count > FRAMELESS_SHOWN)
		etw_text_puts(text, " and others");
	etw_text_puts(text, "; etw record --unwind dwarf finds them\n");
}

/* Why the recorder had none, as far as the traces tell it: of all events of the kind, whichever were asked about. */
static void put_reasons(struct etw_text *text, const struct stack_profile *profile)
{
	static const uint16_t hooks[] = {
		[STACK_SAMPLES] = HOOK_SAMPLE, [STACK_SWITCHES] = HOOK_SWITCH, [STACK_OTHERS] = 0};
	CLEANUP(etw_text_done) struct etw_text reasons = {0};

	for (size_t i = 0; i < profile->inputs->count; i++) {
		if (account_reasons_write(&reasons, &profile->accounts[i],
					  hooks[profile->query.events]))
			etw_text_printf(text, "  recorded without a stack: %s\n",
					etw_text_string(&reasons));
		etw_text_clear(&reasons);
	}
}

static void put_steal(struct etw_text *text, const struct stack_profile *profile)
{
	CLEANUP(etw_text_done) struct etw_text steal = {0};

	for (size_t i = 0; i < profile->inputs->count; i++) {
		if (account_steal_write(&steal, &profile->accounts[i]))
			etw_text_printf(text, "steal: %s\n", etw_text_string(&steal));
		etw_text_clear(&steal);
	}
}

static void put_stacks(struct etw_text *text, const struct stack_profile *profile)
{
	const struct stack_counts *counts = &profile->counts;
	const uint64_t none = counts->fates[ETW_STACK_NONE] + counts->fates[ETW_STACK_UNDEFINED];

	etw_number_count(text, counts->events, event_nouns[profile->query.events]);
	if (profile->query.events == STACK_SAMPLES && !profile->query.by_count) {
		etw_text_puts(text, " of ");
		etw_number_duration(text, profile->sample_ft);
	}
	etw_text_puts(text, ": ");
	etw_number_grouped(text, stack_count(counts));
	etw_text_puts(text, " with a stack, ");
	etw_number_grouped(text, none);
	etw_text_puts(text, " without\n");
	put_line(text, counts->fates[ETW_STACK_NONE], "event",
		 "without a stack: none was recorded for them");
	put_reasons(text, profile);
	put_line(text, counts->fates[ETW_STACK_UNDEFINED], "event",
		 "without a stack: its cached frames never came");
	put_line(text, counts->fates[ETW_STACK_KERNEL_ONLY], "stack",
		 "without the half in the process, which never came");
	put_line(text, counts->broken, "stack",
		 "marked BROKEN: the frames end before where a thread begins");
	stack_frameless_write(text, profile);
	put_line(text, counts->cut, "stack", "not kept whole: there are too many");
	put_line(text, counts->idle, "sample", "of idle processors, not counted");
	put_line(text, counts->without_wait, "switch-in",
		 "not counted: the thread had not been waiting, or since before the trace");
}

static uint64_t lacking(const struct etw_symbol_module *module)
{
	return module->asked > module->named ? module->asked - module->named : 0;
}

static int compare_modules(const void *left_at, const void *right_at)
{
	const struct etw_symbol_module *left = *(const struct etw_symbol_module *const *)left_at;
	const struct etw_symbol_module *right = *(const struct etw_symbol_module *const *)right_at;
	const uint64_t a = lacking(left), b = lacking(right);

	return a != b ? (a > b ? -1 : 1) : left < right ? -1 : left > right;
}

/* Those of which addresses have no names, and what would help. */
static void put_modules(struct etw_text *text, const struct etw_symbols *symbols,
			const struct stack_look *look)
{
	const size_t count = etw_symbols_module_count(symbols);
	CLEANUP(freep)
	const struct etw_symbol_module **list = calloc(count + 1,
						       sizeof(struct etw_symbol_module *));
	size_t found = 0;

	if (!list) {
		text->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct etw_symbol_module *module = etw_symbols_module_at(symbols, i);

		if (lacking(module))
			list[found++] = module;
	}
	if (!found)
		return;
	qsort(list, found, sizeof(struct etw_symbol_module *), compare_modules);
	put_title(text, look, "Without names");
	for (size_t i = 0; i < found && i < MODULES_SHOWN; i++) {
		etw_text_puts(text, "  ");
		etw_output_clean(text,
				 list[i]->name && *list[i]->name ? list[i]->name : "(no name)");
		etw_text_puts(text, ": ");
		etw_number_grouped(text, lacking(list[i]));
		etw_text_puts(text, " of ");
		etw_number_grouped(text, list[i]->asked);
		etw_text_puts(text, list[i]->asked == 1 ? " address" : " addresses");
		if (list[i]->reason != ETW_SYMBOL_OK)
			etw_text_printf(text, "; %s", etw_symbol_reason_sentence(list[i]->reason));
		etw_text_putc(text, '\n');
	}
	put_more(text, found, MODULES_SHOWN);
	etw_text_putc(text, '\n');
}

void stack_end_write(struct etw_text *text, const struct stack_profile *profile,
		     const struct stack_look *look)
{
	for (size_t i = 0; i < profile->machines; i++)
		put_modules(text, profile->symbols[i], look);
	put_stacks(text, profile);
	put_steal(text, profile);
}
