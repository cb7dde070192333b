/* SPDX-License-Identifier: MIT */
/*
 * All sources of samples of a session: the timer, and the counters that were chosen.
 *
 * Context: the session's thread.
 * Source: docs/kernel-events/samples.md.
 */
#ifndef ETW_SOURCE_KERNEL_PERF_SAMPLERS_H
#define ETW_SOURCE_KERNEL_PERF_SAMPLERS_H

#include "source/kernel/perf/sampler.h"

struct etw_kernel_samplers {
	const struct etw_kernel_perf_calls *calls; /* borrowed; NULL: the kernel's */
	struct etw_kernel_sampler at[ETW_PROFILE_SOURCES];
};

/* The programs that samples run; borrowed. */
struct etw_kernel_sample_programs {
	int sample, counter_sample;
};

/*
 * etw_kernel_samplers_start() - samples by what is wanted, and by nothing else.
 *
 * A source that cannot be had is left out, and the others go on.
 *
 * @host:  borrowed as long as the samplers live
 * @kinds: ETW_KERNEL_SAMPLE and ETW_KERNEL_COUNTER_SAMPLE are looked at; loses those of which nothing comes
 *
 * Returns 0, or what the first source that failed said, with @reterr; -EINVAL where counters are wanted and none was chosen.
 */
int etw_kernel_samplers_start(struct etw_kernel_samplers *samplers,
			      const struct etw_source_host *host,
			      const struct etw_kernel_sample_programs *programs,
			      const struct etw_source_request *request, uint32_t *kinds,
			      struct etw_fault *reterr);

/* etw_kernel_samplers_intervals() - of each source by its place; 0: it is not sampled by. */
void etw_kernel_samplers_intervals(const struct etw_kernel_samplers *samplers,
				   uint32_t ret[ETW_PROFILE_SOURCES]);

/* etw_kernel_samplers_stop() - no more samples; what is in the rings can still be read. */
void etw_kernel_samplers_stop(struct etw_kernel_samplers *samplers);
/* etw_kernel_samplers_follow_cpus() - opens the events of processors that came. Cheap when nothing changed. */
void etw_kernel_samplers_follow_cpus(struct etw_kernel_samplers *samplers);
/* etw_kernel_samplers_look() - takes what the rings tell of throttling. */
void etw_kernel_samplers_look(struct etw_kernel_samplers *samplers);
/* etw_kernel_samplers_throttled() - how often the kernel held samples back on @cpu. */
uint64_t etw_kernel_samplers_throttled(const struct etw_kernel_samplers *samplers, uint32_t cpu);
/* etw_kernel_samplers_done() - closes everything; takes what was zeroed. */
void etw_kernel_samplers_done(struct etw_kernel_samplers *samplers);

#endif
