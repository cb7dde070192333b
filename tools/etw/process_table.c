/* SPDX-License-Identifier: MIT */
#include "tools/etw/process_table.h"

#include <sys/wait.h>

#include "base/macros.h"
#include "base/time.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/common/output.h"

#define DEPTH_SHOWN_MAX 40          /* deeper ones are not moved further to the right */
#define STATUS_ERROR    0x80000000u /* NTSTATUS from here on, which people know in hexadecimal */

const char *process_measure_words(enum etw_process_measure measure)
{
	static const char *const words[ETW_PROCESS_MEASURES] = {
		[ETW_PROCESS_BY_TICKS] = "what ended threads had used",
		[ETW_PROCESS_BY_SAMPLES] = "profile samples",
		[ETW_PROCESS_BY_SWITCHES] = "context switches",
	};

	return words[measure];
}

/* "0", "signal 9", "0xC0000005", "still running", "end not seen". */
static void put_status(struct etw_text *text, const struct etw_process *process)
{
	int status = (int)process->exit_status;

	if (!process->has_end)
		etw_text_puts(text, process->is_seen_at_end ? "still running" : "end not seen");
	else if (!process->has_exit_status)
		etw_text_putc(text, '-');
	else if (process->is_linux && WIFSIGNALED(status))
		etw_text_printf(text, "signal %d", WTERMSIG(status));
	else if (process->is_linux)
		etw_text_printf(text, "%d", WEXITSTATUS(status));
	else if (process->exit_status >= STATUS_ERROR)
		etw_text_printf(text, "0x%08X", process->exit_status);
	else
		etw_text_unsigned(text, process->exit_status);
}

/* The command line, or the program's name in brackets where there is none. */
static void put_command(struct etw_text *text, const struct etw_process *process)
{
	const struct etw_process_program *program = process->program;

	if (program->command_line) {
		etw_output_clean(text, program->command_line);
		return;
	}
	etw_text_putc(text, '[');
	etw_output_clean(text, program->path   ? program->path
			       : program->name ? program->name
					       : "unknown");
	etw_text_putc(text, ']');
}

static void put_start(struct etw_text *text, const struct process_table *table,
		      const struct etw_process *process)
{
	if (!process->has_start) {
		etw_text_puts(text, "before");
		return;
	}
	etw_text_putc(text, '+');
	etw_number_duration(text, etw_filetime_between(table->start_ft, process->start_ft));
}

/* The first program that a process took in the trace; NULL: none. */
static const struct etw_process_program *first_taken(const struct etw_process *process)
{
	const struct etw_process_program *program = process->program;

	while (program->before && program->before->before)
		program = program->before;
	return program->before ? program : NULL;
}

/* Returns whether the trace has it. */
static bool find_begin(const struct process_table *table, const struct etw_process *process,
		       int64_t *ret_ft)
{
	const struct etw_process_program *taken = NULL;

	if (table->is_prepared && process == table->root->process)
		taken = first_taken(process);
	*ret_ft = taken && !process->has_start ? taken->from_ft : process->start_ft;
	return taken || process->has_start;
}

static void put_duration(struct etw_text *text, const struct process_table *table,
			 const struct etw_process *process)
{
	int64_t begin_ft;

	if (process->has_end && find_begin(table, process, &begin_ft))
		etw_number_duration(text, etw_filetime_between(begin_ft, process->end_ft));
	else
		etw_text_putc(text, '-');
}

static void put_cpu_time(struct etw_text *text, const struct etw_process_usage *usage,
			 const struct etw_process *process, const struct etw_process_share *share)
{
	const int64_t time_ft = share ? (int64_t)etw_process_usage_time(usage, share) : 0;

	/* Threads tell when they end. */
	if (!time_ft && usage->measure == ETW_PROCESS_BY_TICKS && !process->has_end)
		etw_text_putc(text, '-');
	else
		etw_number_duration(text, time_ft);
}

static void put_row(struct etw_grid *grid, const struct process_table *table,
		    const struct etw_process *process, size_t depth)
{
	const struct etw_process_share *share = etw_process_usage_find(table->usage,
								       table->processes, process);
	struct etw_text *cell;

	if (table->has_start)
		put_start(etw_grid_cell(grid), table, process);
	put_duration(etw_grid_cell(grid), table, process);
	if (table->usage->measure != ETW_PROCESS_BY_EVENTS)
		put_cpu_time(etw_grid_cell(grid), table->usage, process, share);
	put_status(etw_grid_cell(grid), process);
	etw_text_unsigned(etw_grid_cell(grid), process->pid);
	cell = etw_grid_cell(grid);
	if (process->parent_pid == ETW_PROCESS_NONE)
		etw_text_putc(cell, '-');
	else
		etw_text_unsigned(cell, process->parent_pid);
	cell = etw_grid_cell(grid);
	for (size_t i = 0; i < depth && i < DEPTH_SHOWN_MAX; i++)
		etw_text_puts(cell, "  ");
	put_command(cell, process);
}

void process_table_write(struct etw_text *text, const struct process_table *table)
{
	static const struct etw_grid_column all[] = {
		{.title = "start", .is_right = true},    {.title = "duration", .is_right = true},
		{.title = "CPU", .is_right = true},      {.title = "exit", .is_right = true},
		{.title = "pid", .is_right = true},      {.title = "parent", .is_right = true},
		{.title = "process", .gives_way = true},
	};
	struct etw_grid_column columns[ARRAY_SIZE(all)];
	const struct etw_process_node *node = table->root ? table->root : table->first;
	size_t shown = 0, left = 0, depth = 0, count = 0;
	struct etw_grid grid;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if ((i != 0 || table->has_start) &&
		    (i != 2 || table->usage->measure != ETW_PROCESS_BY_EVENTS))
			columns[count++] = all[i];
	}
	etw_grid_init(&grid, columns, count);
	for (; node; node = etw_process_tree_next(table->root, node, &depth)) {
		if (shown < table->rows) {
			put_row(&grid, table, node->process, depth);
			shown++;
		} else {
			left++;
		}
	}
	etw_grid_print(&grid, table->width, table->bold, table->plain, text);
	if (left)
		etw_text_printf(text, "  ... and %zu more\n", left);
	etw_grid_done(&grid);
}
