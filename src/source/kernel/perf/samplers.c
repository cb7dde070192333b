/* SPDX-License-Identifier: MIT */
#include "source/kernel/perf/samplers.h"

#include <errno.h>

#include "source/kernel/bpf/cpu_records.h"

#define TIMER   ETW_PROFILE_SOURCE_TIMER
#define SAMPLE  (UINT32_C(1) << ETW_KERNEL_SAMPLE)
#define COUNTED (UINT32_C(1) << ETW_KERNEL_COUNTER_SAMPLE)

static int start_timer(struct etw_kernel_samplers *samplers, const struct etw_source_host *host,
		       const struct etw_kernel_sample_programs *programs,
		       const struct etw_source_request *request, uint32_t *kinds,
		       struct etw_fault *reterr)
{
	int r;

	if (!(*kinds & SAMPLE)) {
		etw_kernel_sampler_stop(&samplers->at[TIMER]);
		return 0;
	}
	r = etw_kernel_sampler_start(&samplers->at[TIMER], host, programs->sample,
				     request->profile_interval_ft, reterr);
	if (r)
		*kinds &= ~SAMPLE;
	return r;
}

static int start_counters(struct etw_kernel_samplers *samplers, const struct etw_source_host *host,
			  const struct etw_kernel_sample_programs *programs,
			  const struct etw_source_request *request, uint32_t *kinds,
			  struct etw_fault *reterr)
{
	uint32_t wanted = *kinds & COUNTED ? request->profile_sources : 0, running = 0;
	int result = 0;

	for (uint32_t i = TIMER + 1; i < ETW_PROFILE_SOURCES; i++) {
		int r;

		if (!(wanted >> i & 1)) {
			etw_kernel_sampler_stop(&samplers->at[i]);
			continue;
		}
		r = etw_kernel_sampler_start(&samplers->at[i], host, programs->counter_sample,
					     request->source_intervals[i], result ? NULL : reterr);
		running += !r;
		result = result ? result : r;
	}
	if (!(*kinds & COUNTED) || running)
		return result;
	*kinds &= ~COUNTED;
	return result ? result
		      : etw_fault_set(reterr, -EINVAL, 0, "kernel source", "PMC_PROFILE",
				      "no source of samples was chosen "
				      "(TraceProfileSourceConfigInfo, `etw record "
				      "--profile-source`)");
}

int etw_kernel_samplers_start(struct etw_kernel_samplers *samplers,
			      const struct etw_source_host *host,
			      const struct etw_kernel_sample_programs *programs,
			      const struct etw_source_request *request, uint32_t *kinds,
			      struct etw_fault *reterr)
{
	int r, counters;

	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++) {
		samplers->at[i].source = i;
		samplers->at[i].calls = samplers->calls;
	}
	r = start_timer(samplers, host, programs, request, kinds, reterr);
	counters = start_counters(samplers, host, programs, request, kinds, r ? NULL : reterr);
	return r ? r : counters;
}

void etw_kernel_samplers_intervals(const struct etw_kernel_samplers *samplers,
				   uint32_t ret[ETW_PROFILE_SOURCES])
{
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++)
		ret[i] = etw_kernel_sampler_interval(&samplers->at[i]);
}

void etw_kernel_samplers_stop(struct etw_kernel_samplers *samplers)
{
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++)
		etw_kernel_sampler_stop(&samplers->at[i]);
}

void etw_kernel_samplers_follow_cpus(struct etw_kernel_samplers *samplers)
{
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++)
		etw_kernel_sampler_follow_cpus(&samplers->at[i]);
}

void etw_kernel_samplers_look(struct etw_kernel_samplers *samplers)
{
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++)
		etw_kernel_sampler_look(&samplers->at[i]);
}

uint64_t etw_kernel_samplers_throttled(const struct etw_kernel_samplers *samplers, uint32_t cpu)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++)
		sum += etw_kernel_sampler_throttled(&samplers->at[i], cpu);
	return sum;
}

void etw_kernel_samplers_done(struct etw_kernel_samplers *samplers)
{
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++)
		etw_kernel_sampler_done(&samplers->at[i]);
}
