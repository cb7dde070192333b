/* SPDX-License-Identifier: MIT */
/*
 * Events that wait for the engine: for each processor a queue in order of time. An event gets its
 * session time when it is looked at, because the clock's next sample may have to come first.
 *
 * Numbers: records of a CPU have nanoseconds of their own, so that and the number of the event among those of its record
 * say what a former host has output already. Only a mapping record that came too late may share one (collector.c): if a
 * host dies between the two records' events, the next one takes the later for output. Each kind of event has numbers of its own
 * (enum etw_kernel_slot), because the next host may know of more or fewer images than the one that died.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_OUT_OUT_H
#define ETW_SOURCE_KERNEL_OUT_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "source/kernel/out/items.h"
#include "wire/kernel_account.h"

#define ETW_KERNEL_SLOT_BITS 32

/* Kinds of events, in the order in which those of one record come: the upper half of their numbers. */
enum etw_kernel_slot {
	ETW_KERNEL_SLOT_COUNTERS,
	ETW_KERNEL_SLOT_UNLOADS,
	ETW_KERNEL_SLOT_THREAD_ENDS,
	ETW_KERNEL_SLOT_END,
	ETW_KERNEL_SLOT_START,
	ETW_KERNEL_SLOT_THREAD_START,
	ETW_KERNEL_SLOT_LOADS,
	ETW_KERNEL_SLOT_RUNDOWN,
	ETW_KERNEL_SLOT_CPU_EVENT, /* of a frequent record: cpu_out.h */
	ETW_KERNEL_SLOT_CPU_STACK,
};

struct etw_kernel_event;
struct etw_kernel_stack_account; /* source/kernel/out/stack_account.h */
struct etw_kernel_moment_stack;  /* source/kernel/events/task_stacks.h */

struct etw_kernel_queue {
	struct etw_kernel_event *first, *last; /* owned */
	struct etw_source_mark mark;           /* a former host output up to here */
	/* The last moment that was converted: events of one moment have one time, to the tick. */
	uint64_t last_ns;
	int64_t last_raw;
	bool has_last;
};

struct etw_kernel_out {
	const struct etw_source_host *host;
	struct etw_kernel_queue *queues; /* owned; host->cpu_count */
	uint64_t held_bytes;             /* of all queued events */
	uint64_t no_memory;              /* events lost for want of memory */
	uint32_t tables; /* of symbols: number of the next one; 0: none was written */
	/* What events are made of now: etw_kernel_out_begin(). */
	struct etw_kernel_item *item;
	uint64_t time_ns;
	uint64_t number; /* of the next event */
	uint32_t cpu;
	/* The stack of who acts at this moment, borrowed; NULL: it is not known. The next begin forgets it. */
	const struct etw_kernel_moment_stack *stack;
	bool is_of_others; /* who acts is not of the one process tree that is recorded; likewise */
	uint32_t stack_events; /* enum etw_kernel_stack_event: which events are to have it */
	struct etw_kernel_stack_account *account; /* borrowed: of their stacks; NULL: none */
	struct etw_kernel_event *added;           /* what was added last at this moment, or NULL */
};

/*
 * etw_kernel_out_init() - queues for every processor of the host.
 *
 * @host:  borrowed as long as the queues live
 * @marks: host->cpu_count of them, or NULL
 *
 * Returns 0 or -ENOMEM.
 */
int etw_kernel_out_init(struct etw_kernel_out *out, const struct etw_source_host *host,
			const struct etw_source_mark *marks);

/* etw_kernel_out_done() - frees everything. */
void etw_kernel_out_done(struct etw_kernel_out *out);

/* etw_kernel_out_begin() - the next events are of this moment; @item: the record, or NULL. */
void etw_kernel_out_begin(struct etw_kernel_out *out, uint64_t time_ns, uint32_t cpu,
			  struct etw_kernel_item *item);

/* etw_kernel_out_slot() - the next events of this moment are of this kind; their numbers only rise. */
void etw_kernel_out_slot(struct etw_kernel_out *out, enum etw_kernel_slot slot);

/*
 * etw_kernel_out_add() - room for one more event of this moment, zeroed.
 *
 * @byte_count: at most 65535
 * @time_at:    where the header's time stands
 *
 * Returns the bytes, to be filled before the next call; NULL when a former host had the event already,
 * or when memory ran out (counted).
 */
uint8_t *etw_kernel_out_add(struct etw_kernel_out *out, uint32_t byte_count, uint32_t time_at);

/* etw_kernel_out_repeat_time() - the event that was added last has its time at @time_at, too. */
void etw_kernel_out_repeat_time(struct etw_kernel_out *out, uint32_t time_at);

/* etw_kernel_out_skip() - an event is missing where others like it have one: its number stays its own. */
void etw_kernel_out_skip(struct etw_kernel_out *out);

/*
 * etw_kernel_out_account() - what became of the stack of the event that was added last: counted when it is taken.
 *
 * @event: enum etw_kernel_stack_event
 */
void etw_kernel_out_account(struct etw_kernel_out *out, uint32_t event, enum wire_stack_fate fate,
			    bool lacks_user);

/*
 * etw_kernel_out_is_new() - whether no former host has output the event of this place.
 *
 * @number: as the events of a record are numbered
 */
bool etw_kernel_out_is_new(const struct etw_kernel_out *out, uint32_t cpu, uint64_t time_ns,
			   uint64_t number);

/* etw_kernel_out_next_ns() - when the next event of a processor was; UINT64_MAX: there is none. */
uint64_t etw_kernel_out_next_ns(const struct etw_kernel_out *out, uint32_t cpu);

/* etw_kernel_out_peek() - the next event of a processor; false: none, or its time is not known yet. */
bool etw_kernel_out_peek(struct etw_kernel_out *out, uint32_t cpu, struct etw_source_event *ret);

/* etw_kernel_out_stack() - the StackWalk event right behind the one that is next; unchanged: none. */
void etw_kernel_out_stack(const struct etw_kernel_out *out, uint32_t cpu,
			  struct etw_source_event *ret);

/* etw_kernel_out_pop() - takes it; there must be one that etw_kernel_out_peek() showed. */
void etw_kernel_out_pop(struct etw_kernel_out *out, uint32_t cpu, struct etw_source_mark *ret_mark);

#endif
