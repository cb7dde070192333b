/* SPDX-License-Identifier: MIT */
/*
 * The NT Kernel Logger's source: the events of this machine's kernel, live, in the classic classes' current
 * versions.
 * Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_KERNEL_SOURCE_H
#define ETW_SOURCE_KERNEL_KERNEL_SOURCE_H

#include "base/source.h"

struct etw_kernel_tasks; /* source/kernel/processes/tasks.h */

/*
 * The operations. ETW_KERNEL_BUILT_MASKS (classes.h) says which events there are; enable answers with the first thing
 * that cannot be had, and a fault that names it, and collects the rest all the same.
 */
extern const struct etw_source_ops etw_kernel_source;

/*
 * For sources that make other events of these (named/named_source.h): what is beside the event that `peek` shows.
 *
 * @ret_moment_ns: CLOCK_MONOTONIC of the event
 * @ret_stack:     the StackWalk event that comes right behind it; 0 bytes: there is none
 */
void etw_kernel_source_look(struct etw_source *source, uint32_t cpu, uint64_t *ret_moment_ns,
			    struct etw_source_event *ret_stack);

/* etw_kernel_source_tasks() - the processes and threads that it knows of. Borrowed. */
struct etw_kernel_tasks *etw_kernel_source_tasks(struct etw_source *source);

#endif
