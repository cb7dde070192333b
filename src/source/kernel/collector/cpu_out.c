/* SPDX-License-Identifier: MIT */
#include "source/kernel/collector/cpu_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/macros.h"
#include "source/kernel/bpf/disk_records.h"
#include "source/kernel/events/task_stacks.h"

#define EVENT_NUMBER ((uint64_t)ETW_KERNEL_SLOT_CPU_EVENT << ETW_KERNEL_SLOT_BITS)
#define STACK_NUMBER ((uint64_t)ETW_KERNEL_SLOT_CPU_STACK << ETW_KERNEL_SLOT_BITS)

/* The first record of a processor that was not taken. */
struct etw_kernel_front {
	const struct etw_kernel_cpu_record *record; /* NULL: none was looked at */
	uint64_t time_ns;
	int64_t time_raw;
	uint32_t event_bytes, stack_bytes; /* 0: made none, or taken, or output by a former host */
	enum wire_stack_fate fate;         /* of a stack that was asked for */
	bool lacks_user;                   /* of a stack: the process's half could not be had */
	bool is_made;                      /* the bytes are there */
	uint8_t event[ETW_KERNEL_CPU_EVENT_MAX] __attribute__((aligned(8)));
	uint8_t stack[ETW_KERNEL_STACK_MAX] __attribute__((aligned(8)));
};

/* No event from before this is still to be made. */
static uint64_t first_left_ns(const struct etw_kernel_cpu_out *cpu_out)
{
	uint64_t first_ns = cpu_out->until_ns;

	for (uint32_t cpu = 0; cpu < cpu_out->rings->count; cpu++) {
		const struct etw_kernel_cpu_place *place =
			etw_kernel_cpu_rings_waiting(cpu_out->rings, cpu, 0);

		if (place)
			first_ns = MIN(first_ns, place->time_ns);
	}
	return first_ns;
}

static void take_name(void *naming, const struct etw_kernel_cpu_record *record)
{
	struct etw_kernel_cpu_out *cpu_out = naming;

	if (!cpu_out->maker.file_names)
		return;
	/* Once a round: while rings are read, nothing is made. */
	if (cpu_out->retired_ns != cpu_out->until_ns) {
		cpu_out->retired_ns = cpu_out->until_ns;
		etw_kernel_file_names_retire(cpu_out->maker.file_names, first_left_ns(cpu_out));
	}
	etw_kernel_cpu_learn_name(&cpu_out->maker, record);
}

int etw_kernel_cpu_out_init(struct etw_kernel_cpu_out *cpu_out, const struct etw_source_host *host,
			    struct etw_kernel_cpu_rings *rings, const struct etw_kernel_out *out)
{
	*cpu_out = (struct etw_kernel_cpu_out){.host = host, .rings = rings, .out = out};
	cpu_out->maker.host = host;
	cpu_out->fronts = calloc(host->cpu_count ? host->cpu_count : 1, sizeof(*cpu_out->fronts));
	if (!cpu_out->fronts)
		return -ENOMEM;
	rings->named = take_name;
	rings->naming = cpu_out;
	return 0;
}

void etw_kernel_cpu_out_done(struct etw_kernel_cpu_out *cpu_out)
{
	free(cpu_out->fronts);
	*cpu_out = (struct etw_kernel_cpu_out){0};
}

static bool has_frames(const struct etw_kernel_cpu_record *record)
{
	return record->kernel_frames || record->user_frames;
}

/* What of a record a former host did not output. */
static bool is_left(const struct etw_kernel_cpu_out *cpu_out, uint32_t cpu,
		    const struct etw_kernel_cpu_place *place)
{
	if (etw_kernel_out_is_new(cpu_out->out, cpu, place->time_ns, EVENT_NUMBER))
		return true;
	return has_frames(place->at) &&
	       etw_kernel_out_is_new(cpu_out->out, cpu, place->time_ns, STACK_NUMBER);
}

static void see(struct etw_kernel_seen *seen, const struct etw_kernel_cpu_record *record)
{
	const uint64_t *frames =
		(const void *)((const uint8_t *)(record + 1) + record->payload_bytes);

	for (uint32_t i = 0; i < record->kernel_frames; i++)
		etw_kernel_seen_add(seen, frames[i]);
}

/* The kernel's frames, and behind them what was unwound of the copy that the last one names. */
static uint32_t join_unwound(const struct etw_kernel_cpu_out *cpu_out,
			     const struct etw_kernel_cpu_record *record, const uint64_t *from,
			     uint64_t to[ETW_KERNEL_FRAMES])
{
	uint32_t count = record->kernel_frames, more = 0;

	memcpy(to, from, count * sizeof(to[0]));
	if (cpu_out->stacks)
		more = etw_kernel_stacks_take(cpu_out->stacks, record->stack_tid, from[count],
					      &to[count], ETW_KERNEL_FRAMES - count);
	return count + more;
}

/* Returns how many frames there are. */
static uint32_t make_stack(const struct etw_kernel_cpu_out *cpu_out, struct etw_kernel_front *front)
{
	const struct etw_kernel_cpu_record *record = front->record;
	const uint64_t *frames =
		(const void *)((const uint8_t *)(record + 1) + record->payload_bytes);
	uint32_t count = (uint32_t)record->kernel_frames + record->user_frames, tracers = 0;
	uint64_t joined[ETW_KERNEL_FRAMES];

	if (record->stack_flags & ETW_KERNEL_STACK_COPIED) {
		count = join_unwound(cpu_out, record, frames, joined);
		frames = joined;
		front->lacks_user = count == record->kernel_frames;
	}
	/* A sample begins where it interrupted, be it there. */
	if (record->kind != ETW_KERNEL_SAMPLE && record->kind != ETW_KERNEL_COUNTER_SAMPLE)
		tracers = etw_kernel_stack_skip_tracers(cpu_out->maker.routines, frames,
							record->kernel_frames);
	count = MIN(count - tracers, (uint32_t)ETW_KERNEL_FRAMES);
	/* Something of the record must go out. */
	if (count || !front->event_bytes)
		front->stack_bytes = etw_kernel_cpu_stack(record, frames + tracers, count,
							  front->time_raw, front->stack);
	return count;
}

static enum wire_stack_fate fate_of(const struct etw_kernel_cpu_record *record, uint32_t frames)
{
	if (frames)
		return WIRE_STACK_IS_THERE;
	if (record->stack_flags & ETW_KERNEL_STACK_NOT_OUT)
		return WIRE_STACK_NOT_SWITCHED_OUT;
	if (record->stack_flags & ETW_KERNEL_STACK_IDLE)
		return WIRE_STACK_OF_IDLE_THREAD;
	if (record->stack_flags & ETW_KERNEL_STACK_OUTSIDE)
		return WIRE_STACK_OF_OTHERS;
	if (record->stack_flags & ETW_KERNEL_STACK_NO_THREAD)
		return WIRE_STACK_NOTHING_KEPT;
	if (record->stack_flags & ETW_KERNEL_STACK_NO_COPY)
		return WIRE_STACK_NOT_COPIED;
	if (record->stack_flags & ETW_KERNEL_STACK_COPIED)
		return WIRE_STACK_NOT_UNWOUND;
	return WIRE_STACK_NO_FRAMES;
}

static void make(struct etw_kernel_cpu_out *cpu_out, uint32_t cpu, struct etw_kernel_front *front)
{
	const struct etw_kernel_cpu_record *record = front->record;
	uint32_t frames = 0;

	front->event_bytes = 0;
	front->stack_bytes = 0;
	front->lacks_user = record->stack_flags & ETW_KERNEL_STACK_NO_COPY;
	if (etw_kernel_out_is_new(cpu_out->out, cpu, front->time_ns, EVENT_NUMBER))
		front->event_bytes = etw_kernel_cpu_event(&cpu_out->maker, record, front->time_raw,
							  front->event);
	if (has_frames(record))
		frames = make_stack(cpu_out, front);
	front->fate = fate_of(record, frames);
	if (cpu_out->maker.seen)
		see(cpu_out->maker.seen, record);
	front->is_made = true;
}

static void take(struct etw_kernel_cpu_out *cpu_out, uint32_t cpu, struct etw_kernel_front *front)
{
	etw_kernel_cpu_rings_pop(cpu_out->rings, cpu);
	front->record = NULL;
	front->is_made = false;
}

/* The host that outputs an event counts its stack. */
static void count_stack(struct etw_kernel_cpu_out *cpu_out, const struct etw_kernel_front *front)
{
	if (front->record->stack_flags & ETW_KERNEL_STACK_ASKED)
		etw_kernel_stack_account_add(&cpu_out->account, front->event, front->fate,
					     front->lacks_user);
}

uint64_t etw_kernel_cpu_out_next_ns(struct etw_kernel_cpu_out *cpu_out, uint32_t cpu,
				    uint64_t until_ns)
{
	struct etw_kernel_front *front = &cpu_out->fronts[cpu];

	cpu_out->until_ns = until_ns;
	while (!front->record) {
		const struct etw_kernel_cpu_place *place = etw_kernel_cpu_rings_peek(cpu_out->rings,
										     cpu, until_ns);

		if (!place)
			return UINT64_MAX;
		front->record = place->at;
		front->time_ns = place->time_ns;
		if (!is_left(cpu_out, cpu, place))
			take(cpu_out, cpu, front);
	}
	return front->time_ns;
}

bool etw_kernel_cpu_out_peek(struct etw_kernel_cpu_out *cpu_out, uint32_t cpu,
			     struct etw_source_event *ret)
{
	struct etw_kernel_front *front = &cpu_out->fronts[cpu];

	if (!front->is_made) {
		if (cpu_out->host->to_raw(cpu_out->host->context, front->time_ns, &front->time_raw))
			return false;
		make(cpu_out, cpu, front);
	}
	*ret = (struct etw_source_event){
		.bytes = front->event_bytes ? front->event : front->stack,
		.byte_count = front->event_bytes ? front->event_bytes : front->stack_bytes,
		.time_raw = front->time_raw,
	};
	return true;
}

void etw_kernel_cpu_out_stack(const struct etw_kernel_cpu_out *cpu_out, uint32_t cpu,
			      struct etw_source_event *ret)
{
	const struct etw_kernel_front *front = &cpu_out->fronts[cpu];

	if (front->is_made && front->event_bytes && front->stack_bytes)
		*ret = (struct etw_source_event){front->stack, front->stack_bytes, front->time_raw};
}

void etw_kernel_cpu_out_pop(struct etw_kernel_cpu_out *cpu_out, uint32_t cpu,
			    struct etw_source_mark *ret_mark)
{
	struct etw_kernel_front *front = &cpu_out->fronts[cpu];
	bool is_event = front->event_bytes != 0;

	*ret_mark = (struct etw_source_mark){front->time_ns,
					     is_event ? EVENT_NUMBER : STACK_NUMBER};
	if (is_event) {
		count_stack(cpu_out, front);
		front->event_bytes = 0;
	} else {
		front->stack_bytes = 0;
	}
	if (!front->event_bytes && !front->stack_bytes)
		take(cpu_out, cpu, front);
}

void etw_kernel_cpu_out_look_ahead(const struct etw_kernel_cpu_out *cpu_out)
{
	uint8_t unused[ETW_KERNEL_CPU_EVENT_MAX] __attribute__((aligned(8)));
	struct etw_kernel_seen *seen = cpu_out->maker.seen;
	const struct etw_kernel_cpu_place *place;

	for (uint32_t cpu = 0; seen && cpu < cpu_out->rings->count; cpu++) {
		for (size_t i = 0; (place = etw_kernel_cpu_rings_waiting(cpu_out->rings, cpu, i));
		     i++) {
			see(seen, place->at);
			/* Whoever makes an event notes what it names. */
			(void)etw_kernel_cpu_event(&cpu_out->maker, place->at, 0, unused);
		}
		if (etw_kernel_cpu_rings_has_unread(cpu_out->rings, cpu))
			seen->is_used = seen->is_all = true;
	}
}
