/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own code as it comes and goes: modules, BPF programs, trampolines. Each piece is an image of process 0, told with
 * the time at which it came; what the kernel makes at run time is told with the name of its function, which cannot be looked up
 * once the function is gone.
 *
 * Context: the session's thread, behind etw_kernel_out_begin().
 */
#ifndef ETW_SOURCE_KERNEL_TRACKER_OWN_LIVE_H
#define ETW_SOURCE_KERNEL_TRACKER_OWN_LIVE_H

#include "source/kernel/bpf/records.h"
#include "source/kernel/events/events.h"
#include "source/kernel/perf/mappings.h"
#include "source/kernel/tracker/own.h"

/* etw_kernel_own_module() - a module came, or goes. @record: complete; its name need not be NUL-terminated */
void etw_kernel_own_module(struct etw_kernel_own *own, struct etw_kernel_out *out,
			   const struct etw_kernel_module *record);

/* etw_kernel_own_made() - code that the kernel made at run time, or is about to throw away. @actor: the thread that asked for it */
void etw_kernel_own_made(struct etw_kernel_own *own, struct etw_kernel_out *out,
			 struct etw_kernel_actor actor, const struct etw_kernel_made *made);

#endif
