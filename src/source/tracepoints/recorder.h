/* SPDX-License-Identifier: MIT */
/*
 * The tracepoints of a session: which are open, and what becomes of their records.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_TRACEPOINTS_RECORDER_H
#define ETW_SOURCE_TRACEPOINTS_RECORDER_H

#include "base/source.h"
#include "source/kernel/out/watermark.h"
#include "source/kernel/perf/cpus.h"
#include "source/tracepoints/point.h"
#include "source/tracepoints/queue.h"
#include "source/tracepoints/rings.h"
#include "source/tracepoints/wanted.h"

#define ETW_TRACEPOINT_TYPES 65536 /* numbers that the kernel can give */

/* Of one processor. */
struct etw_tracepoint_cpu {
	struct etw_tracepoint_rings rings;
	struct etw_tracepoint_queue queue;
	uint64_t no_memory; /* events lost for want of it */
};

struct etw_tracepoint_recorder {
	const struct etw_source_host *host;
	int events_fd;                       /* owned; -1: tracefs was not needed yet */
	struct etw_tracepoint_point *points; /* owned; all that were ever open */
	struct etw_tracepoint_point *
		*by_type;  /* owned; ETW_TRACEPOINT_TYPES; borrows from the list */
	uint32_t only_pid; /* of what is open */
	uint32_t wish_count;
	struct etw_tracepoint_wish **wishes; /* owned, each */
	struct etw_kernel_cpus cpus;
	struct etw_tracepoint_cpu *of_cpus; /* owned; host->cpu_count */
	struct etw_kernel_watermark watermark;
	uint64_t held_bytes;
	bool has_ended;
	uint8_t *buffer, *payload; /* owned scratch, ETW_KERNEL_PERF_RECORD_MAX each */
	struct etw_tracepoint_sample sample;
	char name[2 * ETW_TRACEPOINT_NAME_BYTES_MAX + 2]; /* of what a fault is about */
};

/* etw_tracepoint_recorder_init() - with nothing open. Returns 0 or -ENOMEM; either way _done() is to be called. */
int etw_tracepoint_recorder_init(struct etw_tracepoint_recorder *recorder,
				 const struct etw_source_host *host);

/* etw_tracepoint_recorder_done() - closes and frees all. */
void etw_tracepoint_recorder_done(struct etw_tracepoint_recorder *recorder);

/*
 * etw_tracepoint_recorder_want() - records what these wishes choose from now on, and nothing else.
 *
 * @only_pid: this process and who descends from it, which nobody does yet; 0: all
 *
 * What cannot be had is left out, and the rest goes on.
 *
 * Returns 0, or why the first that is left out is, with @reterr, whose field is its name.
 */
int etw_tracepoint_recorder_want(struct etw_tracepoint_recorder *recorder,
				 const struct etw_source_provider *providers, uint32_t count,
				 uint32_t only_pid, struct etw_fault *reterr);

/* etw_tracepoint_recorder_retell() - says anew what is recorded. Returns 0 or -ENOMEM. */
int etw_tracepoint_recorder_retell(struct etw_tracepoint_recorder *recorder);

/* etw_tracepoint_recorder_end() - records no more, and says once more what everything was. Returns 0 or -ENOMEM. */
int etw_tracepoint_recorder_end(struct etw_tracepoint_recorder *recorder);

/* etw_tracepoint_recorder_collect() - as collect of struct etw_source_ops. */
int etw_tracepoint_recorder_collect(struct etw_tracepoint_recorder *recorder,
				    int64_t *ret_watermark_raw);

/* etw_tracepoint_recorder_loss() - as loss of struct etw_source_ops. */
void etw_tracepoint_recorder_loss(struct etw_tracepoint_recorder *recorder,
				  struct etw_source_loss *ret);

#endif
