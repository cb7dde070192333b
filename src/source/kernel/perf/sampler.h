/* SPDX-License-Identifier: MIT */
/*
 * One source of samples: a perf event on each processor, of the CPU clock or of what is counted, which runs the BPF program of
 * its samples whenever it comes due. A processor that is idle is sampled by the clock as well.
 *
 * Context: the session's thread.
 * Source: docs/kernel-events/samples.md.
 */
#ifndef ETW_SOURCE_KERNEL_PERF_SAMPLER_H
#define ETW_SOURCE_KERNEL_PERF_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/source.h"
#include "source/kernel/perf/cpus.h"
#include "source/kernel/perf/perf_calls.h"

struct etw_kernel_sampler_cpu;

struct etw_kernel_sampler {
	const struct etw_kernel_perf_calls *calls; /* borrowed; NULL: the kernel's */
	uint32_t source;                           /* its place: base/profile_source.h */
	const struct etw_source_host *host;        /* borrowed */
	struct etw_kernel_sampler_cpu *cpus;       /* owned; host->cpu_count; NULL: never sampled */
	struct etw_kernel_cpus list;               /* open where @cpus is */
	int program_fd;                            /* borrowed */
	uint64_t period; /* of each processor, of the timer in ns; 0: not sampling */
};

/*
 * etw_kernel_sampler_period() - how far apart samples by the clock can be.
 *
 * @interval_ft: as it is wanted, in 100 ns
 * @rate_max:    samples a second that the kernel allows a processor; 0: not known
 *
 * Returns what is next to it and possible, in nanoseconds: a multiple of 100.
 */
uint64_t etw_kernel_sampler_period(uint32_t interval_ft, uint32_t rate_max);

/*
 * etw_kernel_sampler_start() - samples, from now on at this interval. Events of a former host are taken over.
 *
 * @host:        borrowed as long as the sampler lives
 * @program_fd:  of the BPF program; borrowed as long
 * @interval:    of the source; 0: its own. `period` has what came of it
 *
 * Returns 0; -EACCES without the privilege, -ENOENT and others where the machine lacks the source, -EBUSY where it has no
 * counter left, -ENOMEM, else what the kernel said; with @reterr, whose field is the source's name.
 */
int etw_kernel_sampler_start(struct etw_kernel_sampler *sampler, const struct etw_source_host *host,
			     int program_fd, uint32_t interval, struct etw_fault *reterr);

/* etw_kernel_sampler_interval() - in the source's units; 0: no samples are taken. */
static inline uint32_t etw_kernel_sampler_interval(const struct etw_kernel_sampler *sampler)
{
	return (uint32_t)(sampler->source == ETW_PROFILE_SOURCE_TIMER ? sampler->period / 100
								      : sampler->period);
}

/* etw_kernel_sampler_stop() - no more samples, until it is started again. Takes what was zeroed. */
void etw_kernel_sampler_stop(struct etw_kernel_sampler *sampler);

/*
 * etw_kernel_sampler_follow_cpus() - samples processors that came, or came back, since the last call. Cheap when nothing
 * changed.
 */
void etw_kernel_sampler_follow_cpus(struct etw_kernel_sampler *sampler);

/* etw_kernel_sampler_look() - reads how often the kernel throttled. */
void etw_kernel_sampler_look(struct etw_kernel_sampler *sampler);

/* etw_kernel_sampler_throttled() - how often the kernel stopped a processor's event up to its next tick, as it was looked at. */
uint64_t etw_kernel_sampler_throttled(const struct etw_kernel_sampler *sampler, uint32_t cpu);

/* etw_kernel_sampler_done() - stops and closes all. Takes what was zeroed. */
void etw_kernel_sampler_done(struct etw_kernel_sampler *sampler);

#endif
