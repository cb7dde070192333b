/* SPDX-License-Identifier: MIT */
/*
 * The kernel's streams, read into one heap by time: the BPF ring is stream 0, the records of CPU i about code that is
 * mapped are stream 1 + i, copied stacks are the stream behind those, and behind it are the records about mappings that
 * may not be executed. Frequent events have rings of their own (cpu_rings.h).
 * What the records mean is collector.h.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_RINGS_STREAMS_H
#define ETW_SOURCE_KERNEL_RINGS_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/source.h"
#include "source/kernel/out/items.h"
#include "source/kernel/perf/cpus.h"
#include "source/kernel/perf/mappings.h"
#include "source/kernel/rings/cpu_rings.h"
#include "source/kernel/rings/ring.h"

/* perf reads the clock before it reserves; a record may come so much later than its time says. */
#define ETW_KERNEL_PERF_SLACK_NS UINT64_C(1000000)

struct etw_kernel_streams {
	uint32_t cpu_count;
	struct etw_kernel_ring ring; /* opened by the owner */
	struct etw_kernel_cpu_rings
		cpu_rings; /* opened by the owner when frequent events are wanted */
	/* Owned; those of code of each CPU, then those of data; NULL: images were never wanted. */
	struct etw_kernel_perf_ring *perfs;
	uint8_t *perf_record;              /* owned; of ETW_KERNEL_PERF_RECORD_MAX bytes */
	struct etw_kernel_stream *streams; /* owned; see above */
	struct etw_kernel_heap heap;
	uint64_t read_ns;            /* every record before is in the heap */
	uint64_t *lost_mappings;     /* owned; of code, on each processor */
	uint64_t *lost_pieces;       /* owned; likewise of what may not be executed */
	bool is_broken;              /* the ring made no sense */
	struct etw_kernel_cpus cpus; /* open where @perfs is */
	bool is_mapping;             /* the rings of @perfs are enabled */
	bool is_waiting;             /* a processor came back, and what it left is not safe yet */
};

/* etw_kernel_streams_init() - Returns 0 or -ENOMEM. */
int etw_kernel_streams_init(struct etw_kernel_streams *streams, uint32_t cpu_count);

/* etw_kernel_streams_done() - closes the rings and frees what was read; takes what was zeroed. */
void etw_kernel_streams_done(struct etw_kernel_streams *streams);

/*
 * etw_kernel_streams_open_mappings() - perf's rings: all, or none where it fails. Does nothing where they are open.
 *
 * Returns 0; -EACCES without the privilege; -ENOMEM; else what the kernel said.
 */
int etw_kernel_streams_open_mappings(struct etw_kernel_streams *streams,
				     const struct etw_source_host *host, struct etw_fault *reterr);

/* etw_kernel_streams_enable_mappings() - where they are open. */
void etw_kernel_streams_enable_mappings(struct etw_kernel_streams *streams, bool is_on);

/*
 * etw_kernel_streams_follow_cpus() - opens the rings of processors that came, or came back, since the last call. What was
 * mapped there before is not known. Cheap when nothing changed.
 */
void etw_kernel_streams_follow_cpus(struct etw_kernel_streams *streams,
				    const struct etw_source_host *host);

/* etw_kernel_streams_take_copies() - copied stacks go into the heap, too; once `cpu_rings` are open. */
void etw_kernel_streams_take_copies(struct etw_kernel_streams *streams);

/*
 * etw_kernel_streams_read() - what has come, bounded.
 *
 * Returns 0 when all streams were read up to now, and `read_ns` says so; 1 when there is more; -ENOMEM.
 */
int etw_kernel_streams_read(struct etw_kernel_streams *streams);

/* etw_kernel_streams_release() - gives the kernel the memory back of records that nothing waits for any more. */
void etw_kernel_streams_release(struct etw_kernel_streams *streams);

#endif
