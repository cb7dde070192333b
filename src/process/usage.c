/* SPDX-License-Identifier: MIT */
#include "process/usage.h"

#include <errno.h>
#include <stdlib.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "process/kernel_class.h"

#define DEFAULT_SAMPLE 10000 /* 1 ms */

enum {
	PERFINFO_SAMPLE = 46,
	PERFINFO_INTERVAL_SET = 72,
	PERFINFO_INTERVAL_START = 73,
};

struct etw_process_machine {
	struct etw_process_machine *next;
	const struct etw_processes *processes;
	int64_t sample_ft;                         /* between two samples of a processor */
	int64_t switched_ft[ETW_PROCESS_CPUS_MAX]; /* 0: not yet */
	uint32_t running[ETW_PROCESS_CPUS_MAX];    /* the thread that was switched in then */
};

/* What a thread had used at its last end: an exec ends a thread that goes on, with what it has used so far. */
struct ended_thread {
	const struct etw_processes *of;
	const struct etw_process *process;
	uint32_t tid;
	uint64_t ticks;
};

struct share_key {
	const struct etw_processes *of;
	const struct etw_process *process;
	uint32_t pid;
};

void etw_process_usage_done(struct etw_process_usage *usage)
{
	etw_table_done(&usage->shares);
	etw_table_done(&usage->threads);
	etw_process_io_done(&usage->io);
	etw_arena_done(&usage->arena);
	*usage = (struct etw_process_usage){0};
}

static uint64_t hash_of(const struct etw_processes *of, uint64_t word)
{
	return etw_hash_mix(etw_hash_mix(etw_hash_seed(), (uintptr_t)of), word);
}

static bool is_share(const void *item, const void *key_at)
{
	const struct etw_process_share *share = item;
	const struct share_key *key = key_at;

	return share->of == key->of && share->process == key->process && share->pid == key->pid;
}

static uint64_t hash_share(const struct share_key *key)
{
	return etw_hash_mix(hash_of(key->of, key->pid),
			    key->process ? key->process->number + 1u : 0);
}

static struct etw_process_share *find_share(struct etw_process_usage *usage,
					    const struct etw_processes *processes, uint32_t pid,
					    int64_t time_ft)
{
	const struct share_key key = {processes, etw_processes_find(processes, pid, time_ft), pid};
	struct etw_process_share *share = usage->last;
	uint64_t hash;

	/* Events of one process come in runs. */
	if (LIKELY(share && is_share(share, &key)))
		return share;
	hash = hash_share(&key);
	share = etw_table_find(&usage->shares, hash, is_share, &key);
	if (LIKELY(share)) {
		usage->last = share;
		return share;
	}
	share = etw_arena_alloc(&usage->arena, sizeof(*share));
	if (!share || etw_table_insert(&usage->shares, hash, share))
		return NULL;
	share->of = processes;
	share->process = key.process;
	share->pid = pid;
	return share;
}

static struct etw_process_machine *find_machine(struct etw_process_usage *usage,
						const struct etw_processes *processes)
{
	struct etw_process_machine *machine = usage->machines;

	while (machine && machine->processes != processes)
		machine = machine->next;
	if (machine)
		return machine;
	machine = etw_arena_alloc(&usage->arena, sizeof(*machine));
	if (!machine)
		return NULL;
	machine->processes = processes;
	machine->sample_ft = DEFAULT_SAMPLE;
	machine->next = usage->machines;
	usage->machines = machine;
	return machine;
}

/* CPU time of the process that had the id at @time_ft. */
static int charge_process(struct etw_process_usage *usage, const struct etw_processes *processes,
			  uint32_t pid, int64_t time_ft, enum etw_process_measure measure,
			  uint64_t cpu_ft)
{
	struct etw_process_share *share = find_share(usage, processes, pid, time_ft);

	if (!share)
		return -ENOMEM;
	share->cpu_ft[measure] += cpu_ft;
	if (usage->measure < measure)
		usage->measure = measure;
	return 0;
}

/* The same by the id of one of its threads. */
static int charge(struct etw_process_usage *usage, const struct etw_processes *processes,
		  uint32_t tid, int64_t time_ft, enum etw_process_measure measure, uint64_t cpu_ft)
{
	const uint32_t pid = etw_processes_pid_of_thread(processes, tid, time_ft);

	return charge_process(usage, processes, pid, time_ft, measure, cpu_ft);
}

/*
 * Where another thread is switched out than was switched in last, switches between the two are missing: they were lost, or not
 * recorded, as with one process tree alone. Whose the time was is not known then.
 */
static int take_switch(struct etw_process_usage *usage, const struct etw_processes *processes,
		       const struct etw_decoding *decoding, uint32_t processor)
{
	int64_t now = decoding->record->EventHeader.TimeStamp.QuadPart;
	struct etw_process_machine *machine;
	uint64_t tid, next;
	uint32_t running;
	int64_t before;

	if (processor >= ETW_PROCESS_CPUS_MAX ||
	    !etw_process_number(decoding, "OldThreadId", &tid) ||
	    !etw_process_number(decoding, "NewThreadId", &next))
		return 0;
	machine = find_machine(usage, processes);
	if (!machine)
		return -ENOMEM;
	before = machine->switched_ft[processor];
	running = machine->running[processor];
	machine->switched_ft[processor] = now;
	machine->running[processor] = (uint32_t)next;
	if (!before || now <= before || running != (uint32_t)tid)
		return 0;
	return charge(usage, processes, (uint32_t)tid, now, ETW_PROCESS_BY_SWITCHES,
		      (uint64_t)etw_filetime_between(before, now));
}

static int take_perfinfo(struct etw_process_usage *usage, const struct etw_processes *processes,
			 const struct etw_decoding *decoding)
{
	const EVENT_HEADER *header = &decoding->record->EventHeader;
	const uint8_t opcode = header->EventDescriptor.Opcode;
	struct etw_process_machine *machine;
	uint64_t tid, count = 1, source, interval;

	if (opcode != PERFINFO_SAMPLE && opcode != PERFINFO_INTERVAL_SET &&
	    opcode != PERFINFO_INTERVAL_START)
		return 0;
	machine = find_machine(usage, processes);
	if (!machine)
		return -ENOMEM;
	if (opcode == PERFINFO_SAMPLE) {
		if (!etw_process_number(decoding, "ThreadId", &tid))
			return 0;
		(void)etw_process_number(decoding, "Count", &count);
		return charge(usage, processes, (uint32_t)tid, header->TimeStamp.QuadPart,
			      ETW_PROCESS_BY_SAMPLES,
			      (count ? count : 1) * (uint64_t)machine->sample_ft);
	}
	if (etw_process_number(decoding, "Source", &source) && !source &&
	    etw_process_number(decoding, "NewInterval", &interval) && interval &&
	    interval <= UINT32_MAX)
		machine->sample_ft = (int64_t)interval;
	return 0;
}

static bool is_ended(const void *item, const void *key_at)
{
	const struct ended_thread *ended = item, *key = key_at;

	return ended->of == key->of && ended->tid == key->tid;
}

static struct ended_thread *find_ended(struct etw_process_usage *usage,
				       const struct etw_processes *processes, uint32_t tid)
{
	const struct ended_thread key = {.of = processes, .tid = tid};
	uint64_t hash = hash_of(processes, tid);
	struct ended_thread *ended = etw_table_find(&usage->threads, hash, is_ended, &key);

	if (ended)
		return ended;
	ended = etw_arena_alloc(&usage->arena, sizeof(*ended));
	if (!ended || etw_table_insert(&usage->threads, hash, ended))
		return NULL;
	*ended = key;
	return ended;
}

/*
 * A header's ticks are those of the thread that acts: at its own end, all that it ever had. Windows has them in most
 * events, but only ends tell of all of a process' threads, and of those that go on nothing would be known.
 */
static int take_thread_end(struct etw_process_usage *usage, const struct etw_processes *processes,
			   const struct etw_decoding *decoding, uint32_t tick_ft)
{
	const EVENT_HEADER *header = &decoding->record->EventHeader;
	const int64_t now = header->TimeStamp.QuadPart;
	uint64_t ticks = (uint64_t)header->KernelTime + header->UserTime, fresh = ticks, tid;
	const struct etw_process *process;
	struct ended_thread *ended;

	if (!ticks || !etw_process_number(decoding, "TThreadId", &tid) || tid != header->ThreadId)
		return 0;
	process = etw_processes_find(processes, header->ProcessId, now);
	if (!process || !process->is_linux)
		return 0;
	ended = find_ended(usage, processes, (uint32_t)tid);
	if (!ended)
		return -ENOMEM;
	if (ended->process == process && ended->ticks <= ticks)
		fresh = ticks - ended->ticks;
	ended->process = process;
	ended->ticks = ticks;
	return charge_process(usage, processes, process->pid, now, ETW_PROCESS_BY_TICKS,
			      fresh * tick_ft);
}

/* Input and output of processes that are not known has a row, too; other events have none. */
static int take_subject(struct etw_process_usage *usage, const struct etw_processes *processes,
			const struct etw_decoding *decoding)
{
	const int64_t time_ft = decoding->record->EventHeader.TimeStamp.QuadPart;
	struct etw_process_ids ids = etw_process_ids_of(decoding);
	struct etw_process_share *share;

	etw_processes_resolve(processes, &ids, time_ft);
	if (ids.pid == ETW_PROCESS_NONE && !etw_process_io_is(decoding->record))
		return 0;
	share = find_share(usage, processes, ids.pid, time_ft);
	if (!share)
		return -ENOMEM;
	share->events += ids.pid != ETW_PROCESS_NONE;
	return etw_process_io_add(&usage->io, &share->io, decoding);
}

int etw_process_usage_add(struct etw_process_usage *usage, const struct etw_processes *processes,
			  const struct etw_decoding *decoding, uint32_t processor, uint32_t tick_ft)
{
	const EVENT_HEADER *header = &decoding->record->EventHeader;
	const uint8_t opcode = header->EventDescriptor.Opcode;

	TRY(take_subject(usage, processes, decoding));
	if (header->ProviderId.Data1 == etw_class_thread.Data1 &&
	    etw_guid_equal(&header->ProviderId, &etw_class_thread)) {
		if (opcode == ETW_OPCODE_SWITCH)
			return take_switch(usage, processes, decoding, processor);
		if (opcode == ETW_OPCODE_END)
			return take_thread_end(usage, processes, decoding, tick_ft);
	} else if (header->ProviderId.Data1 == etw_class_perfinfo.Data1 &&
		   etw_guid_equal(&header->ProviderId, &etw_class_perfinfo)) {
		return take_perfinfo(usage, processes, decoding);
	}
	return 0;
}

uint64_t etw_process_usage_time(const struct etw_process_usage *usage,
				const struct etw_process_share *share)
{
	return share->cpu_ft[usage->measure];
}

const struct etw_process_share *etw_process_usage_find(const struct etw_process_usage *usage,
						       const struct etw_processes *processes,
						       const struct etw_process *process)
{
	const struct share_key key = {processes, process, process->pid};

	return etw_table_find(&usage->shares, hash_share(&key), is_share, &key);
}

/* Shares with the measure that they are ordered by, since qsort() tells its function nothing else. */
struct ranked {
	uint64_t cpu_ft;
	struct etw_process_share *share;
};

static int compare(const void *left_at, const void *right_at)
{
	const struct ranked *left = left_at, *right = right_at;
	const struct etw_process_share *a = left->share, *b = right->share;

	if (left->cpu_ft != right->cpu_ft)
		return left->cpu_ft > right->cpu_ft ? -1 : 1;
	if (a->events != b->events)
		return a->events > b->events ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->process && b->process ? (a->process->number > b->process->number) -
						  (a->process->number < b->process->number)
					: (a->process != NULL) - (b->process != NULL);
}

int etw_process_usage_sort(struct etw_process_usage *usage)
{
	CLEANUP(freep)
	struct ranked *ranks = calloc(usage->shares.count + 1, sizeof(*ranks));
	size_t count = 0;

	usage->sorted = etw_arena_array(&usage->arena, usage->shares.count + 1,
					sizeof(struct etw_process_share *));
	if (!usage->sorted || !ranks)
		return -ENOMEM;
	for (size_t i = 0; i < usage->shares.room; i++) {
		struct etw_process_share *share = usage->shares.slots[i].item;

		if (share)
			ranks[count++] = (struct ranked){share->cpu_ft[usage->measure], share};
	}
	qsort(ranks, count, sizeof(*ranks), compare);
	for (size_t i = 0; i < count; i++)
		usage->sorted[i] = ranks[i].share;
	return 0;
}
