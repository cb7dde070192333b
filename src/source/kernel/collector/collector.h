/* SPDX-License-Identifier: MIT */
/*
 * Streams in, one order of time, events out: the records that were read go through the tracker, oldest first, and
 * come out as events that wait for the engine.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_COLLECTOR_COLLECTOR_H
#define ETW_SOURCE_KERNEL_COLLECTOR_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "source/kernel/collector/cpu_out.h"
#include "source/kernel/events/task_stacks.h"
#include "source/kernel/out/out.h"
#include "source/kernel/out/watermark.h"
#include "source/kernel/rings/streams.h"
#include "source/kernel/tracker/own_live.h"
#include "source/kernel/tracker/tracker.h"
#include "source/kernel/unwind/unwinder.h"

struct etw_kernel_collector {
	const struct etw_source_host *host; /* borrowed */
	struct etw_kernel_streams streams;
	struct etw_kernel_out out;
	struct etw_kernel_cpu_out cpu_out;
	struct etw_kernel_tracker *tracker;   /* owned */
	struct etw_kernel_unwinder *unwinder; /* owned; NULL: copied stacks were never wanted */
	struct etw_kernel_own *own; /* borrowed; NULL: the kernel's own code is not followed */
	struct etw_kernel_watermark watermark;
	bool is_behind;                       /* the last reading has left some of what had come */
	uint64_t applied_ns;                  /* every record before was applied */
	struct etw_announced_queue announced; /* to be applied in the order of time */
	uint64_t announced_ns;                /* no later one is from before; 0: there is none */
	struct etw_kernel_moment_stack stack; /* of the record that is applied */
};

/*
 * etw_kernel_collector_init() - without any stream; the owner opens `streams.ring`.
 *
 * @host:  borrowed as long as the collector lives
 * @marks: as for etw_kernel_out_init()
 *
 * Returns 0 or -ENOMEM, and is to be done in any case.
 */
int etw_kernel_collector_init(struct etw_kernel_collector *collector,
			      const struct etw_source_host *host,
			      const struct etw_source_mark *marks);

/* etw_kernel_collector_unwind() - copied stacks are unwound from here on. Returns 0 or -ENOMEM. */
int etw_kernel_collector_unwind(struct etw_kernel_collector *collector);

/* etw_kernel_collector_done() - takes what was zeroed. */
void etw_kernel_collector_done(struct etw_kernel_collector *collector);

/*
 * etw_kernel_collector_collect() - a bounded step: reads what has come and applies it.
 *
 * Returns as the `collect` of struct etw_source_ops.
 */
int etw_kernel_collector_collect(struct etw_kernel_collector *collector,
				 int64_t *ret_watermark_raw);

/*
 * etw_kernel_collector_announce() - what processes announced, before each etw_kernel_collector_collect() once there was any.
 *
 * @queue:    taken
 * @until_ns: CLOCK_MONOTONIC: later news are of this time or later
 */
void etw_kernel_collector_announce(struct etw_kernel_collector *collector,
				   struct etw_announced_queue *queue, uint64_t until_ns);

/*
 * etw_kernel_collector_read_all() - everything up to now into the heap, nothing of it applied, also when more is held than
 * etw_kernel_collector_collect() reads on with. A record that is being written is waited for, two seconds at most.
 */
void etw_kernel_collector_read_all(struct etw_kernel_collector *collector);

/*
 * etw_kernel_collector_apply() - makes events of all records in the heap up to @until_ns, or, where the last reading has
 * left some, up to the moment before which all were read: what is told next is not later than what is still to come.
 */
void etw_kernel_collector_apply(struct etw_kernel_collector *collector, uint64_t until_ns);

/* etw_kernel_collector_begin() - the next events are of now, on this CPU; as etw_kernel_out_begin(). */
void etw_kernel_collector_begin(struct etw_kernel_collector *collector,
				struct etw_kernel_item *item);

/* etw_kernel_collector_peek() - the next event of a processor; false: none, or its time is not known yet. */
bool etw_kernel_collector_peek(struct etw_kernel_collector *collector, uint32_t cpu,
			       struct etw_source_event *ret);

/*
 * etw_kernel_collector_look() - what is beside the event that etw_kernel_collector_peek() showed: its moment, and the
 * StackWalk event behind it; 0 bytes: none.
 */
void etw_kernel_collector_look(struct etw_kernel_collector *collector, uint32_t cpu,
			       uint64_t *ret_moment_ns, struct etw_source_event *ret_stack);

/* etw_kernel_collector_pop() - takes the event that etw_kernel_collector_peek() showed. */
void etw_kernel_collector_pop(struct etw_kernel_collector *collector, uint32_t cpu,
			      struct etw_source_mark *ret_mark);

#endif
