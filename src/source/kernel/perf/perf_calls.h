/* SPDX-License-Identifier: MIT */
/*
 * What a sampler asks of the kernel: perf's events, and the BPF programs that they run. Tests put others in its place, so that
 * sources which a machine lacks can be held without it.
 */
#ifndef ETW_SOURCE_KERNEL_PERF_PERF_CALLS_H
#define ETW_SOURCE_KERNEL_PERF_PERF_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/profile_source.h"

struct etw_kernel_perf_calls {
	etw_perf_open_fn *open;
	/* Without a cookie. Returns 0 or negative errno. */
	int (*attach)(int fd, int program_fd);
	/* Returns a descriptor, owned by the caller, as long as which the event runs the program; or negative errno. */
	int (*attach_with)(int fd, int program_fd, uint64_t cookie);
	/* PERF_EVENT_IOC_*. Returns 0 or negative errno. */
	int (*control)(int fd, unsigned long request, void *argument);
	/* Whether the processor had a counter left for an event that was enabled. */
	bool (*is_counting)(int fd);
};

extern const struct etw_kernel_perf_calls etw_kernel_perf_calls;

#endif
