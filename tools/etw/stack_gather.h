/* SPDX-License-Identifier: MIT */
/*
 * What a pass over stacks keeps: events that wait for their stack, addresses of stacks in a tree, and what an address
 * depends on. Private to tools/etw/stack_profile.c.
 */
#ifndef ETW_TOOLS_ETW_STACK_GATHER_H
#define ETW_TOOLS_ETW_STACK_GATHER_H

#include "tools/etw/stack_data.h"
#include "tools/etw/stack_images.h"

/* An event that waits for its stack. */
struct stack_pending {
	uint32_t machine, pid, tid;
	uint32_t next_free; /* plus 1; while it is none */
	int64_t time_ft;
	uint64_t weight;
	uint64_t address;  /* where the processor was; 0: unknown */
	uint64_t *skipped; /* it is no such event, and counted here; NULL */
	const struct stack_place *place;
};

/*
 * What the addresses of a stack depend on: the process, the program that it ran, and how many images of it were gone by
 * then. As long as these are the same, more images may come, but an address that was in one stays there.
 */
struct stack_place {
	uint32_t machine, pid;
	uint64_t gone;
	const struct etw_process_program *program; /* NULL: unknown */
	int64_t time_ft;                           /* of the last event there */
	uint32_t number;
};

/* A thread that does not run. */
struct stack_switched {
	uint32_t tid;
	bool is_out, is_waiting;
	int64_t since_ft;
};

struct stack_machine {
	const struct etw_processes *processes;
	struct stack_images images;
	struct etw_table switched; /* in the arena */
	struct etw_table gone;     /* in the arena; by process */
	uint64_t kernel_gone;
	int64_t sample_ft;
};

struct stack_trace {
	struct stack_gather *gather;
	struct etw_stacks *stacks;
};

struct stack_gather {
	struct stack_profile *profile;
	struct stack_machine *machines; /* owned */
	struct stack_trace *traces;     /* owned */
	uint32_t *machine_of;           /* owned; of each trace */
	struct etw_arena arena;
	struct etw_table places;      /* in the arena */
	struct etw_calls raw;         /* places, threads, addresses */
	struct stack_pending *events; /* owned */
	uint32_t event_count, event_room, first_free;
	struct etw_call **path; /* owned; of the stack at hand */
	size_t path_room;
	struct lazy lazy;
	struct etw_progress progress;
	int64_t start_ft;
};

/* stack_gather_create() - for the profile's inputs; makes the profile's symbols. Returns 0 or -ENOMEM. */
int stack_gather_create(struct stack_profile *profile, struct stack_gather **ret);

/* stack_gather_free() - takes NULL. */
void stack_gather_free(struct stack_gather *gather);

/*
 * stack_gather_hold() - keeps an event until its stack is there.
 *
 * @ret: what etw_stacks_add() is to be given. Returns 0 or -ENOMEM.
 */
int stack_gather_hold(struct stack_gather *gather, const struct stack_pending *event,
		      uint32_t *ret);

/* stack_gather_forget() - an image of this process is gone. Returns 0 or -ENOMEM. */
int stack_gather_forget(struct stack_gather *gather, size_t machine, uint32_t pid);

/* stack_gather_resolve() - looks all addresses up and fills the profile's calls (stack_resolve.c). Returns 0 or -ENOMEM. */
int stack_gather_resolve(struct stack_gather *gather);

/* Kinds of names in the tree of addresses. */
enum {
	STACK_RAW_PLACE, /* `number`: the struct stack_place */
	STACK_RAW_THREAD,
	STACK_RAW_RETURN, /* an address that a call returns to */
	STACK_RAW_EXACT,  /* where the thread was */
	STACK_RAW_ALONE,  /* the same, and nothing else is known of its stack */
};

#endif
