/* SPDX-License-Identifier: MIT */
/*
 * Which process started which, from the Process events of a Linux recording: a fork is a start, an exec is an
 * end and a start with the same UniqueProcessKey. CPU time comes from the ticks in the headers of Thread ends.
 */
#ifndef ETW_TOOLS_ETW_TREE_H
#define ETW_TOOLS_ETW_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "decode/decode.h"

struct tree_node {
	uint32_t pid;
	uint32_t parent_pid;
	uint64_t key;        /* UniqueProcessKey: the same for the whole life of a pid */
	const char *command; /* in the arena; of the last program that it ran */
	int64_t start_ft;    /* 0: it was there before the trace */
	int64_t end_ft;      /* 0: it is not in the trace */
	bool is_seen_at_end; /* the trace's last account of processes has it: it was still running */
	uint32_t status;     /* as waitpid() gives it */
	uint64_t cpu_ft;     /* 100 ns */
	struct tree_node *parent, *first_child, *last_child, *next; /* children by start */
	struct tree_node *next_node;                                /* all nodes, by start */
};

struct tree {
	struct etw_arena arena;
	struct etw_table pids; /* the last node of each pid */
	struct etw_table tids; /* CPU time that a thread had when it ended last */
	struct tree_node *first, *last;
	uint32_t tick_ft; /* what one tick in an event's header is; set by the owner */
	bool has_time;    /* some header had ticks */
};

/* tree_done() - frees everything; takes a zeroed tree. */
void tree_done(struct tree *tree);

/* tree_add() - takes in one event, in order of time. Returns 0 or -ENOMEM. */
int tree_add(struct tree *tree, const struct etw_decoding *decoding);

/*
 * tree_find() - the process that was started as @pid, or else ran this command line; NULL when there is none.
 *
 * The pid is not enough: in a container the trace has another one than this process sees.
 */
const struct tree_node *tree_find(const struct tree *tree, uint32_t pid, const char *command);

/* tree_count() - the node and all below it. */
size_t tree_count(const struct tree_node *node);

/*
 * tree_write() - appends a table of the node and all below it.
 *
 * @rows:  at most; the rest is counted
 * @width: of the terminal; 0: nothing is cut
 * @bold, @plain: what to put around the titles
 */
void tree_write(struct etw_text *text, const struct tree *tree, const struct tree_node *root,
		size_t rows, size_t width, const char *bold, const char *plain);

#endif
