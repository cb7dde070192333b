/* SPDX-License-Identifier: MIT */
/* An engine for the tests of sources: two processors, and a clock that the test moves. */
#ifndef ETW_TESTS_UNIT_SOURCE_FAKE_SOURCE_HOST_H
#define ETW_TESTS_UNIT_SOURCE_FAKE_SOURCE_HOST_H

#include <errno.h>
#include <stdint.h>

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

#endif
