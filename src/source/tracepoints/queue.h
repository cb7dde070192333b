/* SPDX-License-Identifier: MIT */
/*
 * Events of one processor that wait for the engine, in order of time. What perf hands over is in order but for interrupts,
 * whose records come before that of the code that they interrupted.
 */
#ifndef ETW_SOURCE_TRACEPOINTS_QUEUE_H
#define ETW_SOURCE_TRACEPOINTS_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"

struct etw_tracepoint_item {
	struct etw_tracepoint_item *next, *before;
	uint64_t time_ns;
	uint64_t number; /* orders those of one moment */
	int64_t time_raw;
	bool is_timed;
	uint32_t byte_count;
	uint8_t bytes[] __attribute__((aligned(8)));
};

struct etw_tracepoint_queue {
	struct etw_tracepoint_item *first, *last; /* owned */
	uint64_t floor_ns;                        /* nothing before it may come any more */
	uint64_t next_number;
};

/* etw_tracepoint_item_new() - one with zeroed bytes, the caller's; NULL: no memory. */
struct etw_tracepoint_item *etw_tracepoint_item_new(uint32_t byte_count);

/* etw_tracepoint_item_set_time() - its session time, also in its header. */
void etw_tracepoint_item_set_time(struct etw_tracepoint_item *item, int64_t time_raw);

/* etw_tracepoint_queue_add() - takes it. One from before what was handed out gets the time up to which that was. */
void etw_tracepoint_queue_add(struct etw_tracepoint_queue *queue, struct etw_tracepoint_item *item);

/*
 * etw_tracepoint_queue_peek() - the next event, with its time.
 *
 * Returns false when there is none, or its time is not known yet.
 */
bool etw_tracepoint_queue_peek(struct etw_tracepoint_queue *queue,
			       const struct etw_source_host *host, struct etw_source_event *ret);

/* etw_tracepoint_queue_pop() - takes off what was peeked at; the caller's. */
struct etw_tracepoint_item *etw_tracepoint_queue_pop(struct etw_tracepoint_queue *queue);

/* etw_tracepoint_queue_done() - frees all. */
void etw_tracepoint_queue_done(struct etw_tracepoint_queue *queue);

#endif
