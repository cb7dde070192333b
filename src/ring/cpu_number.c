/* SPDX-License-Identifier: MIT */
#include "ring/cpu_number.h"

#include <sched.h>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#endif

__attribute__((visibility("hidden"))) ptrdiff_t etw_cpu_number_at;

/* At the same distance from every thread's pointer. */
static _Thread_local int32_t unknown __attribute__((tls_model("initial-exec"))) = -1;

void etw_cpu_number_prepare(void)
{
	ptrdiff_t at = (const uint8_t *)&unknown - (const uint8_t *)__builtin_thread_pointer();

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
	if (__rseq_size >= offsetof(struct rseq, cpu_id) + sizeof(uint32_t))
		at = __rseq_offset + (ptrdiff_t)offsetof(struct rseq, cpu_id);
#endif
	store_relaxed(&etw_cpu_number_at, at);
}

uint32_t etw_cpu_number(void)
{
	int cpu;

	if (load_relaxed(&etw_cpu_number_at)) {
		/* Negative: this thread's registration failed. */
		const int32_t number = (int32_t)etw_cpu_number_fast();

		if (number >= 0)
			return (uint32_t)number;
	}
	cpu = sched_getcpu();
	return cpu < 0 ? 0 : (uint32_t)cpu;
}
