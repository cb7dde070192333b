/* SPDX-License-Identifier: MIT */
/* `etw processes`: the processes that a trace tells of, as a tree. */
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "tools/common/number.h"
#include "tools/common/output.h"
#include "tools/common/program.h"
#include "tools/etw/cmd.h"
#include "tools/etw/page.h"
#include "tools/etw/process_json.h"
#include "tools/etw/process_table.h"

enum {
	OPTION_JSON = ETW_OPTION_OWN,
};

static const struct option options[] = {
	ETW_SHARED_OPTIONS,
	{"json", no_argument, NULL, OPTION_JSON},
	{NULL, 0, NULL, 0},
};

struct command {
	struct etw_shared_options shared;
	bool is_json;
	struct page page;
	struct etw_output output;
};

static void command_done(struct command *command)
{
	etw_words_done(&command->shared.manifests);
	etw_output_done(&command->output);
	page_done(&command->page);
}

static bool take_option(void *context, int code)
{
	struct command *command = context;

	if (code != OPTION_JSON)
		return false;
	command->is_json = true;
	return true;
}

/* Which files a machine's processes come from, where there are several machines. */
static void put_machine(struct command *command, size_t machine)
{
	const struct etw_inputs *inputs = &command->page.inputs;
	struct etw_text *text = &command->output.text;
	const char *before = "";

	etw_text_puts(text, machine ? "\n" : "");
	for (size_t i = 0; i < inputs->count; i++) {
		if (inputs->processes.of_trace[i] != inputs->processes.machines[machine])
			continue;
		etw_text_puts(text, before);
		etw_output_clean(text, inputs->paths[i]);
		before = ", ";
	}
	etw_text_putc(text, '\n');
}

static void put_table(struct command *command, const struct etw_processes *processes,
		      const struct etw_process_tree *tree)
{
	const struct etw_process_usage *usage = &command->page.report.usage;
	struct etw_text *text = &command->output.text;
	const bool has_colour = etw_colour_wanted(STDOUT_FILENO, command->shared.colour);
	const char *measure = process_measure_words(usage->measure);
	const struct process_table table = {
		.processes = processes,
		.usage = usage,
		.first = tree->first,
		.start_ft = etw_inputs_start(&command->page.inputs),
		.has_start = true,
		.rows = SIZE_MAX,
		/* Command lines are what it is about: only a terminal cuts them. */
		.width = isatty(STDOUT_FILENO) ? etw_terminal_width(STDOUT_FILENO) : 0,
		.bold = has_colour ? "\033[1m" : "",
		.plain = has_colour ? "\033[0m" : "",
	};

	process_table_write(text, &table);
	etw_text_putc(text, '\n');
	etw_number_grouped(text, tree->count);
	etw_text_puts(text, tree->count == 1 ? " process" : " processes");
	if (measure)
		etw_text_printf(text, "; CPU time by %s", measure);
	etw_text_putc(text, '\n');
}

static int put_all(struct command *command)
{
	const struct etw_machine_processes *processes = &command->page.inputs.processes;

	for (size_t i = 0; i < processes->count; i++) {
		CLEANUP(etw_process_tree_done) struct etw_process_tree tree = {0};
		size_t depth = 0;

		TRY(etw_process_tree_build(processes->machines[i], &tree));
		if (!command->is_json && processes->count > 1)
			put_machine(command, i);
		if (!command->is_json) {
			put_table(command, processes->machines[i], &tree);
			continue;
		}
		for (const struct etw_process_node *node = tree.first; node;
		     node = etw_process_tree_next(NULL, node, &depth)) {
			process_json_write(&command->output.text, processes->machines[i],
					   &command->page.report.usage, node,
					   processes->count > 1 ? i + 1 : 0);
			TRY(etw_output_continue(&command->output));
		}
	}
	return etw_output_flush(&command->output);
}

static int print(struct command *command)
{
	int result;

	if (!command->shared.no_pager && !command->is_json)
		(void)etw_pager_start();
	result = etw_output_open(NULL, &command->output);
	if (!result)
		result = put_all(command);
	etw_pager_wait();
	return etw_output_tell(&command->output, result);
}

static int run(int argc, char **argv)
{
	CLEANUP(command_done) struct command command = {0};
	int status = etw_verb_parse(&etw_verb_processes, argc, argv, &command.shared, &command);

	if (status != ETW_VERB_GOES_ON)
		return status;
	if (page_open(&command.page, argv + optind, (size_t)(argc - optind), &command.shared) ||
	    page_gather(&command.page))
		return ETW_EXIT_FAILED;
	if (etw_machine_processes_is_empty(&command.page.inputs.processes)) {
		etw_program_message("%s of a process: the session did not record Process events",
				    command.page.inputs.count == 1 ? "the trace does not tell"
								   : "the traces do not tell");
		return ETW_EXIT_OK;
	}
	status = print(&command);
	if (status == ETW_EXIT_OK && etw_loss_is_damaged(&command.page.report.loss))
		return ETW_EXIT_DAMAGED;
	return status;
}

const struct etw_verb etw_verb_processes = {
	.name = "processes",
	.arguments = "FILE...",
	.one_line = "the processes as a tree: command lines, parents, start, end, CPU, exit",
	.help = "  --json              one JSON object per process and line\n" ETW_SHARED_HELP
		"\nExamples:\n"
		"  etw processes trace.etl\n"
		"  etw processes --json trace.etl | jq -r .command_line\n",
	.run = run,
	.options = options,
	.take = take_option,
	.wants_file = true,
};
