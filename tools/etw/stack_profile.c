/* SPDX-License-Identifier: MIT */
#include "tools/etw/stack_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/pattern.h"
#include "base/time.h"
#include "process/subject.h"
#include "stack/part.h"
#include "tools/etw/notes.h"
#include "tools/etw/stack_gather.h"
#include "wire/class_guids.h"

#define IN_DPC_OR_ISR 3 /* flags of a sample */
#define STATE_WAITING 5
#define SWITCHED_MAX  ((size_t)1 << 20) /* threads */

enum {
	PERFINFO_SAMPLE = 46,
	PERFINFO_INTERVAL_SET = 72,
	PERFINFO_INTERVAL_START = 73,
	THREAD_SWITCH = 36,
};

static const GUID class_perf_info = WIRE_CLASS_PERF_INFO;
static const GUID class_thread = WIRE_CLASS_THREAD;

static bool is_of(const EVENT_RECORD *record, const GUID *provider)
{
	const GUID *own = &record->EventHeader.ProviderId;

	return UNLIKELY(own->Data1 == provider->Data1) && etw_guid_equal(own, provider);
}

static bool fits_names(const struct stack_query *query, const char *name, uint32_t pid)
{
	char digits[16];

	if (!query->names.count && !query->pids.count)
		return true;
	for (size_t i = 0; name && i < query->names.count; i++) {
		if (etw_pattern_matches(query->names.at[i], name, strlen(name)))
			return true;
	}
	(void)snprintf(digits, sizeof(digits), "%" PRIu32, pid);
	for (size_t i = 0; i < query->pids.count; i++) {
		if (!strcmp(query->pids.at[i], digits))
			return true;
	}
	return false;
}

static bool wants_process(const struct stack_profile *profile, size_t trace, uint32_t pid,
			  int64_t time_ft)
{
	const struct etw_processes *processes =
		etw_machine_processes_of(&profile->inputs->processes, trace);
	const struct stack_query *query = &profile->query;

	if (query->wants_process) {
		const struct etw_process *process = etw_processes_find(processes, pid, time_ft);

		if (!process || !query->wants_process(query->wants_context, process))
			return false;
	}
	return fits_names(query, etw_processes_name(processes, pid, time_ft), pid);
}

static int decode(struct stack_profile *profile, const EVENT_RECORD *record,
		  struct etw_decoding *ret)
{
	return etw_decoder_run(profile->decoder, record, ret);
}

/* A sample of a processor that had nothing to do is none. */
static bool read_sample(struct stack_profile *profile, const struct etw_decoding *decoding,
			struct stack_pending *ret)
{
	uint64_t tid, flags = 0, count = 1;

	if (!etw_process_number(decoding, "ThreadId", &tid))
		return false;
	(void)etw_process_number(decoding, "Flags", &flags);
	(void)etw_process_number(decoding, "Count", &count);
	(void)etw_process_number(decoding, "InstructionPointer", &ret->address);
	if (!tid && !(flags & IN_DPC_OR_ISR))
		ret->skipped = &profile->counts.idle;
	ret->tid = (uint32_t)tid;
	ret->weight = count ? count : 1;
	if (!profile->query.by_count)
		ret->weight *= (uint64_t)profile->gather->machines[ret->machine].sample_ft;
	return true;
}

static void read_interval(struct stack_profile *profile, const struct etw_decoding *decoding,
			  size_t machine)
{
	uint64_t source, interval;

	if (etw_process_number(decoding, "Source", &source) && !source &&
	    etw_process_number(decoding, "NewInterval", &interval) && interval &&
	    interval <= UINT32_MAX)
		profile->gather->machines[machine].sample_ft = (int64_t)interval;
}

static bool is_switched(const void *item, const void *tid)
{
	return ((const struct stack_switched *)item)->tid == *(const uint32_t *)tid;
}

static int find_switched(struct stack_profile *profile, size_t machine, uint32_t tid,
			 struct stack_switched **ret)
{
	struct etw_table *table = &profile->gather->machines[machine].switched;
	const uint64_t hash = etw_hash_mix(etw_hash_seed(), tid);

	*ret = etw_table_find(table, hash, is_switched, &tid);
	if (*ret || table->count >= SWITCHED_MAX)
		return 0;
	*ret = etw_arena_alloc(&profile->gather->arena, sizeof(**ret));
	if (!*ret || etw_table_insert(table, hash, *ret))
		return -ENOMEM;
	(*ret)->tid = tid;
	return 0;
}

/*
 * A switch: the stack is that of the thread that runs from now on, where it had been waiting. How long that was is known
 * by the switch at which it went. Returns 1 when the event counts, 0 when it does not, or -ENOMEM.
 */
static int read_switch(struct stack_profile *profile, const struct etw_decoding *decoding,
		       struct stack_pending *ret)
{
	const int64_t now = decoding->record->EventHeader.TimeStamp.QuadPart;
	struct stack_switched *thread;
	uint64_t old, new, state = STATE_WAITING;
	bool is_known = false;

	if (!etw_process_number(decoding, "NewThreadId", &new) ||
	    !etw_process_number(decoding, "OldThreadId", &old))
		return 0;
	(void)etw_process_number(decoding, "OldThreadState", &state);
	if (new) {
		TRY(find_switched(profile, ret->machine, (uint32_t) new, &thread));
		if (thread && thread->is_out) {
			is_known = thread->is_waiting;
			ret->weight = (uint64_t)etw_filetime_between(thread->since_ft, now);
			thread->is_out = false;
		}
	}
	if (old) {
		TRY(find_switched(profile, ret->machine, (uint32_t)old, &thread));
		if (thread) {
			thread->is_out = true;
			thread->is_waiting = state == STATE_WAITING;
			thread->since_ft = now;
		}
	}
	ret->tid = (uint32_t) new;
	if (!new)
		return 0;
	if (profile->query.by_count) {
		ret->weight = 1;
		return 1;
	}
	if (!is_known)
		ret->skipped = &profile->counts.without_wait;
	return 1;
}

/* An event that a filter wants. */
static bool read_other(struct stack_profile *profile, size_t trace, const EVENT_RECORD *record,
		       struct stack_pending *ret)
{
	const struct etw_processes *processes =
		etw_machine_processes_of(&profile->inputs->processes, trace);
	struct lazy *lazy = &profile->gather->lazy;
	struct etw_filter_subject subject = {
		.record = record,
		.source = &lazy_source,
		.context = lazy,
		.processes = processes,
		.time_ft = record->EventHeader.TimeStamp.QuadPart,
		.start_ft = profile->gather->start_ft,
	};
	const struct etw_decoding *decoding;
	struct etw_process_ids ids = etw_process_ids_of_header(record);

	if (etw_stack_is_walk(record))
		return false;
	lazy_set(lazy, record);
	if (!filter_wants(profile->query.filter, &subject))
		return false;
	decoding = lazy_decode(lazy);
	/* Whose stack it is, is not whom the event is about: a process' start has the stack of its parent. */
	if (decoding && (ids.pid == ETW_PROCESS_NONE || ids.tid == ETW_PROCESS_NONE)) {
		ids = etw_process_ids_of(decoding);
		etw_processes_resolve(processes, &ids, subject.time_ft);
	}
	ret->pid = ids.pid;
	ret->tid = ids.tid;
	ret->weight = 1;
	return true;
}

/* Returns 1 when the event's stack is wanted, 0 when it is not, or a negative errno. */
static int read_event(struct stack_profile *profile, size_t trace, const EVENT_RECORD *record,
		      struct stack_pending *ret)
{
	const uint8_t opcode = record->EventHeader.EventDescriptor.Opcode;
	const enum stack_events events = profile->query.events;
	struct etw_decoding decoding;

	if (events == STACK_OTHERS) {
		int result = read_other(profile, trace, record, ret);

		return profile->gather->lazy.error ? profile->gather->lazy.error : result;
	}
	if (events == STACK_SAMPLES && is_of(record, &class_perf_info)) {
		if (opcode != PERFINFO_SAMPLE && opcode != PERFINFO_INTERVAL_SET &&
		    opcode != PERFINFO_INTERVAL_START)
			return 0;
		TRY(decode(profile, record, &decoding));
		if (opcode == PERFINFO_SAMPLE)
			return read_sample(profile, &decoding, ret);
		read_interval(profile, &decoding, ret->machine);
		return 0;
	}
	if (events == STACK_SWITCHES && opcode == THREAD_SWITCH && is_of(record, &class_thread)) {
		TRY(decode(profile, record, &decoding));
		return read_switch(profile, &decoding, ret);
	}
	return 0;
}

static int take_images(struct stack_profile *profile, size_t machine, const EVENT_RECORD *record)
{
	struct stack_machine *at = &profile->gather->machines[machine];
	struct etw_decoding decoding;
	uint32_t gone;

	TRY(decode(profile, record, &decoding));
	TRY(stack_images_take(&at->images, &decoding, &gone));
	return gone == ETW_PROCESS_NONE ? 0 : stack_gather_forget(profile->gather, machine, gone);
}

static int take_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct stack_profile *profile = context;
	struct stack_gather *gather = profile->gather;
	const int64_t time_ft = record->EventHeader.TimeStamp.QuadPart;
	struct stack_pending pending = {
		.machine = gather->machine_of[trace],
		.pid = ETW_PROCESS_NONE,
		.tid = ETW_PROCESS_NONE,
		.time_ft = time_ft,
	};
	uint32_t token = 0;
	int wanted;

	if (UNLIKELY(address.offset == UINT32_MAX)) {
		profile->loss_marks++;
		return 0;
	}
	profile->seen++;
	profile->by_tables |= notes_is_of(record, WIRE_NOTE_STACKS_BY_TABLES);
	notes_take(&profile->notes, record);
	etw_decoder_set_file(profile->decoder, (uint32_t)trace);
	etw_inputs_set_build(profile->inputs, trace, profile->store);
	account_take(&profile->accounts[trace], record);
	if (stack_images_is_wanted(record))
		TRY(take_images(profile, pending.machine, record));
	wanted = read_event(profile, trace, record, &pending);
	TRY(wanted);
	if (wanted && time_ft >= profile->query.from_ft && time_ft <= profile->query.to_ft) {
		if (pending.pid == ETW_PROCESS_NONE && pending.tid != ETW_PROCESS_NONE)
			pending.pid = etw_processes_pid_of_thread(
				etw_machine_processes_of(&profile->inputs->processes, trace),
				pending.tid, time_ft);
		wanted = wants_process(profile, trace, pending.pid, time_ft);
	} else {
		wanted = 0;
	}
	if (wanted && pending.skipped) {
		++*pending.skipped;
		wanted = 0;
	}
	if (wanted) {
		profile->counts.events++;
		TRY(stack_gather_hold(gather, &pending, &token));
	}
	return etw_stacks_add(gather->traces[trace].stacks, record,
			      etw_trace_raw_time(profile->inputs->traces[trace]), wanted, token);
}

static int take_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct stack_profile *profile = context;

	(void)trace;
	(void)buffer;
	etw_progress_add(&profile->gather->progress, 1);
	return 0;
}

static void add_counts(struct etw_stack_counts *sum, const struct etw_stack_counts *one)
{
	sum->walks += one->walks;
	sum->references += one->references;
	sum->items += one->items;
	sum->definitions += one->definitions;
	sum->strays += one->strays;
	sum->undefined += one->undefined;
	sum->late += one->late;
	sum->given_up += one->given_up;
	sum->damaged += one->damaged;
	sum->left_out += one->left_out;
}

static int run_pass(struct stack_profile *profile)
{
	const struct etw_trace_sink sink = {.context = profile,
					    .event = take_event,
					    .buffer = take_buffer,
					    .from_ft = INT64_MIN,
					    .to_ft = INT64_MAX};
	struct etw_inputs *inputs = profile->inputs;
	struct stack_gather *gather = profile->gather;
	int result;

	gather->start_ft = etw_inputs_start(inputs);
	gather->lazy.decoder = profile->decoder;
	gather->lazy.store = profile->store;
	etw_progress_start(&gather->progress, "Reading stacks", inputs->buffers);
	result = etw_trace_process(inputs->traces, inputs->count, &sink);
	for (size_t i = 0; i < inputs->count && !result; i++) {
		result = etw_stacks_end(gather->traces[i].stacks);
		add_counts(&profile->attach, etw_stacks_counts(gather->traces[i].stacks));
	}
	etw_progress_end(&gather->progress);
	return result;
}

int stack_profile_gather(struct stack_profile *profile)
{
	int result = stack_gather_create(profile, &profile->gather);

	if (!result)
		result = run_pass(profile);
	if (!result)
		result = stack_gather_resolve(profile->gather);
	if (!result)
		result = etw_calls_sum(&profile->calls);
	if (!result)
		profile->sample_ft = profile->gather->machines[0].sample_ft;
	stack_gather_free(profile->gather);
	profile->gather = NULL;
	return result;
}

void stack_profile_done(struct stack_profile *profile)
{
	for (size_t i = 0; i < profile->machines; i++)
		etw_symbols_free(profile->symbols[i]);
	free(profile->symbols);
	free(profile->accounts);
	etw_calls_done(&profile->calls);
	*profile = (struct stack_profile){0};
}
