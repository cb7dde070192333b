/* SPDX-License-Identifier: MIT */
#include "source/kernel/processes/tasks.h"

#include <stdlib.h>
#include <string.h>

static size_t bucket_of(uint32_t id)
{
	return (id * UINT32_C(2654435761)) >> 18;
}

void etw_kernel_tasks_clear(struct etw_kernel_tasks *tasks)
{
	for (size_t i = 0; i < ETW_KERNEL_BUCKETS; i++)
		while (tasks->processes[i])
			etw_kernel_tasks_remove(tasks, tasks->processes[i]);
}

struct etw_kernel_process *etw_kernel_tasks_find(struct etw_kernel_tasks *tasks, uint32_t pid)
{
	struct etw_kernel_process *process = tasks->processes[bucket_of(pid)];

	while (process && process->pid != pid)
		process = process->next_in_bucket;
	return process;
}

struct etw_kernel_thread *etw_kernel_tasks_find_thread(struct etw_kernel_tasks *tasks, uint32_t tid)
{
	struct etw_kernel_thread *thread = tasks->threads[bucket_of(tid)];

	while (thread && thread->tid != tid)
		thread = thread->next_in_bucket;
	return thread;
}

struct etw_kernel_process *etw_kernel_tasks_add(struct etw_kernel_tasks *tasks, uint32_t pid)
{
	struct etw_kernel_process **bucket = &tasks->processes[bucket_of(pid)];
	struct etw_kernel_process *process;

	if (tasks->process_count >= ETW_KERNEL_PROCESSES_MAX)
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->next_in_bucket = *bucket;
	*bucket = process;
	tasks->process_count++;
	return process;
}

struct etw_kernel_thread *etw_kernel_tasks_add_thread(struct etw_kernel_tasks *tasks,
						      struct etw_kernel_process *process,
						      uint32_t tid, const char *name)
{
	struct etw_kernel_thread **bucket = &tasks->threads[bucket_of(tid)];
	struct etw_kernel_thread *thread;

	if (tasks->thread_count >= ETW_KERNEL_THREADS_MAX)
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->process = process;
	memcpy(thread->name, name, strnlen(name, sizeof(thread->name) - 1));
	thread->next = process->threads;
	process->threads = thread;
	thread->next_in_bucket = *bucket;
	*bucket = thread;
	tasks->thread_count++;
	return thread;
}

uint32_t etw_kernel_tasks_process_of(struct etw_kernel_tasks *tasks, uint32_t tid)
{
	const struct etw_kernel_thread *thread = etw_kernel_tasks_find_thread(tasks, tid);
	const uint32_t place = tid % ETW_KERNEL_GONE;

	if (thread && thread->process)
		return thread->process->pid;
	return tasks->gone_threads[place].tid == tid ? tasks->gone_threads[place].pid : 0;
}

static struct etw_kernel_process_facts facts_of(const struct etw_kernel_process *process)
{
	return (struct etw_kernel_process_facts){.start_ticks = process->start_ticks,
						 .pid = process->pid,
						 .uid = process->uid,
						 .session_id = process->session_id};
}

bool etw_kernel_tasks_facts(struct etw_kernel_tasks *tasks, uint32_t pid,
			    struct etw_kernel_process_facts *ret)
{
	const struct etw_kernel_process *process = etw_kernel_tasks_find(tasks, pid);

	*ret = process ? facts_of(process) : tasks->gone[pid % ETW_KERNEL_GONE];
	return pid && ret->pid == pid;
}

void etw_kernel_tasks_remove_thread(struct etw_kernel_tasks *tasks,
				    struct etw_kernel_thread *thread)
{
	struct etw_kernel_thread **at = &tasks->threads[bucket_of(thread->tid)];

	while (*at != thread)
		at = &(*at)->next_in_bucket;
	*at = thread->next_in_bucket;
	at = &thread->process->threads;
	while (*at != thread)
		at = &(*at)->next;
	*at = thread->next;
	tasks->gone_threads[thread->tid % ETW_KERNEL_GONE].tid = thread->tid;
	tasks->gone_threads[thread->tid % ETW_KERNEL_GONE].pid = thread->process->pid;
	tasks->thread_count--;
	free(thread->map_stack);
	free(thread);
}

void etw_kernel_tasks_remove(struct etw_kernel_tasks *tasks, struct etw_kernel_process *process)
{
	struct etw_kernel_process **at = &tasks->processes[bucket_of(process->pid)];

	while (process->threads)
		etw_kernel_tasks_remove_thread(tasks, process->threads);
	while (*at != process)
		at = &(*at)->next_in_bucket;
	*at = process->next_in_bucket;
	tasks->gone[process->pid % ETW_KERNEL_GONE] = facts_of(process);
	etw_kernel_text_unref(process->name);
	etw_kernel_text_unref(process->command_line);
	etw_kernel_images_unref(process->images);
	etw_kernel_images_unref(process->next_images);
	tasks->process_count--;
	free(process);
}
