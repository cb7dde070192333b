/* SPDX-License-Identifier: MIT */
/*
 * The stack of user code in which an event is written: by the tables of compilers (provider/unwind.h), which code without
 * frame pointers has too, and by frame pointers where a place of code has none, as what a program made while it
 * runs. Rules that were found are kept, so that a frame costs a few loads.
 *
 * A stack that is corrupt ends the walk: nothing is read outside of the mapping in which the stack lies, each frame lies
 * above the one before, and there are 192 of them at most. Of code that a signal interrupted on a stack that is none, the
 * place alone is told.
 */
#ifndef ETW_PROVIDER_STACK_H
#define ETW_PROVIDER_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define ETW_STACK_FRAMES_MAX 192 /* as on Windows; what is further out is cut */

struct etw_stack {
	uint32_t count;
	uintptr_t frames[ETW_STACK_FRAMES_MAX]; /* where each goes on, the innermost first */
};

/*
 * etw_stack_walk() - the callers of this function from @caller on.
 *
 * @caller: an address that one of the frames goes on at, the first to be told; 0, or one that is no frame's: all are
 *
 * Context: any thread, signal-safe, no lock, no allocation. A thread's first walk, and one on a stack that it was not on
 * lately, makes some system calls; so does each one in a handler that interrupted a coroutine on a stack of its own.
 */
void etw_stack_walk(uintptr_t caller, struct etw_stack *ret);

/*
 * etw_stack_find_bounds() - the readable mapping that an address lies in, as /proc/self/maps tells it; the page of the
 * address where that cannot be read.
 *
 * @ret: low and high
 *
 * Returns whether there is one, and it could be read.
 */
bool etw_stack_find_bounds(uintptr_t at, uintptr_t ret[2]);

#endif
