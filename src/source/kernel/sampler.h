/* SPDX-License-Identifier: MIT */
/*
 * The clock of samples: a perf event of the CPU clock on each processor, which runs the BPF program of samples whenever it
 * comes due. A processor that is idle is sampled as well.
 *
 * Context: the session's thread.
 * Source: docs/kernel-events/samples.md.
 */
#ifndef ETW_SOURCE_KERNEL_SAMPLER_H
#define ETW_SOURCE_KERNEL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/source.h"
#include "source/kernel/cpus.h"

struct etw_kernel_sampler_cpu;

struct etw_kernel_sampler {
	const struct etw_source_host *host;  /* borrowed */
	struct etw_kernel_sampler_cpu *cpus; /* owned; host->cpu_count; NULL: never sampled */
	struct etw_kernel_cpus list;         /* open where @cpus is */
	int program_fd;                      /* borrowed */
	uint64_t period_ns;                  /* of each processor; 0: not sampling */
};

/*
 * etw_kernel_sampler_period() - how far apart samples can be.
 *
 * @interval_ft: as it is wanted, in 100 ns; 0: 1 ms
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
 * @interval_ft: as for etw_kernel_sampler_period(); `period_ns` has what came of it
 *
 * Returns 0; -EACCES without the privilege, -ENOMEM, else what the kernel said, with @reterr.
 */
int etw_kernel_sampler_start(struct etw_kernel_sampler *sampler, const struct etw_source_host *host,
			     int program_fd, uint32_t interval_ft, struct etw_fault *reterr);

/* etw_kernel_sampler_interval() - in 100 ns; 0: no samples are taken. */
static inline uint32_t etw_kernel_sampler_interval(const struct etw_kernel_sampler *sampler)
{
	return (uint32_t)(sampler->period_ns / 100);
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
