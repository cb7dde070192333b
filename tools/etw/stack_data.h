/* SPDX-License-Identifier: MIT */
/* What is asked of the stacks of traces, and what came of it. */
#ifndef ETW_TOOLS_ETW_STACK_DATA_H
#define ETW_TOOLS_ETW_STACK_DATA_H

#include "stack/attach.h"
#include "stack/calls.h"
#include "symbol/symbols.h"
#include "tools/common/inputs.h"
#include "tools/etw/account.h"
#include "tools/etw/filter_options.h"
#include "tools/etw/lazy.h"
#include "tools/etw/notes.h"

enum stack_events {
	STACK_SAMPLES,  /* profile samples: CPU time */
	STACK_SWITCHES, /* context switches: where the thread that is switched in had been waiting */
	STACK_OTHERS,   /* those that a filter wants */
};

/* What a level of the tree is. */
enum stack_level {
	STACK_PROCESS = 1, /* `function`: "name (pid)", `number`: the pid */
	STACK_THREAD,      /* `function`: "thread 12", `number`: the tid */
	STACK_BROKEN,      /* the stack does not reach where threads begin */
	STACK_FRAME,       /* `number`: of the place, where the function is unknown */
};

struct stack_query {
	enum stack_events events;
	bool by_count;         /* not by time */
	struct filter *filter; /* borrowed; of STACK_OTHERS */
	bool threads;          /* a level for each */
	bool lines, inlines, mangled;
	const char *root, *symbol_path; /* struct etw_symbols_options */
	struct etw_words names;         /* of processes, with wildcards; none: all */
	struct etw_words pids;
	/* Of the processes that are known; NULL: all. */
	bool (*wants_process)(const void *context, const struct etw_process *process);
	const void *wants_context;
	int64_t from_ft,
		to_ft; /* of the events; images and stacks are taken from all of the trace */
};

#define STACK_FRAMELESS_MAX 64 /* modules that are told apart */

/* A module whose functions keep no frame pointers. */
struct stack_frameless {
	const struct etw_symbol_module *module;
	uint64_t stacks;
};

struct stack_counts {
	uint64_t events;                 /* that were asked about */
	uint64_t fates[ETW_STACK_FATES]; /* of their stacks */
	uint64_t broken;
	uint64_t idle; /* samples of processors that had nothing to do: not among the events */
	uint64_t without_wait; /* switches to threads of which no wait is known: likewise */
	uint64_t cut;          /* stacks of which a part went beyond a limit */
	/* Stacks that were followed by frame pointers, through code that keeps none: callers are missing. */
	uint64_t frameless;
};

struct stack_profile {
	struct stack_query query;
	struct etw_inputs *inputs; /* borrowed, as are the next two */
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_calls calls; /* summed; below the root processes */
	struct stack_counts counts;
	struct etw_stack_counts attach; /* of all traces */
	struct account *accounts;       /* owned; of each trace */
	uint64_t loss_marks;
	bool by_tables; /* a trace says that its stacks were followed by tables of unwinding */
	struct stack_frameless frameless[STACK_FRAMELESS_MAX]; /* the most stacks first */
	size_t frameless_count;
	struct notes notes;           /* of all traces */
	uint64_t seen;                /* events of the traces */
	int64_t sample_ft;            /* between two samples; of several machines of the first */
	struct etw_symbols **symbols; /* owned; one for each machine */
	size_t machines;
	struct stack_gather *gather; /* while the pass goes on */
};

#endif
