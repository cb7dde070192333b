/* SPDX-License-Identifier: MIT */
/*
 * Trees of calls: weighted stacks summed up. From the outermost function in, by name, and from a function back to its
 * callers. What a level is (a process, a thread, a function) is the caller's; levels with equal names are one.
 * All orders are by weight, then by name, so that they are the same whenever the stacks are.
 *
 * Context: one owner thread.
 */
#ifndef ETW_STACK_CALLS_H
#define ETW_STACK_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"

/* What is kept of hostile traces at most. */
#define ETW_CALLS_NODES_MAX ((size_t)1 << 21)
#define ETW_CALLS_NAMES_MAX ((size_t)1 << 20)

/* What a level of a stack is called. NULL and 0 are names too; strings count by their characters. */
struct etw_call_name {
	uint32_t kind; /* the caller's */
	uint32_t line;
	const char *module, *function, *file;
	uint64_t number; /* the caller's: an offset, an id, a pointer */
};

/* A name that is in stacks, with its sums. */
struct etw_call {
	struct etw_call_name name;
	uint64_t exclusive; /* weight of stacks of which it is the innermost */
	uint64_t
		inclusive; /* of stacks that it is in: once of each, however often it is in there */
	uint64_t count;    /* how many stacks that were */
	size_t open;       /* while sums are made */
	uint32_t identity;
};

/* A level in its place. */
struct etw_call_node {
	struct etw_call *call;
	struct etw_call_node *parent, *first, *next; /* children in order once sorted */
	struct etw_call_node *made_before;           /* of all nodes */
	uint64_t exclusive, inclusive;               /* weights */
	uint64_t count;                              /* stacks that go through it */
	uint32_t identity;
};

struct etw_calls {
	struct etw_arena arena;
	struct etw_table names, nodes; /* in the arena */
	struct etw_call_node root;     /* of no name; `inclusive` is the sum of all weights */
	struct etw_call_node *newest;
	struct etw_call *rest; /* stands for all names beyond the limit */
	uint64_t cut;          /* stacks of which the inner levels went beyond a limit */
};

/* etw_calls_done() - frees everything; takes a zeroed struct, which is an empty tree. */
void etw_calls_done(struct etw_calls *calls);

/*
 * etw_calls_name() - the call with this name; made when there is none.
 *
 * @name: its strings are copied
 *
 * Returns 0 or -ENOMEM.
 */
int etw_calls_name(struct etw_calls *calls, const struct etw_call_name *name,
		   struct etw_call **ret);

/*
 * etw_calls_add() - adds a stack.
 *
 * @path:   of this tree's calls, the outermost first
 * @weight: of what is measured; @count: how many stacks it stands for
 *
 * Returns 0 or -ENOMEM.
 */
int etw_calls_add(struct etw_calls *calls, struct etw_call *const *path, size_t levels,
		  uint64_t weight, uint64_t count);

/* etw_calls_sum() - sorts all children, heaviest first, and makes the sums by name. Returns 0 or -ENOMEM. */
int etw_calls_sum(struct etw_calls *calls);

enum etw_calls_order {
	ETW_CALLS_EXCLUSIVE,
	ETW_CALLS_INCLUSIVE,
};

/*
 * etw_calls_list() - all names of one kind, heaviest first; behind etw_calls_sum().
 *
 * @ret: owned by the tree's arena. Returns 0 or -ENOMEM.
 */
int etw_calls_list(struct etw_calls *calls, uint32_t kind, enum etw_calls_order order,
		   struct etw_call ***ret, size_t *ret_count);

/*
 * etw_calls_invert() - the callers of some calls: a tree whose first level is they, and each next level who called.
 *
 * @wanted: which calls; asked with @context
 * @ret:    zeroed; summed
 *
 * Where such a call is in a stack more than once, the outermost counts. Behind etw_calls_sum(). Returns 0 or -ENOMEM.
 */
int etw_calls_invert(const struct etw_calls *calls,
		     bool (*wanted)(void *context, const struct etw_call *call), void *context,
		     struct etw_calls *ret);

/*
 * etw_call_node_next() - goes through a tree, parents first.
 *
 * @top:   where it began; NULL is returned behind what is below it
 * @depth: kept up to date
 * @skip:  nothing below @node is wanted
 */
struct etw_call_node *etw_call_node_next(const struct etw_call_node *top,
					 const struct etw_call_node *node, bool skip,
					 size_t *depth);

/* etw_call_compare() - two names in the order of kind, module, function, file, line, number. */
int etw_call_compare(const struct etw_call_name *left, const struct etw_call_name *right);

#endif
