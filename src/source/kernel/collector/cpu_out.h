/* SPDX-License-Identifier: MIT */
/*
 * The frequent events that come next, one front for each processor: the record is made into its event and its stack when
 * the engine looks at it, in memory that is used again for the next one.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_COLLECTOR_CPU_OUT_H
#define ETW_SOURCE_KERNEL_COLLECTOR_CPU_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "source/kernel/events/cpu_events.h"
#include "source/kernel/out/out.h"
#include "source/kernel/out/stack_account.h"
#include "source/kernel/rings/cpu_rings.h"
#include "source/kernel/unwind/unwind_stacks.h"

struct etw_kernel_front;

struct etw_kernel_cpu_out {
	const struct etw_source_host *host;
	struct etw_kernel_cpu_rings *rings;      /* borrowed */
	const struct etw_kernel_out *out;        /* borrowed: what a former host output */
	struct etw_kernel_front *fronts;         /* owned; host->cpu_count */
	struct etw_kernel_cpu_maker maker;       /* its routines and its seen are set later */
	uint64_t until_ns;                       /* everything up to it was read */
	uint64_t retired_ns;                     /* what it was when names were retired last */
	struct etw_kernel_stacks *stacks;        /* borrowed: what was unwound; NULL: nothing is */
	struct etw_kernel_stack_account account; /* of the stacks that were asked for */
};

/* etw_kernel_cpu_out_init() - all is borrowed as long as it lives. Returns 0 or -ENOMEM. */
int etw_kernel_cpu_out_init(struct etw_kernel_cpu_out *cpu_out, const struct etw_source_host *host,
			    struct etw_kernel_cpu_rings *rings, const struct etw_kernel_out *out);

/* etw_kernel_cpu_out_done() - takes what was zeroed. */
void etw_kernel_cpu_out_done(struct etw_kernel_cpu_out *cpu_out);

/*
 * etw_kernel_cpu_out_next_ns() - when the next frequent event of a processor was, up to @until_ns; UINT64_MAX: there is
 * none.
 */
uint64_t etw_kernel_cpu_out_next_ns(struct etw_kernel_cpu_out *cpu_out, uint32_t cpu,
				    uint64_t until_ns);

/* etw_kernel_cpu_out_peek() - that event; false: its time is not known yet. There must be one. */
bool etw_kernel_cpu_out_peek(struct etw_kernel_cpu_out *cpu_out, uint32_t cpu,
			     struct etw_source_event *ret);

/* etw_kernel_cpu_out_stack() - the stack behind the event that etw_kernel_cpu_out_peek() showed; unchanged: none. */
void etw_kernel_cpu_out_stack(const struct etw_kernel_cpu_out *cpu_out, uint32_t cpu,
			      struct etw_source_event *ret);

/* etw_kernel_cpu_out_pop() - takes the event that etw_kernel_cpu_out_peek() showed. */
void etw_kernel_cpu_out_pop(struct etw_kernel_cpu_out *cpu_out, uint32_t cpu,
			    struct etw_source_mark *ret_mark);

/*
 * etw_kernel_cpu_out_look_ahead() - notes the addresses of the kernel in the events that are still to come, so that the end of
 * a session has their symbols, too: it is written before they are made.
 */
void etw_kernel_cpu_out_look_ahead(const struct etw_kernel_cpu_out *cpu_out);

#endif
