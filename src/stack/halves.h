/* SPDX-License-Identifier: MIT */
/*
 * Halves of stacks: frames that are there, or a key whose frames come later. Several events may have one. Private to
 * src/stack.
 */
#ifndef ETW_STACK_HALVES_H
#define ETW_STACK_HALVES_H

#include "base/arena.h"
#include "base/table.h"
#include "stack/list.h"
#include "stack/part.h"

#define ETW_STACK_KEYS_MAX ((size_t)1 << 20) /* of cached halves; as many threads */

struct etw_stack_half {
	struct etw_stack_link waiting; /* the events that want its frames */
	struct etw_stack_key *key;     /* whose current half it is; NULL: of none any more */
	uint64_t *frames;              /* owned */
	uint32_t count;
	uint32_t references; /* events that have it */
	bool is_defined;
};

/* Whether a definition is one of the kernel: of one key there may be two at the same time. */
enum etw_stack_side {
	ETW_STACK_SIDE_KERNEL,
	ETW_STACK_SIDE_USER,
	ETW_STACK_SIDE_EITHER, /* whichever is defined first */
	ETW_STACK_SIDES,
};

struct etw_stack_halves {
	struct etw_arena arena;
	struct etw_table keys; /* in the arena */
	size_t bytes;          /* of frames that are kept */
};

/* etw_stack_halves_done() - all halves were dropped before, or are still held by keys only. */
void etw_stack_halves_done(struct etw_stack_halves *halves);

/* etw_stack_half_of_frames() - one with the frames of a part; without a reference. NULL when memory ran out. */
struct etw_stack_half *etw_stack_half_of_frames(struct etw_stack_halves *halves,
						const struct etw_stack_part *part);

/*
 * etw_stack_half_of_key() - the one that this key stands for now, until its definition comes.
 *
 * Returns 0; -ENOBUFS when there are too many keys; -ENOMEM.
 */
int etw_stack_half_of_key(struct etw_stack_halves *halves, uint64_t key, enum etw_stack_side side,
			  struct etw_stack_half **ret);

/*
 * etw_stack_half_define() - gives the half that this key stands for its frames; the key stands for none then.
 *
 * @ret: NULL when no event has asked for the key since its last definition. Returns 0 or -ENOMEM.
 */
int etw_stack_half_define(struct etw_stack_halves *halves, const struct etw_stack_part *part,
			  enum etw_stack_side side, struct etw_stack_half **ret);

/* etw_stack_half_drop() - gives back one reference, or an unused half; takes NULL. */
void etw_stack_half_drop(struct etw_stack_halves *halves, struct etw_stack_half *half);

#endif
