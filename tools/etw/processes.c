/* SPDX-License-Identifier: MIT */
#include "tools/etw/processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/text.h"
#include "base/time.h"
#include "decode/format.h"
#include "export/export.h"
#include "tools/etw/kernel_class.h"

#define NO_PID         0xFFFFFFFFu
#define DEFAULT_SAMPLE 10000 /* 1 ms */

enum {
	PROCESS_START = 1,
	PROCESS_RUNDOWN_END = 4,
	THREAD_RUNDOWN_END = 4,
	THREAD_SWITCH = 36,
	PERFINFO_SAMPLE = 46,
	PERFINFO_INTERVAL_SET = 72,
	PERFINFO_INTERVAL_START = 73,
	KERNEL_PROCESS_START = 1,
	KERNEL_PROCESS_RUNDOWN = 15,
};

static const GUID perfinfo_class = {
	0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}};
static const GUID kernel_process_provider = {
	0x22fb2cd6, 0x0e7b, 0x422b, {0xa0, 0xc7, 0x2f, 0xad, 0x1f, 0xd0, 0xe7, 0x16}};

struct thread {
	uint32_t tid;
	uint32_t pid;                   /* NO_PID when unknown */
	uint64_t switch_ft, samples_ft; /* while the process was unknown */
};

void processes_done(struct processes *processes)
{
	etw_table_done(&processes->processes);
	etw_table_done(&processes->threads);
	etw_arena_done(&processes->arena);
	free(processes->switched_ft);
}

/* Both structs begin with their number. */
static bool has_number(const void *item, const void *key)
{
	return *(const uint32_t *)item == *(const uint32_t *)key;
}

static struct process *find_process(struct processes *processes, uint32_t pid)
{
	uint64_t hash = etw_hash_mix(1, pid);
	struct process *process = etw_table_find(&processes->processes, hash, has_number, &pid);

	if (process)
		return process;
	process = etw_arena_alloc(&processes->arena, sizeof(*process));
	if (!process || etw_table_insert(&processes->processes, hash, process))
		return NULL;
	process->pid = pid;
	return process;
}

static struct thread *find_thread(struct processes *processes, uint32_t tid)
{
	uint64_t hash = etw_hash_mix(2, tid);
	struct thread *thread = etw_table_find(&processes->threads, hash, has_number, &tid);

	if (thread)
		return thread;
	thread = etw_arena_alloc(&processes->arena, sizeof(*thread));
	if (!thread || etw_table_insert(&processes->threads, hash, thread))
		return NULL;
	thread->tid = tid;
	thread->pid = NO_PID;
	return thread;
}

/* The part of a path behind the last separator. */
static const char *file_name_of(const char *path)
{
	const char *name = path;

	for (; *path; path++) {
		if ((*path == '\\' || *path == '/') && path[1])
			name = path + 1;
	}
	return name;
}

static int learn_process(struct processes *processes, const struct etw_decoding *decoding,
			 const char *pid_name, const char *image_name)
{
	const struct etw_item *image = etw_decoding_find(decoding, image_name);
	struct etw_text text = {0};
	struct process *process;
	uint64_t pid;
	int result = 0;

	if (!image || !kernel_class_number(decoding, pid_name, &pid))
		return 0;
	process = find_process(processes, (uint32_t)pid);
	if (!process)
		return -ENOMEM;
	etw_format_item(decoding, image, &text);
	(void)etw_export_clean(&text, 0);
	/* The last word counts: a number is used again, and most events belong to the later owner. */
	if (text.bytes) {
		process->name = etw_arena_strdup(&processes->arena,
						 file_name_of(etw_text_string(&text)));
		result = process->name ? etw_text_error(&text) : -ENOMEM;
	}
	etw_text_done(&text);
	return result;
}

static int add_time(struct processes *processes, uint32_t tid, uint64_t switch_ft,
		    uint64_t samples_ft)
{
	struct thread *thread = find_thread(processes, tid);
	struct process *process;

	if (!thread)
		return -ENOMEM;
	if (thread->pid == NO_PID && tid) {
		thread->switch_ft += switch_ft;
		thread->samples_ft += samples_ft;
		return 0;
	}
	/* Thread 0 is the idle thread of every processor. */
	process = find_process(processes, tid ? thread->pid : 0);
	if (!process)
		return -ENOMEM;
	process->switch_ft += switch_ft;
	process->samples_ft += samples_ft;
	return 0;
}

static int take_switch(struct processes *processes, const struct etw_decoding *decoding,
		       uint32_t processor)
{
	int64_t now = decoding->record->EventHeader.TimeStamp.QuadPart;
	int64_t before;
	uint64_t tid;

	if (processor >= PROCESS_CPUS_MAX || !kernel_class_number(decoding, "OldThreadId", &tid))
		return 0;
	if (!processes->switched_ft)
		processes->switched_ft = calloc(PROCESS_CPUS_MAX, sizeof(int64_t));
	if (!processes->switched_ft)
		return -ENOMEM;
	before = processes->switched_ft[processor];
	processes->switched_ft[processor] = now;
	if (!before || now <= before)
		return 0;
	processes->measure = PROCESS_BY_SWITCHES;
	return add_time(processes, (uint32_t)tid, (uint64_t)etw_filetime_between(before, now), 0);
}

static int take_thread(struct processes *processes, const struct etw_decoding *decoding)
{
	struct thread *thread;
	uint64_t tid, pid;

	if (!kernel_class_number(decoding, "TThreadId", &tid) ||
	    !kernel_class_number(decoding, "ProcessId", &pid))
		return 0;
	thread = find_thread(processes, (uint32_t)tid);
	if (!thread)
		return -ENOMEM;
	thread->pid = (uint32_t)pid;
	if (!thread->switch_ft && !thread->samples_ft)
		return 0;

	uint64_t switch_ft = thread->switch_ft, samples_ft = thread->samples_ft;

	thread->switch_ft = thread->samples_ft = 0;
	return add_time(processes, thread->tid, switch_ft, samples_ft);
}

static int take_perfinfo(struct processes *processes, const struct etw_decoding *decoding,
			 uint8_t opcode)
{
	uint64_t tid, count = 1, source, interval;

	if (opcode == PERFINFO_SAMPLE && kernel_class_number(decoding, "ThreadId", &tid)) {
		(void)kernel_class_number(decoding, "Count", &count);
		if (processes->measure < PROCESS_BY_SAMPLES)
			processes->measure = PROCESS_BY_SAMPLES;
		if (!processes->sample_ft)
			processes->sample_ft = DEFAULT_SAMPLE;
		return add_time(processes, (uint32_t)tid, 0,
				(count ? count : 1) * (uint64_t)processes->sample_ft);
	}
	if ((opcode == PERFINFO_INTERVAL_SET || opcode == PERFINFO_INTERVAL_START) &&
	    kernel_class_number(decoding, "Source", &source) && !source &&
	    kernel_class_number(decoding, "NewInterval", &interval) && interval)
		processes->sample_ft = (int64_t)interval;
	return 0;
}

static int take_special(struct processes *processes, const struct etw_decoding *decoding,
			uint32_t processor)
{
	const EVENT_HEADER *header = &decoding->record->EventHeader;
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;
	uint8_t opcode = descriptor->Opcode;

	if (etw_guid_equal(&header->ProviderId, &kernel_class_process) && opcode >= PROCESS_START &&
	    opcode <= PROCESS_RUNDOWN_END)
		return learn_process(processes, decoding, "ProcessId", "ImageFileName");
	if (etw_guid_equal(&header->ProviderId, &kernel_class_thread) && opcode >= PROCESS_START &&
	    opcode <= THREAD_RUNDOWN_END)
		return take_thread(processes, decoding);
	if (etw_guid_equal(&header->ProviderId, &kernel_class_thread) && opcode == THREAD_SWITCH)
		return take_switch(processes, decoding, processor);
	if (etw_guid_equal(&header->ProviderId, &perfinfo_class))
		return take_perfinfo(processes, decoding, opcode);
	if (etw_guid_equal(&header->ProviderId, &kernel_process_provider) &&
	    (descriptor->Id == KERNEL_PROCESS_START || descriptor->Id == KERNEL_PROCESS_RUNDOWN))
		return learn_process(processes, decoding, "ProcessID", "ImageName");
	return 0;
}

int processes_add(struct processes *processes, const struct etw_decoding *decoding,
		  uint32_t processor)
{
	const EVENT_HEADER *header = &decoding->record->EventHeader;

	if (header->ProcessId != NO_PID) {
		struct process *process = find_process(processes, header->ProcessId);

		if (!process)
			return -ENOMEM;
		process->events++;
	}
	switch (header->ProviderId.Data1) {
	case 0x3d6fa8d0:
	case 0x3d6fa8d1:
	case 0xce1dbfb4:
	case 0x22fb2cd6:
		return take_special(processes, decoding, processor);
	default:
		return 0;
	}
}

uint64_t processes_time(const struct processes *processes, const struct process *process)
{
	return processes->measure == PROCESS_BY_SWITCHES ? process->switch_ft : process->samples_ft;
}

static int compare_events(const void *left_at, const void *right_at)
{
	const struct process *left = *(struct process *const *)left_at;
	const struct process *right = *(struct process *const *)right_at;

	if (left->events != right->events)
		return left->events > right->events ? -1 : 1;
	return left->pid < right->pid ? -1 : left->pid > right->pid;
}

static int compare_samples(const void *left_at, const void *right_at)
{
	const struct process *left = *(struct process *const *)left_at;
	const struct process *right = *(struct process *const *)right_at;

	if (left->samples_ft != right->samples_ft)
		return left->samples_ft > right->samples_ft ? -1 : 1;
	return compare_events(left_at, right_at);
}

static int compare_switches(const void *left_at, const void *right_at)
{
	const struct process *left = *(struct process *const *)left_at;
	const struct process *right = *(struct process *const *)right_at;

	if (left->switch_ft != right->switch_ft)
		return left->switch_ft > right->switch_ft ? -1 : 1;
	return compare_events(left_at, right_at);
}

int processes_sort(struct processes *processes)
{
	static int (*const orders[])(const void *, const void *) = {
		[PROCESS_BY_EVENTS] = compare_events,
		[PROCESS_BY_SAMPLES] = compare_samples,
		[PROCESS_BY_SWITCHES] = compare_switches,
	};
	size_t count = 0;

	processes->sorted = etw_arena_array(&processes->arena, processes->processes.count + 1,
					    sizeof(struct process *));
	if (!processes->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < processes->processes.room; i++) {
		if (processes->processes.slots[i].item)
			processes->sorted[count++] = processes->processes.slots[i].item;
	}
	qsort(processes->sorted, count, sizeof(struct process *), orders[processes->measure]);
	return 0;
}
