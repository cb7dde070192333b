/* SPDX-License-Identifier: MIT */
/*
 * perf's rings of a processor, into which all tracepoints there write: one for those without stacks, one for those with.
 *
 * Loss is exact: each tracepoint's event counts what it lost, which is asked for once nothing more comes. Until then it is what
 * the kernel has told in the ring, which it does when there is room again.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_TRACEPOINTS_RINGS_H
#define ETW_SOURCE_TRACEPOINTS_RINGS_H

#include "source/kernel/perf/perf_ring.h"
#include "source/tracepoints/sample.h"

struct etw_tracepoint_rings {
	uint32_t cpu;
	struct etw_kernel_perf_ring rings[2]; /* [1]: with stacks */
	uint64_t told_lost;                   /* as the rings said it */
	uint64_t closed_lost;                 /* of events that are closed */
	uint64_t unreadable;                  /* records that made no sense */
	uint64_t lost;                        /* as it is told */
};

/* What is done with a sample. Returns 0 or negative errno, which ends the reading. */
typedef int etw_tracepoint_sample_fn(void *context, uint32_t cpu,
				     const struct etw_tracepoint_sample *sample);

/* etw_tracepoint_rings_init() - none is open. */
void etw_tracepoint_rings_init(struct etw_tracepoint_rings *rings, uint32_t cpu);

/*
 * etw_tracepoint_rings_open() - opens one, unless it is.
 *
 * @cpu_count: among whom memory is shared out
 *
 * Returns the descriptor that events are led to, borrowed; -ENODEV: the processor is offline; -EACCES without the privilege;
 * what the kernel says.
 */
int etw_tracepoint_rings_open(struct etw_tracepoint_rings *rings, uint32_t cpu_count,
			      bool has_stack);

/*
 * etw_tracepoint_rings_read() - reads what both have.
 *
 * @buffer:      ETW_KERNEL_PERF_RECORD_MAX bytes, 8-aligned
 * @sample:      scratch
 * @ret_last_ns: up to when all records were read for sure; far in the future where nothing is left
 *
 * Returns 0; 1: there is more; what @take returns.
 */
int etw_tracepoint_rings_read(struct etw_tracepoint_rings *rings, uint8_t *buffer,
			      struct etw_tracepoint_sample *sample, etw_tracepoint_sample_fn *take,
			      void *context, uint64_t *ret_last_ns);

/*
 * etw_tracepoint_rings_settle() - nothing more comes, and all was read.
 *
 * @lost: of the events that are open
 */
void etw_tracepoint_rings_settle(struct etw_tracepoint_rings *rings, uint64_t lost);

/* etw_tracepoint_rings_close() - both. */
void etw_tracepoint_rings_close(struct etw_tracepoint_rings *rings);

#endif
