/* SPDX-License-Identifier: MIT */
/*
 * What one event says about stacks: the events of class StackWalk, the stacks that other events carry as extended items,
 * and of which thread the stack of an event is. Pure reading; what belongs together is found by stack/attach.h.
 * Source: docs/format/stacks.md.
 */
#ifndef ETW_STACK_PART_H
#define ETW_STACK_PART_H

#include <stdbool.h>
#include <stdint.h>

#include <evntcons.h>

#define ETW_STACK_NO_THREAD UINT32_MAX

enum etw_stack_part_kind {
	ETW_STACK_FRAMES,     /* frames of an event's stack: all of it, or one half */
	ETW_STACK_KEY_KERNEL, /* the half in the kernel is a cached one */
	ETW_STACK_KEY_USER,   /* the half in the process is */
	ETW_STACK_KEY,        /* one of the two is; the definition tells which */
	ETW_STACK_DEFINITION, /* the frames of a cached half */
};

struct etw_stack_part {
	enum etw_stack_part_kind kind;
	int64_t time_raw; /* of the event that it belongs to; of a StackWalk event only */
	uint32_t pid, tid;
	uint64_t key;          /* of a cached half */
	uint64_t match;        /* of an item: equal in both halves; 0: of no meaning */
	const uint8_t *frames; /* innermost first; borrowed from the record */
	uint32_t count;
	uint8_t frame_bytes; /* 4 or 8 */
};

/* etw_stack_is_walk() - whether it is an event of class StackWalk. */
bool etw_stack_is_walk(const EVENT_RECORD *record);

/*
 * etw_stack_part_read() - reads an event of class StackWalk.
 *
 * Returns false for an opcode that nobody knows, and for a payload that is too short.
 */
bool etw_stack_part_read(const EVENT_RECORD *record, struct etw_stack_part *ret);

/*
 * etw_stack_item_read() - the next stack among an event's extended items.
 *
 * @index: where to look from on; 0 at first, set behind what was found
 *
 * Returns false when there is none any more. Damaged items are passed over.
 */
bool etw_stack_item_read(const EVENT_RECORD *record, unsigned *index, struct etw_stack_part *ret);

/* etw_stack_is_user_half() - whether an event says nothing but the user half of the stack of earlier ones. */
bool etw_stack_is_user_half(const EVENT_RECORD *record);

/*
 * etw_stack_is_subject() - whether a stack can belong to such an event: false for stacks themselves, and for what tells
 * of the trace, such as the identities of images, which have the time and the thread of the events that they stand for.
 */
bool etw_stack_is_subject(const EVENT_RECORD *record);

/*
 * etw_stack_owner() - the thread whose stack an event's is.
 *
 * Of a switch it is the thread that runs from now on; where the header has none, the payload may. Returns
 * ETW_STACK_NO_THREAD where neither says it: it is the thread that ran on the processor.
 */
uint32_t etw_stack_owner(const EVENT_RECORD *record);

/* etw_stack_frame() - @index below part->count. */
uint64_t etw_stack_frame(const struct etw_stack_part *part, uint32_t index);

/* etw_stack_in_kernel() - whether an address is one of the kernel, in a trace whose pointers are so wide. */
static inline bool etw_stack_in_kernel(uint64_t address, unsigned pointer_bytes)
{
	return address >=
	       (pointer_bytes == 4 ? UINT64_C(0x80000000) : UINT64_C(0xFFFF000000000000));
}

#endif
