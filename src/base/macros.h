/* SPDX-License-Identifier: MIT */
/*
 * The few macros of the house: cleanup, early return, array sizes and branch hints. The points at which
 * race tests may interfere are in base/sched_point.h.
 */
#ifndef ETW_BASE_MACROS_H
#define ETW_BASE_MACROS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ARRAY_SIZE(array)   (sizeof(array) / sizeof((array)[0]))
#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* For functions that are worth it only where their arguments are known to the compiler. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

#define ETW_END 1 /* positive status: nothing more to come */

/* CLEANUP(fn) on a local: fn(&local) runs when it leaves scope. */
#define CLEANUP(function) __attribute__((cleanup(function)))

/* TAKE(pointer): hands the value out and leaves NULL, so that a CLEANUP on it does nothing. */
#define TAKE(pointer)                                        \
	__extension__({                                      \
		__typeof__(pointer) take_value_ = (pointer); \
		(pointer) = NULL;                            \
		take_value_;                                 \
	})

/* TRY(expression): returns from the calling function when the expression is negative. */
#define TRY(expression)                         \
	do {                                    \
		int try_result_ = (expression); \
		if (UNLIKELY(try_result_ < 0))  \
			return try_result_;     \
	} while (0)

/* For CLEANUP on memory of malloc(). */
static inline void freep(void *pointer)
{
	free(*(void **)pointer);
}

#define ALIGN_UP(value, alignment) \
	(((value) + ((__typeof__(value))(alignment)-1)) & ~((__typeof__(value))(alignment)-1))

#endif
