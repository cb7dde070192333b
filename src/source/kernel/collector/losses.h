/* SPDX-License-Identifier: MIT */
/*
 * The account of what the kernel's source lost: what the programs counted in the kernel, and what was found while reading,
 * by cause, class and processor. Each number of it is counted in one place, the kernel or the host. So the session can tell
 * a counter that outlived a host from one that a new host begins at 0.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_COLLECTOR_LOSSES_H
#define ETW_SOURCE_KERNEL_COLLECTOR_LOSSES_H

#include "base/source.h"
#include "source/kernel/collector/collector.h"
#include "source/kernel/perf/samplers.h"
#include "source/kernel/programs/bpf_objects.h"
#include "source/kernel/programs/cpu_programs.h"

/* What counts; borrowed for a call. */
struct etw_kernel_losses_of {
	const struct etw_kernel_bpf *bpf;
	const struct etw_kernel_cpu_bpf *cpu_bpf;
	struct etw_kernel_samplers *samplers;
	const struct etw_kernel_collector *collector;
	uint32_t cpu_count;
};

/* etw_kernel_losses_read() - @ret: @cpu_count + 1 of them: for each processor, and last what is not counted by processor. */
void etw_kernel_losses_read(const struct etw_kernel_losses_of *from, struct etw_source_loss *ret);

/* etw_kernel_losses_any() - whether an event was lost. @losses: @cpu_count + 1 of them */
bool etw_kernel_losses_any(const struct etw_source_loss *losses, uint32_t cpu_count);

#endif
