/* SPDX-License-Identifier: MIT */
/* On which CPU a thread runs, for two loads: from the area that glibc shares with the kernel (rseq). */
#ifndef ETW_RING_CPU_NUMBER_H
#define ETW_RING_CPU_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"

/*
 * Where a thread's number lies, from its thread pointer. Where glibc shares no area, the place of a number that is
 * always negative. Atomic; 0 before etw_cpu_number_prepare().
 */
extern __attribute__((visibility("hidden"))) ptrdiff_t etw_cpu_number_at;

/* etw_cpu_number_prepare() - before the first etw_cpu_number_fast(); any number of times. Any thread. */
void etw_cpu_number_prepare(void);

/*
 * etw_cpu_number_fast() - the CPU that runs the caller, as good as any such number: it may have changed since.
 *
 * More than any CPU's number where it is not known: etw_cpu_number(). Context: any thread, signal-safe.
 */
static inline uint32_t etw_cpu_number_fast(void)
{
	const uint8_t *own = (const uint8_t *)__builtin_thread_pointer();
	const void *at = own + load_relaxed(&etw_cpu_number_at);

	return load_relaxed((const uint32_t *)at);
}

/* etw_cpu_number() - the same, by a system call where it must be; 0 when nothing tells. Needs no preparation. */
uint32_t etw_cpu_number(void);

#endif
