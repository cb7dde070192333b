/* SPDX-License-Identifier: MIT */
/*
 * perf's records of tracepoints: who, when, the stack where it was asked for, and the tracepoint's record; or how many were
 * lost.
 * Source: perf_event_open(2).
 */
#ifndef ETW_SOURCE_TRACEPOINTS_SAMPLE_H
#define ETW_SOURCE_TRACEPOINTS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/*
 * What is asked of each sample; with a stack PERF_SAMPLE_CALLCHAIN, too. Without the period, a tracepoint that counts
 * something else than its hits, as sched_stat_runtime counts nanoseconds, would give a sample for each of these.
 */
#define ETW_TRACEPOINT_SAMPLE_TYPE                                                   \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | \
	 PERF_SAMPLE_RAW)

#define ETW_TRACEPOINT_FRAMES_MAX 192

struct etw_tracepoint_sample {
	bool is_lost; /* lost_count were lost, and nothing else is there */
	uint64_t lost_count;
	uint32_t pid, tid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t frame_count;
	uint64_t frames[ETW_TRACEPOINT_FRAMES_MAX];
	struct etw_bytes record; /* borrowed; its first two bytes are the tracepoint's number */
};

/*
 * etw_tracepoint_sample_parse() - takes a record apart.
 *
 * @at: @byte_count bytes, perf's header included; 8-aligned
 *
 * Returns 1; 0 for a record of no use; -EBADMSG for one that makes no sense.
 */
int etw_tracepoint_sample_parse(const uint8_t *at, uint32_t byte_count, bool has_stack,
				struct etw_tracepoint_sample *ret);

#endif
