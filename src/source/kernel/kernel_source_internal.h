/* SPDX-License-Identifier: MIT */
/* What the two files of the kernel's source share: kernel_source.c opens it and asks it, kernel_source_enable.c switches it. */
#ifndef ETW_SOURCE_KERNEL_KERNEL_SOURCE_INTERNAL_H
#define ETW_SOURCE_KERNEL_KERNEL_SOURCE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/code/routines.h"
#include "source/kernel/collector/collector.h"
#include "source/kernel/collector/memory_info.h"
#include "source/kernel/collector/rundown.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/machine/disks.h"
#include "source/kernel/perf/faults.h"
#include "source/kernel/perf/samplers.h"
#include "source/kernel/programs/bpf_objects.h"
#include "source/kernel/programs/cpu_programs.h"
#include "wire/group_masks.h"

struct etw_source {
	const struct etw_source_ops *ops;
	struct etw_source_host host;
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];   /* what is wanted, built, and had here */
	uint32_t missing[WIRE_GROUP_MASKS_WORDS]; /* what is wanted, built, and not had here */
	uint32_t config_groups;                   /* enum etw_kernel_config_group */
	bool goes_on;                             /* another host collected before */
	struct etw_kernel_bpf bpf;
	struct etw_kernel_cpu_bpf cpu_bpf;
	struct etw_kernel_samplers samplers;
	struct etw_kernel_faults faults;
	struct etw_kernel_control control; /* as the control map has it */
	struct etw_kernel_collector collector;
	struct etw_kernel_rundown rundown;
	struct etw_kernel_memory_info memory_info;
	struct etw_kernel_routines routines;
	struct etw_kernel_messages messages;
	struct etw_kernel_file_names file_names;
	struct etw_kernel_disks disks; /* by the numbers that events of transfers have */
	uint64_t enabled_ns;           /* before the first record */
};

/* etw_kernel_source_wants_any() - whether any events are wanted that it has here. */
bool etw_kernel_source_wants_any(const struct etw_source *source);

/* etw_kernel_source_map_cpu_rings() - once, when they are there. Returns 0, or negative errno with @reterr. */
int etw_kernel_source_map_cpu_rings(struct etw_source *source, struct etw_fault *reterr);

/*
 * etw_kernel_source_run_down_start() - who and what is there, when the first events are wanted.
 *
 * @describe: else the tracker alone is filled
 * @is_other: another host collected before, and may have described it already
 *
 * Returns 0 or negative errno.
 */
int etw_kernel_source_run_down_start(struct etw_source *source, bool describe, bool is_other);

/*
 * etw_kernel_source_run_down_change() - wanted later: who is there is told as far as the added flags tell it. Until that is safe
 * the next host tells all of it again. Returns 0 or negative errno.
 */
int etw_kernel_source_run_down_change(struct etw_source *source, uint32_t flags_before);

/* etw_kernel_source_enable() - as `enable` of struct etw_source_ops. */
int etw_kernel_source_enable(struct etw_source *source, const struct etw_source_request *request,
			     struct etw_fault *reterr);

#endif
