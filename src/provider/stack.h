/* SPDX-License-Identifier: MIT */
/*
 * The stack of user code in which an event is written: by the tables of compilers (base/unwind.h), which code without
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

/*
 * Marks each function of the library that may stand between the program and the request for an event: a stack begins where
 * the last of them returns to, whatever the compiler made of the calls between them. They have a section of their own.
 */
#define ETW_STACK_ENTRY __attribute__((section("libetw_entry")))

/* By the linker: where the section lies. NULL in a program that has none. */
#define ETW_STACK_EDGE __attribute__((weak, visibility("hidden")))
extern const uint8_t etw_stack_entries_start[] __asm__("__start_libetw_entry") ETW_STACK_EDGE;
extern const uint8_t etw_stack_entries_end[] __asm__("__stop_libetw_entry") ETW_STACK_EDGE;

#define ETW_STACK_FRAMES_MAX 192 /* as on Windows; what is further out is cut */

struct etw_stack {
	uint32_t count;
	uintptr_t frames[ETW_STACK_FRAMES_MAX]; /* where each goes on, the innermost first */
};

/* Where the functions that are marked so lie. */
struct etw_stack_entries {
	uintptr_t start, end; /* both 0: there are none */
};

/* etw_stack_own_entries() - those of this copy of the library. */
struct etw_stack_entries etw_stack_own_entries(void);

/*
 * etw_stack_add_entries() - another copy of the library, in the same process, hands its callers on to this one. Of more than
 * eight such copies stacks begin inside the copy. Context: any thread, no lock.
 */
void etw_stack_add_entries(struct etw_stack_entries entries);

/*
 * etw_stack_walk() - the stack of the calling thread, from the caller of the library on; all of it where no function of it
 * is marked.
 *
 * Context: any thread, signal-safe, no lock, no allocation. A thread's first walk, and one on a stack that it was not on
 * lately, makes some system calls; so does each one in a handler that interrupted a coroutine on a stack of its own.
 */
void etw_stack_walk(struct etw_stack *ret);

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
