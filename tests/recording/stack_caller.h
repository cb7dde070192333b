/* SPDX-License-Identifier: MIT */
/* Chains of calls of code that was compiled in several ways; see stack_caller.c. */
#ifndef ETW_TESTS_RECORDING_STACK_CALLER_H
#define ETW_TESTS_RECORDING_STACK_CALLER_H

#include <stdint.h>

#define STACK_CHAIN_DEPTH 10

struct stack_chain {
	void (*call)(struct stack_chain *chain); /* at its end */
	uintptr_t returns[STACK_CHAIN_DEPTH];    /* where its frames go on, the innermost first */
	unsigned count;
	void *context;
};

void call_by_tables(struct stack_chain *chain);            /* without frame pointers */
void call_by_tables_and_frames(struct stack_chain *chain); /* with both */
void call_by_frames(struct stack_chain *chain);            /* without tables */

#endif
