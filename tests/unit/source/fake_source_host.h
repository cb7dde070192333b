/* SPDX-License-Identifier: MIT */
/* An engine for the tests of sources: two processors, and a clock that the test moves. */
#ifndef ETW_TESTS_UNIT_SOURCE_FAKE_SOURCE_HOST_H
#define ETW_TESTS_UNIT_SOURCE_FAKE_SOURCE_HOST_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/source.h"

#define FAKE_CPUS         2
#define FAKE_TICKS_PER_NS 10

struct fake_source_host {
	struct etw_source_host host;
	uint64_t sample_ns; /* later times cannot be converted yet */
};

static int64_t fake_now_raw(void *context)
{
	const struct fake_source_host *fake = context;

	return (int64_t)fake->sample_ns * FAKE_TICKS_PER_NS;
}

/* Ten ticks a nanosecond, so that nobody mistakes one for the other. */
static int fake_to_raw(void *context, uint64_t monotonic_ns, int64_t *ret)
{
	const struct fake_source_host *fake = context;

	if (monotonic_ns > fake->sample_ns)
		return -EAGAIN;
	*ret = (int64_t)monotonic_ns * FAKE_TICKS_PER_NS;
	return 0;
}

static inline void fake_source_host_init(struct fake_source_host *fake)
{
	*fake = (struct fake_source_host){
		.host = {.context = fake,
			 .cpu_count = FAKE_CPUS,
			 .clock_type = 1,
			 .now_raw = fake_now_raw,
			 .to_raw = fake_to_raw},
		.sample_ns = UINT64_MAX >> 8,
	};
}

/* What a source counts of a cause; ETW_LOSS_CAUSES: of all by which events are lost. */
static inline uint64_t fake_source_host_count(const struct fake_source_host *fake,
					      const struct etw_source_ops *ops,
					      struct etw_source *source, enum etw_loss_cause cause)
{
	struct etw_source_loss *losses = calloc(fake->host.cpu_count + 1, sizeof(*losses));
	uint64_t lost = 0;

	if (!losses)
		return UINT64_MAX;
	ops->loss(source, losses);
	for (uint32_t i = 0; i <= fake->host.cpu_count; i++) {
		if (cause == ETW_LOSS_CAUSES)
			lost += etw_source_loss_sum(&losses[i]);
		for (unsigned j = 0; cause < ETW_LOSS_CAUSES && j < ETW_LOSS_CLASSES; j++)
			lost += losses[i].events[cause][j];
	}
	free(losses);
	return lost;
}

static inline uint64_t fake_source_host_lost(const struct fake_source_host *fake,
					     const struct etw_source_ops *ops,
					     struct etw_source *source)
{
	return fake_source_host_count(fake, ops, source, ETW_LOSS_CAUSES);
}

#endif
