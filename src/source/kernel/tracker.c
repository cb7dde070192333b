/* SPDX-License-Identifier: MIT */
/* The table of processes and threads. What records do to it is in tracker_records.c. See tracker.h. */
#include "source/kernel/tracker_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "wire/etl_logfile.h"

static size_t bucket_of(uint32_t id)
{
	return (id * UINT32_C(2654435761)) >> 18;
}

struct etw_kernel_tracker *etw_kernel_tracker_new(struct etw_kernel_out *out)
{
	struct etw_kernel_tracker *tracker = calloc(1, sizeof(*tracker));
	long ticks = sysconf(_SC_CLK_TCK);

	if (!tracker)
		return NULL;
	tracker->out = out;
	tracker->behind_ns = tracker->behind_before_ns = INT64_MAX;
	tracker->cpu_tick_ns = WIRE_LOGFILE_TICK_FT * ETW_NS_PER_FT;
	tracker->ns_per_tick = ETW_NS_PER_S / (ticks > 0 ? (uint64_t)ticks : 100);
	return tracker;
}

void etw_kernel_tracker_free(struct etw_kernel_tracker *tracker)
{
	if (!tracker)
		return;
	for (size_t i = 0; i < ETW_KERNEL_BUCKETS; i++)
		while (tracker->processes[i])
			etw_kernel_tracker_remove(tracker, tracker->processes[i]);
	free(tracker);
}

struct etw_kernel_process *etw_kernel_tracker_find(struct etw_kernel_tracker *tracker, uint32_t pid)
{
	struct etw_kernel_process *process = tracker->processes[bucket_of(pid)];

	while (process && process->pid != pid)
		process = process->next_in_bucket;
	return process;
}

struct etw_kernel_thread *etw_kernel_tracker_find_thread(struct etw_kernel_tracker *tracker,
							 uint32_t tid)
{
	struct etw_kernel_thread *thread = tracker->threads[bucket_of(tid)];

	while (thread && thread->tid != tid)
		thread = thread->next_in_bucket;
	return thread;
}

struct etw_kernel_process *etw_kernel_tracker_add(struct etw_kernel_tracker *tracker, uint32_t pid)
{
	struct etw_kernel_process **bucket = &tracker->processes[bucket_of(pid)];
	struct etw_kernel_process *process;

	if (tracker->process_count >= ETW_KERNEL_PROCESSES_MAX)
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->next_in_bucket = *bucket;
	*bucket = process;
	tracker->process_count++;
	return process;
}

struct etw_kernel_thread *etw_kernel_tracker_add_thread(struct etw_kernel_tracker *tracker,
							struct etw_kernel_process *process,
							uint32_t tid, const char *name)
{
	struct etw_kernel_thread **bucket = &tracker->threads[bucket_of(tid)];
	struct etw_kernel_thread *thread;

	if (tracker->thread_count >= ETW_KERNEL_THREADS_MAX)
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
	tracker->thread_count++;
	return thread;
}

void etw_kernel_tracker_remove_thread(struct etw_kernel_tracker *tracker,
				      struct etw_kernel_thread *thread)
{
	struct etw_kernel_thread **at = &tracker->threads[bucket_of(thread->tid)];

	while (*at != thread)
		at = &(*at)->next_in_bucket;
	*at = thread->next_in_bucket;
	at = &thread->process->threads;
	while (*at != thread)
		at = &(*at)->next;
	*at = thread->next;
	tracker->thread_count--;
	free(thread);
}

void etw_kernel_tracker_remove(struct etw_kernel_tracker *tracker,
			       struct etw_kernel_process *process)
{
	struct etw_kernel_process **at = &tracker->processes[bucket_of(process->pid)];

	while (process->threads)
		etw_kernel_tracker_remove_thread(tracker, process->threads);
	while (*at != process)
		at = &(*at)->next_in_bucket;
	*at = process->next_in_bucket;
	etw_kernel_text_unref(process->name);
	etw_kernel_text_unref(process->command_line);
	etw_kernel_images_unref(process->images);
	etw_kernel_images_unref(process->next_images);
	tracker->process_count--;
	free(process);
}
