/* SPDX-License-Identifier: MIT */
#include "process/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"

/* Those that were there before the trace come first. */
static int64_t start_of(const struct etw_process *process)
{
	return process->has_start ? process->start_ft : INT64_MIN;
}

static int compare(const void *left_at, const void *right_at)
{
	const struct etw_process *left = (*(struct etw_process_node *const *)left_at)->process;
	const struct etw_process *right = (*(struct etw_process_node *const *)right_at)->process;

	if (start_of(left) != start_of(right))
		return start_of(left) < start_of(right) ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/*
 * Cuts circles. Each node is walked up from once: @marks has the walk that has been at a node, so that one that comes
 * back to itself is told from one that meets an older, sound one.
 */
static void cut_circles(struct etw_process_tree *tree, size_t *marks)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct etw_process_node *node = &tree->nodes[i];

		while (node && !marks[node - tree->nodes]) {
			marks[node - tree->nodes] = i + 1;
			if (node->parent && marks[node->parent - tree->nodes] == i + 1)
				node->parent = NULL;
			node = node->parent;
		}
	}
}

static void link_children(struct etw_process_tree *tree, struct etw_process_node **order)
{
	/* From the last to the first, each before those that came before. */
	for (size_t i = tree->count; i-- > 0;) {
		struct etw_process_node *node = order[i];
		struct etw_process_node **first = node->parent ? &node->parent->first_child
							       : &tree->first;

		node->next = *first;
		*first = node;
	}
}

int etw_process_tree_build(const struct etw_processes *processes, struct etw_process_tree *ret)
{
	const size_t count = etw_processes_count(processes);
	CLEANUP(freep)
	struct etw_process_node **order = calloc(count + 1, sizeof(struct etw_process_node *));
	CLEANUP(freep) size_t *marks = calloc(count + 1, sizeof(*marks));
	struct etw_process_tree tree = {.nodes = calloc(count + 1, sizeof(*tree.nodes)),
					.count = count};

	if (!order || !marks || !tree.nodes) {
		free(tree.nodes);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		const struct etw_process *process = etw_processes_at(processes, i);
		const struct etw_process *parent = etw_processes_parent(processes, process);

		order[i] = &tree.nodes[i];
		tree.nodes[i].process = process;
		tree.nodes[i].parent = parent ? &tree.nodes[parent->number] : NULL;
	}
	cut_circles(&tree, marks);
	qsort(order, count, sizeof(struct etw_process_node *), compare);
	link_children(&tree, order);
	*ret = tree;
	return 0;
}

void etw_process_tree_done(struct etw_process_tree *tree)
{
	free(tree->nodes);
	*tree = (struct etw_process_tree){0};
}

const struct etw_process_node *etw_process_tree_next(const struct etw_process_node *root,
						     const struct etw_process_node *node,
						     size_t *depth)
{
	if (node->first_child) {
		++*depth;
		return node->first_child;
	}
	while (node && node != root && !node->next) {
		node = node->parent;
		--*depth;
	}
	return !node || node == root ? NULL : node->next;
}
