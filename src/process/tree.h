/* SPDX-License-Identifier: MIT */
/*
 * Which process started which: the processes of a machine as a forest. Parents come from the trace, which may lie: no
 * process is above itself, whatever it says.
 */
#ifndef ETW_PROCESS_TREE_H
#define ETW_PROCESS_TREE_H

#include <stdint.h>

#include "process/processes.h"

struct etw_process_node {
	const struct etw_process *process;
	struct etw_process_node *parent, *first_child, *next; /* children by start */
};

struct etw_process_tree {
	struct etw_process_node *nodes; /* owned; by number */
	struct etw_process_node *first; /* of the roots */
	size_t count;
};

/* etw_process_tree_build() - returns 0 with a tree for etw_process_tree_done(), or -ENOMEM. */
int etw_process_tree_build(const struct etw_processes *processes, struct etw_process_tree *ret);

/* etw_process_tree_done() - takes a zeroed tree. */
void etw_process_tree_done(struct etw_process_tree *tree);

/*
 * etw_process_tree_next() - the node after @node, depth first.
 *
 * @root:  what to stay below; NULL: all roots
 * @depth: of @node; becomes that of the result
 *
 * Returns NULL at the end.
 */
const struct etw_process_node *etw_process_tree_next(const struct etw_process_node *root,
						     const struct etw_process_node *node,
						     size_t *depth);

#endif
