/* SPDX-License-Identifier: MIT */
/*
 * Records on their way: each lies in the memory of the stream that it came from (the BPF ring), or was copied out of it
 * (perf's rings of mappings, copied stacks), waits in one heap for its turn in time, and holds its place in the stream until
 * every event made of it is safe.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_OUT_ITEMS_H
#define ETW_SOURCE_KERNEL_OUT_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etw_kernel_item {
	struct etw_kernel_item *next; /* of the same stream */
	uint64_t time_ns;
	uint64_t order; /* decides between equal times */
	uint64_t end;   /* position of the stream behind the record */
	uint32_t cpu;
	uint32_t outstanding; /* events that were not popped yet */
	bool is_applied;
	bool is_mapping; /* a perf record, copied to @bytes; else @record */
	bool is_stack;   /* a copied stack: struct etw_kernel_stack_copy in @bytes */
	uint32_t byte_count;
	const void *record; /* 8-aligned, complete */
	uint8_t bytes[] __attribute__((aligned(8)));
};

/* The records of one stream, oldest first. */
struct etw_kernel_stream {
	struct etw_kernel_item *first, *last; /* owned */
};

struct etw_kernel_heap_slot {
	struct etw_kernel_item *item; /* belongs to its stream */
};

struct etw_kernel_heap {
	struct etw_kernel_heap_slot *at; /* owned; the least first, as in every heap */
	size_t count, room;
	uint64_t next_order;
};

/*
 * etw_kernel_heap_add() - a new record of @stream.
 *
 * @item: all but next, order, outstanding and is_applied filled in; taken when 0 is returned
 *
 * Returns 0 or -ENOMEM.
 */
int etw_kernel_heap_add(struct etw_kernel_heap *heap, struct etw_kernel_stream *stream,
			struct etw_kernel_item *item);

/* etw_kernel_heap_peek() - the earliest record, or NULL. */
struct etw_kernel_item *etw_kernel_heap_peek(const struct etw_kernel_heap *heap);

/* etw_kernel_heap_take() - takes the earliest record off the heap; there must be one. */
struct etw_kernel_item *etw_kernel_heap_take(struct etw_kernel_heap *heap);

/* etw_kernel_heap_done() - frees the array, not the items. */
void etw_kernel_heap_done(struct etw_kernel_heap *heap);

/*
 * etw_kernel_stream_release() - frees the records at the front that nothing waits for any more.
 *
 * @ret_position: the stream's position behind them
 *
 * Returns whether there were any.
 */
bool etw_kernel_stream_release(struct etw_kernel_stream *stream, uint64_t *ret_position);

/* etw_kernel_stream_done() - frees all records. */
void etw_kernel_stream_done(struct etw_kernel_stream *stream);

#endif
