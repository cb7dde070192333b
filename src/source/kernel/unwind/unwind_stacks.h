/* SPDX-License-Identifier: MIT */
/*
 * Stacks of user code that were unwound and wait for their events: each is asked for once, by its thread and the moment
 * when it was copied. Of those that nobody asks for the oldest make room.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_UNWIND_UNWIND_STACKS_H
#define ETW_SOURCE_KERNEL_UNWIND_UNWIND_STACKS_H

#include <stddef.h>
#include <stdint.h>

#define ETW_KERNEL_STACKS_MAX    65536
#define ETW_KERNEL_STACK_BUCKETS 16384 /* a power of two */

struct etw_kernel_stack;

struct etw_kernel_stacks {
	struct etw_kernel_stack **buckets;     /* owned */
	struct etw_kernel_stack *first, *last; /* by age */
	size_t count;
};

/* etw_kernel_stacks_init() - Returns 0 or -ENOMEM. */
int etw_kernel_stacks_init(struct etw_kernel_stacks *stacks);
/* etw_kernel_stacks_done() - frees everything; takes what was zeroed. */
void etw_kernel_stacks_done(struct etw_kernel_stacks *stacks);

/* etw_kernel_stacks_add() - @frames: copied. Returns 0 or -ENOMEM. */
int etw_kernel_stacks_add(struct etw_kernel_stacks *stacks, uint32_t tid, uint64_t key_ns,
			  const uint64_t *frames, uint32_t count);

/*
 * etw_kernel_stacks_take() - takes a stack out.
 *
 * @frames: room for @room addresses; what is more is cut at the outer end
 *
 * Returns how many there are; 0: it is not known.
 */
uint32_t etw_kernel_stacks_take(struct etw_kernel_stacks *stacks, uint32_t tid, uint64_t key_ns,
				uint64_t *frames, uint32_t room);

#endif
