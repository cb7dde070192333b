/* SPDX-License-Identifier: MIT */
/*
 * What the kernel can be sampled by: the processors' clock, their counters, and counts that the kernel keeps itself. Sources
 * that Windows has too bear its names and numbers; the others have numbers that Windows does not use.
 *
 * A source is known everywhere by its place in the table, which fits in the bits of a uint32_t.
 * Source: docs/kernel-events/samples.md.
 */
#ifndef ETW_BASE_PROFILE_SOURCE_H
#define ETW_BASE_PROFILE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

#define ETW_PROFILE_SOURCES         23 /* the first is the timer */
#define ETW_PROFILE_SOURCE_TIMER    0u
#define ETW_PROFILE_SOURCE_NAME_MAX 32

struct etw_profile_source {
	const char *name;
	uint32_t id; /* in events and calls */
	/* From one sample to the next: of the timer in 100 ns, of others so many times what it counts. */
	uint32_t interval, interval_min, interval_max;
	uint32_t type;   /* of perf's event */
	uint64_t config; /* likewise */
};

/* Opens perf's event for a thread on a processor, as perf_event_open(); returns a descriptor or negative errno. */
typedef int etw_perf_open_fn(const struct perf_event_attr *attributes, pid_t tid, int cpu);

/* etw_perf_open() - asks the kernel. */
etw_perf_open_fn etw_perf_open;

/* etw_profile_source() - static. @place: less than ETW_PROFILE_SOURCES */
const struct etw_profile_source *etw_profile_source(uint32_t place);

/* etw_profile_source_is_counter() - whether a counter of the processor is needed for it. */
bool etw_profile_source_is_counter(uint32_t place);

/* etw_profile_source_find() - by number. Returns whether there is one. */
bool etw_profile_source_find(uint32_t id, uint32_t *ret_place);

/* etw_profile_source_named() - by name, in any case. Returns whether there is one. */
bool etw_profile_source_named(const char *name, size_t byte_count, uint32_t *ret_place);

/* etw_profile_source_allows() - whether samples can be so far apart. */
bool etw_profile_source_allows(uint32_t place, uint32_t interval);

/*
 * etw_profile_source_attributes() - perf's event of a source, not enabled yet.
 *
 * @period: of the timer in nanoseconds, of others so many times what it counts
 */
void etw_profile_source_attributes(uint32_t place, uint64_t period, struct perf_event_attr *ret);

/*
 * etw_profile_source_probe() - whether this machine has it, by opening it for the calling thread for a moment. What the
 * machine's processors do not count, or cannot be sampled by, does not open.
 *
 * Returns 0; -EACCES: this process may not try; -ENOENT, -EOPNOTSUPP or what the kernel said: there is none.
 */
int etw_profile_source_probe(uint32_t place, etw_perf_open_fn *open);

/* etw_profile_sources_probe() - all that this machine has and this process may try, as bits. */
uint32_t etw_profile_sources_probe(etw_perf_open_fn *open);

#endif
