/* SPDX-License-Identifier: MIT */
/*
 * The NT Kernel Logger's source: the events of this machine's kernel, live, in the classic classes' current
 * versions.
 * Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_KERNEL_SOURCE_H
#define ETW_SOURCE_KERNEL_KERNEL_SOURCE_H

#include "base/source.h"

/*
 * The operations. ETW_KERNEL_BUILT_MASKS (classes.h) says which events there are; enable answers with the first thing
 * that cannot be had, and a fault that names it, and collects the rest all the same.
 */
extern const struct etw_source_ops etw_kernel_source;

#endif
