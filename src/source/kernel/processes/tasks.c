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
	etw_kernel_text_unref(process->name);
	etw_kernel_text_unref(process->command_line);
	etw_kernel_images_unref(process->images);
	etw_kernel_images_unref(process->next_images);
	tasks->process_count--;
	free(process);
}
