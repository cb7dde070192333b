/* SPDX-License-Identifier: MIT */
/*
 * A chain of calls at whose end something is called: compiled several times, with and without frame pointers and tables, the
 * function's name being CALLER.
 */
#include "recording/stack_caller.h"

#include <stddef.h>

#define NO_INLINE __attribute__((noinline))

NO_INLINE static void go_down(struct stack_chain *chain, unsigned depth)
{
	if (depth == 0)
		chain->call(chain);
	else
		go_down(chain, depth - 1);
	__asm__ volatile("" : : : "memory"); /* no jump in place of the call */
	chain->returns[chain->count++] = (uintptr_t)__builtin_return_address(0);
}

void CALLER(struct stack_chain *chain)
{
	chain->count = 0;
	go_down(chain, STACK_CHAIN_DEPTH - 1);
	__asm__ volatile("" : : : "memory");
}
