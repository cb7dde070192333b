/* SPDX-License-Identifier: MIT */
#include "process/processes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"
#include "process/processes_internal.h"

int etw_processes_create(struct etw_processes **ret)
{
	struct etw_processes *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	processes->last_ft = INT64_MIN;
	*ret = processes;
	return 0;
}

void etw_processes_free(struct etw_processes *processes)
{
	if (!processes)
		return;
	etw_timelines_done(&processes->pids);
	etw_timelines_done(&processes->tids);
	free(processes->all);
	etw_arena_done(&processes->arena);
	free(processes);
}

const struct etw_process_program *etw_processes_program(const struct etw_processes *processes,
							uint32_t pid, int64_t time_ft)
{
	return etw_timeline_at(etw_timelines_find(&processes->pids, pid), time_ft);
}

const struct etw_process *etw_processes_find(const struct etw_processes *processes, uint32_t pid,
					     int64_t time_ft)
{
	const struct etw_process_program *program = etw_processes_program(processes, pid, time_ft);

	return program ? program->process : NULL;
}

static const struct known_thread *find_thread(const struct etw_processes *processes, uint32_t tid,
					      int64_t time_ft)
{
	return etw_timeline_at(etw_timelines_find(&processes->tids, tid), time_ft);
}

uint32_t etw_processes_pid_of_thread(const struct etw_processes *processes, uint32_t tid,
				     int64_t time_ft)
{
	const struct known_thread *thread;

	if (!tid)
		return 0;
	thread = find_thread(processes, tid, time_ft);
	return thread ? thread->pid : ETW_PROCESS_NONE;
}

const char *etw_processes_thread_name(const struct etw_processes *processes, uint32_t tid,
				      int64_t time_ft)
{
	const struct known_thread *thread = tid ? find_thread(processes, tid, time_ft) : NULL;

	return thread ? thread->name : NULL;
}

const char *etw_processes_name(const struct etw_processes *processes, uint32_t pid, int64_t time_ft)
{
	const struct etw_process_program *program = etw_processes_program(processes, pid, time_ft);

	if (program && program->name)
		return program->name;
	if (processes->is_linux)
		return NULL;
	return pid == 0 ? "Idle" : pid == 4 ? "System" : NULL;
}

const struct etw_process *etw_processes_parent(const struct etw_processes *processes,
					       const struct etw_process *process)
{
	const struct etw_process *parent;

	if (process->parent_pid == ETW_PROCESS_NONE || process->parent_pid == process->pid)
		return NULL;
	if (process->has_start)
		return etw_processes_find(processes, process->parent_pid, process->start_ft);
	/* It was there before the trace, and so was its parent. */
	parent = etw_processes_find(processes, process->parent_pid, INT64_MIN);
	return parent && !parent->has_start ? parent : NULL;
}

size_t etw_processes_count(const struct etw_processes *processes)
{
	return processes->count;
}

const struct etw_process *etw_processes_at(const struct etw_processes *processes, size_t number)
{
	return number < processes->count ? processes->all[number] : NULL;
}

size_t etw_processes_threads(const struct etw_processes *processes)
{
	return processes->tids.moments;
}

uint64_t etw_processes_dropped(const struct etw_processes *processes)
{
	return processes->dropped;
}
