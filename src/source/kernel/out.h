/* SPDX-License-Identifier: MIT */
/*
 * Events that wait for the engine: for each processor a queue in order of time. An event gets its
 * session time when it is looked at, because the clock's next sample may have to come first.
 *
 * Serials: (nanoseconds << 6) + number of the event among those of one record. No two records of a CPU
 * have the same nanosecond, so a serial says what a former host has output already. Each kind of event has
 * numbers of its own (enum etw_kernel_slot), because the next host may know of more or fewer images than
 * the one that died. 58 bits of nanoseconds are nine years of uptime.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_OUT_H
#define ETW_SOURCE_KERNEL_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "source/kernel/items.h"

#define ETW_KERNEL_SERIAL_BITS 6

/* First numbers, in the order in which the events of one record come. */
enum etw_kernel_slot {
	ETW_KERNEL_SLOT_UNLOADS = 0,
	ETW_KERNEL_SLOT_THREAD_ENDS = 30,
	ETW_KERNEL_SLOT_END = 40,
	ETW_KERNEL_SLOT_START = 41,
	ETW_KERNEL_SLOT_THREAD_START = 42,
	ETW_KERNEL_SLOT_LOADS = 43,
	ETW_KERNEL_SLOT_RUNDOWN = 62,
	ETW_KERNEL_SLOTS = 64,
};

struct etw_kernel_event;

struct etw_kernel_queue {
	struct etw_kernel_event *first, *last; /* owned */
	uint64_t mark;                         /* a former host output up to here */
};

struct etw_kernel_out {
	const struct etw_source_host *host;
	struct etw_kernel_queue *queues; /* owned; host->cpu_count */
	uint64_t held_bytes;             /* of all queued events */
	uint64_t no_memory;              /* events lost for want of memory */
	/* What events are made of now: etw_kernel_out_begin(). */
	struct etw_kernel_item *item;
	uint64_t time_ns;
	uint32_t cpu;
	uint32_t number, number_max;
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

/* etw_kernel_out_slot() - the next events take numbers from @first, the last one before @end for many. */
void etw_kernel_out_slot(struct etw_kernel_out *out, enum etw_kernel_slot first,
			 enum etw_kernel_slot end);

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

/* etw_kernel_out_peek() - the next event of a processor; false: none, or its time is not known yet. */
bool etw_kernel_out_peek(struct etw_kernel_out *out, uint32_t cpu, struct etw_source_event *ret);

/* etw_kernel_out_pop() - takes it; there must be one that etw_kernel_out_peek() showed. */
void etw_kernel_out_pop(struct etw_kernel_out *out, uint32_t cpu, struct etw_source_mark *ret_mark);

#endif
