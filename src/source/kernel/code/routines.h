/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel's functions are that serve system calls and soft interrupts. Their events name functions on Windows; Linux'
 * tracepoints have numbers. The kernel's table of calls has no address that can be found everywhere, so the functions
 * are found by their names: those of the calls in the table that scripts/gen_syscalls makes, those of soft interrupts here.
 * Source: docs/kernel-events/system-calls.md.
 */
#ifndef ETW_SOURCE_KERNEL_CODE_ROUTINES_H
#define ETW_SOURCE_KERNEL_CODE_ROUTINES_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/bpf/cpu_records.h"

#define ETW_KERNEL_CALLS   512
#define ETW_KERNEL_VECTORS 256

#define ETW_KERNEL_TRACED  16                      /* tracepoints with stacks */
#define ETW_KERNEL_TRACERS (2 * ETW_KERNEL_TRACED) /* functions that call their programs */

#define ETW_KERNEL_CALLS_END 4096 /* numbers of calls are below it; functions are far above */

struct etw_kernel_routines {
	bool is_read;
	/* 0: not known */
	uint64_t native[ETW_KERNEL_CALLS];
	uint64_t compat[ETW_KERNEL_CALLS]; /* of 32-bit programs */
	uint64_t soft[ETW_KERNEL_SOFT_NUMBERS];
	uint64_t vectors[ETW_KERNEL_VECTORS]; /* of x86 processors' own interrupts */
	struct etw_kernel_tracer {
		uint64_t start, end;
	} tracers[ETW_KERNEL_TRACERS];
};

/*
 * etw_kernel_routines_read() - looks for all of them, once.
 *
 * @path: ETW_KALLSYMS_PATH, or a file like it
 *
 * Where addresses are hidden all stay unknown. Returns 0, or what opening or reading says.
 */
int etw_kernel_routines_read(struct etw_kernel_routines *routines, const char *path);

/*
 * etw_kernel_routines_call() - what serves a system call.
 *
 * Returns the address; where it is not known the number, and behind ETW_KERNEL_CALLS_END that of a 32-bit program.
 */
uint64_t etw_kernel_routines_call(const struct etw_kernel_routines *routines, uint32_t number,
				  bool is_compat);

/* etw_kernel_routines_call_name() - the name of the kernel's function, without prefixes. Static; NULL: there is no such call. */
const char *etw_kernel_routines_call_name(uint32_t number, bool is_compat);

/* etw_kernel_routines_vector() - what serves an interrupt of the processor itself; its vector where that is not known. */
uint64_t etw_kernel_routines_vector(const struct etw_kernel_routines *routines, uint32_t vector);

/* etw_kernel_routines_soft() - what serves a soft interrupt; its number where that is not known. */
uint64_t etw_kernel_routines_soft(const struct etw_kernel_routines *routines, uint32_t number);

/*
 * etw_kernel_routines_is_tracer() - whether an address is in a function that calls the programs of a tracepoint which has
 * several: no caller of anything that is traced.
 */
bool etw_kernel_routines_is_tracer(const struct etw_kernel_routines *routines, uint64_t address);

#endif
