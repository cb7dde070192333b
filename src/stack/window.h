/* SPDX-License-Identifier: MIT */
/*
 * The events that went by last, by their time: a stack's event tells no more of the event that it belongs to than its time
 * and its thread. Private to src/stack.
 */
#ifndef ETW_STACK_WINDOW_H
#define ETW_STACK_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct etw_stack_target;

struct etw_stack_entry {
	int64_t time_raw;
	uint64_t token;                  /* the caller's */
	struct etw_stack_target *target; /* what has been found for it so far, or NULL */
	uint64_t before; /* the number of the entry before in its bucket, plus 1; 0: none */
	uint32_t tid;
	uint16_t processor;
	bool is_wanted; /* the caller waits for what becomes of it */
};

struct etw_stack_window {
	struct etw_stack_entry *entries; /* owned; `room` of them, a power of two */
	uint64_t *buckets;               /* owned; the number of the newest entry, plus 1 */
	uint64_t count;                  /* of all that were ever added */
	uint32_t room;
};

/* etw_stack_window_init() - for so many entries. Returns 0 or -ENOMEM. */
int etw_stack_window_init(struct etw_stack_window *window, uint32_t room);
void etw_stack_window_done(struct etw_stack_window *window);

/*
 * etw_stack_window_oldest() - the entry that the next addition overwrites; NULL while there is room.
 */
struct etw_stack_entry *etw_stack_window_oldest(const struct etw_stack_window *window);

/* etw_stack_window_add() - @entry: copied. Returns where it is now. */
struct etw_stack_entry *etw_stack_window_add(struct etw_stack_window *window,
					     const struct etw_stack_entry *entry);

/* etw_stack_window_at() - from the oldest on; NULL at or above their count. */
struct etw_stack_entry *etw_stack_window_at(const struct etw_stack_window *window, uint32_t index);

/*
 * etw_stack_window_find() - the event of this time that fits best, or NULL.
 *
 * Of the thread and the processor; else of the thread; else of no known thread on the processor. Of equally good ones the
 * one that was added last.
 */
struct etw_stack_entry *etw_stack_window_find(const struct etw_stack_window *window,
					      int64_t time_raw, uint32_t tid, uint16_t processor);

#endif
