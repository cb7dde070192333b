/* SPDX-License-Identifier: MIT */
#include "source/kernel/unwind/unwind_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

struct etw_kernel_stack {
	struct etw_kernel_stack *next_in_bucket;
	struct etw_kernel_stack *older, *younger;
	uint64_t key_ns;
	uint32_t tid, count;
	uint64_t frames[];
};

int etw_kernel_stacks_init(struct etw_kernel_stacks *stacks)
{
	*stacks = (struct etw_kernel_stacks){0};
	stacks->buckets = calloc(ETW_KERNEL_STACK_BUCKETS, sizeof(struct etw_kernel_stack *));
	return stacks->buckets ? 0 : -ENOMEM;
}

static struct etw_kernel_stack **bucket_of(const struct etw_kernel_stacks *stacks, uint32_t tid,
					   uint64_t key_ns)
{
	uint64_t hash = (key_ns ^ (uint64_t)tid << 40) * UINT64_C(0x9E3779B97F4A7C15);

	return &stacks->buckets[hash >> 40 & (ETW_KERNEL_STACK_BUCKETS - 1)];
}

static void take_out(struct etw_kernel_stacks *stacks, struct etw_kernel_stack *stack)
{
	struct etw_kernel_stack **at = bucket_of(stacks, stack->tid, stack->key_ns);

	while (*at != stack)
		at = &(*at)->next_in_bucket;
	*at = stack->next_in_bucket;
	if (stack->older)
		stack->older->younger = stack->younger;
	else
		stacks->first = stack->younger;
	if (stack->younger)
		stack->younger->older = stack->older;
	else
		stacks->last = stack->older;
	stacks->count--;
	free(stack);
}

void etw_kernel_stacks_done(struct etw_kernel_stacks *stacks)
{
	while (stacks->first)
		take_out(stacks, stacks->first);
	free(stacks->buckets);
	*stacks = (struct etw_kernel_stacks){0};
}

int etw_kernel_stacks_add(struct etw_kernel_stacks *stacks, uint32_t tid, uint64_t key_ns,
			  const uint64_t *frames, uint32_t count)
{
	struct etw_kernel_stack **bucket = bucket_of(stacks, tid, key_ns);
	struct etw_kernel_stack *stack;

	if (stacks->count == ETW_KERNEL_STACKS_MAX)
		take_out(stacks, stacks->first);
	stack = malloc(sizeof(*stack) + count * sizeof(frames[0]));
	if (!stack)
		return -ENOMEM;
	*stack = (struct etw_kernel_stack){
		.next_in_bucket = *bucket,
		.older = stacks->last,
		.key_ns = key_ns,
		.tid = tid,
		.count = count,
	};
	memcpy(stack->frames, frames, count * sizeof(frames[0]));
	*bucket = stack;
	if (stacks->last)
		stacks->last->younger = stack;
	else
		stacks->first = stack;
	stacks->last = stack;
	stacks->count++;
	return 0;
}

uint32_t etw_kernel_stacks_take(struct etw_kernel_stacks *stacks, uint32_t tid, uint64_t key_ns,
				uint64_t *frames, uint32_t room)
{
	struct etw_kernel_stack *stack = *bucket_of(stacks, tid, key_ns);
	uint32_t count;

	while (stack && (stack->tid != tid || stack->key_ns != key_ns))
		stack = stack->next_in_bucket;
	if (!stack)
		return 0;
	count = MIN(stack->count, room);
	memcpy(frames, stack->frames, count * sizeof(frames[0]));
	take_out(stacks, stack);
	return count;
}
