/* SPDX-License-Identifier: MIT */
/*
 * The NT Kernel Logger's source: processes, threads and images of this machine, live, in the classic
 * classes' current versions.
 * Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_KERNEL_SOURCE_H
#define ETW_SOURCE_KERNEL_KERNEL_SOURCE_H

#include "base/source.h"

/*
 * The operations. Of EVENT_TRACE_FLAG_*, PROCESS, THREAD and IMAGE_LOAD are built; enable answers
 * -EOPNOTSUPP with a fault that names the others, and what it knows is collected all the same.
 */
extern const struct etw_source_ops etw_kernel_source;

#endif
