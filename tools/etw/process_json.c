/* SPDX-License-Identifier: MIT */
#include "tools/etw/process_json.h"

#include <sys/wait.h>

#include "tools/etw/json_members.h"
#include "tools/etw/report_io.h"

const char *process_measure_name(enum etw_process_measure measure)
{
	static const char *const names[ETW_PROCESS_MEASURES] = {
		[ETW_PROCESS_BY_EVENTS] = "events",
		[ETW_PROCESS_BY_TICKS] = "ticks",
		[ETW_PROCESS_BY_SAMPLES] = "samples",
		[ETW_PROCESS_BY_SWITCHES] = "switches",
	};

	return names[measure];
}

static void put_status(struct etw_text *text, const struct etw_process *process)
{
	const int status = (int)process->exit_status;

	if (!process->has_exit_status)
		return;
	json_number(text, "exit_status", process->exit_status);
	if (process->is_linux && WIFSIGNALED(status))
		json_number(text, "signal", (uint64_t)WTERMSIG(status));
	else
		json_number(text, "exit_code",
			    process->is_linux ? (uint64_t)WEXITSTATUS(status)
					      : process->exit_status);
}

/* Those that it ran before the last one, from the latest back. */
static void put_programs(struct etw_text *text, const struct etw_process *process)
{
	const struct etw_process_program *program = process->program;

	if (!program->before)
		return;
	json_time(text, "program_start", program->from_ft);
	etw_text_puts(text, ",\"programs_before\":[");
	for (program = program->before; program; program = program->before) {
		etw_text_puts(text, "{\"process\":");
		json_value(text, program->name ? program->name : "");
		json_text(text, "command_line", program->command_line);
		json_time(text, "program_start", program->from_ft > 0 ? program->from_ft : 0);
		etw_text_puts(text, program->before ? "}," : "}");
	}
	etw_text_putc(text, ']');
}

void process_json_write(struct etw_text *text, const struct etw_processes *processes,
			const struct etw_process_usage *usage, const struct etw_process_node *node,
			size_t machine)
{
	const struct etw_process *process = node->process;
	const struct etw_process_program *program = process->program;
	const struct etw_process_share *share = etw_process_usage_find(usage, processes, process);

	etw_text_printf(text, "{\"number\":%u", process->number);
	if (machine)
		json_number(text, "machine", machine);
	json_number(text, "pid", process->pid);
	if (process->parent_pid != ETW_PROCESS_NONE)
		json_number(text, "parent_pid", process->parent_pid);
	if (node->parent)
		json_number(text, "parent_number", node->parent->process->number);
	if (process->session_id != ETW_PROCESS_NONE)
		json_number(text, "session_id", process->session_id);
	json_text(text, "process", program->name);
	json_text(text, "path", program->path);
	json_text(text, "command_line", program->command_line);
	put_programs(text, process);
	json_text(text, "user_sid", process->user_sid);
	json_time(text, "created", process->created_ft);
	json_time(text, "start", process->has_start ? process->start_ft : 0);
	json_time(text, "end", process->has_end ? process->end_ft : 0);
	put_status(text, process);
	etw_text_puts(text, process->is_seen_at_end && !process->has_end
				    ? ",\"running_at_end\":true"
				    : "");
	if (usage->measure != ETW_PROCESS_BY_EVENTS) {
		json_number(text, "cpu_ns", share ? etw_process_usage_time(usage, share) * 100 : 0);
		json_text(text, "cpu_time_by", process_measure_name(usage->measure));
	}
	if (share)
		report_io_json(text, usage, share);
	json_number(text, "events", share ? share->events : 0);
	etw_text_puts(text, "}\n");
}
