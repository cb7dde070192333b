/* SPDX-License-Identifier: MIT */
/*
 * By how much this process's clocks are ahead of the kernel's own: of a time namespace's processes clock_gettime() shifts
 * CLOCK_MONOTONIC with its raw and coarse forms, and CLOCK_BOOTTIME. A processor's counter and CLOCK_REALTIME are the same for all.
 */
#ifndef ETW_BASE_TIME_NAMESPACE_H
#define ETW_BASE_TIME_NAMESPACE_H

#include <stdint.h>

/* 0 in the initial namespace. */
struct etw_time_namespace {
	int64_t monotonic_ns, boottime_ns;
};

/*
 * etw_time_namespace_read() - asks procfs. Context: any thread, signal-safe.
 *
 * Returns 0; -ENOENT without procfs, or before Linux 5.6, which has no time namespaces; -EAGAIN when the process has
 * called unshare() in a namespace that is not the initial one: procfs then tells of its children's alone; -EPROTO for a
 * file that cannot be read. @ret is untouched then.
 */
int etw_time_namespace_read(struct etw_time_namespace *ret);

#endif
