/* SPDX-License-Identifier: MIT */
/*
 * Finds the stack of each event, in one pass over events in order of time.
 *
 * A stack comes behind its event, in one piece or in two halves (kernel and process), with its frames or with the key of
 * a cached half; and the frames behind a key come last of all, when the cache drops them or the session ends. So an event
 * waits here, as a token of the caller's, until all of its stack is there. What waits is bounded: the window of
 * events that a stack may still name, and the stacks whose rest has not come; where a trace has more, the
 * oldest is told of as it is. docs/format/stacks.md has the rules.
 *
 * Context: one owner thread.
 */
#ifndef ETW_STACK_ATTACH_H
#define ETW_STACK_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evntcons.h>

#define ETW_STACK_WINDOW_EVENTS     ((uint32_t)1 << 18)
#define ETW_STACK_PENDING_MAX       ((size_t)1 << 18)  /* events with a part of their stack */
#define ETW_STACK_PENDING_BYTES_MAX ((size_t)64 << 20) /* of frames that wait */

struct etw_callstack {
	const uint64_t *frames; /* innermost first; borrowed for the call */
	uint32_t count;
	uint32_t kernel_count; /* of them, from the first on: in the kernel */
	uint32_t pid, tid;     /* whose it is, as the stack says itself */
};

/* What became of an event's stack. */
enum etw_stack_fate {
	ETW_STACK_WHOLE,
	ETW_STACK_KERNEL_ONLY, /* of a process' thread, and the half in the process never came */
	ETW_STACK_NONE,        /* nothing tells of one */
	ETW_STACK_UNDEFINED,   /* only keys, and the frames behind them never came */
	ETW_STACK_FATES,
};

struct etw_stack_counts {
	uint64_t walks;       /* StackWalk events with frames */
	uint64_t references;  /* StackWalk events with a key */
	uint64_t items;       /* stacks as items of events */
	uint64_t definitions; /* of cached halves */
	uint64_t strays;      /* of walks and references: no event has that time and thread */
	uint64_t undefined;   /* halves of events whose definition never came */
	uint64_t late;        /* halves of which their event had one already */
	uint64_t given_up;    /* events whose stack was told of early, for want of room */
	uint64_t damaged;     /* StackWalk events that cannot be read */
	uint64_t left_out;    /* keys or threads beyond the limits */
};

/*
 * etw_stacks_done_fn() - called once for each event that was added with a wish for its stack, in no certain order.
 *
 * @stack: count is 0 for ETW_STACK_NONE and ETW_STACK_UNDEFINED
 *
 * Returns 0, or a negative errno, which ends the pass.
 */
typedef int (*etw_stacks_done_fn)(void *context, uint64_t token, enum etw_stack_fate fate,
				  const struct etw_callstack *stack);

struct etw_stacks;

/*
 * etw_stacks_create() - for one trace.
 *
 * @pointer_bytes: of the machine, as the trace's header says: tells addresses of the kernel from others
 *
 * Returns 0 or -ENOMEM.
 */
int etw_stacks_create(unsigned pointer_bytes, etw_stacks_done_fn done, void *context,
		      struct etw_stacks **ret);

/* etw_stacks_free() - takes NULL; calls nobody. */
void etw_stacks_free(struct etw_stacks *stacks);

/*
 * etw_stacks_add() - takes in the next event.
 *
 * @time_raw:  its time, in the clock of the session, whatever its record says
 * @is_wanted: the caller waits for its stack; may be called within this call already
 *
 * Every event of the trace is to be added, wanted or not. Returns 0, -ENOMEM, or what the callback returned.
 */
int etw_stacks_add(struct etw_stacks *stacks, const EVENT_RECORD *record, int64_t time_raw,
		   bool is_wanted, uint64_t token);

/* etw_stacks_end() - the trace is over: tells of everything that still waits, in order of time. As etw_stacks_add(). */
int etw_stacks_end(struct etw_stacks *stacks);

/* etw_stacks_counts() - so far. */
const struct etw_stack_counts *etw_stacks_counts(const struct etw_stacks *stacks);

#endif
