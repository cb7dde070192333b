/* SPDX-License-Identifier: MIT */
/*
 * How memory is used, twice in a second: of the machine, and of the processes that the tracker knows, which take turns where
 * there are many.
 *
 * Context: the session's thread, which comes by every 10 ms; nothing is woken for it.
 * Source: docs/kernel-events/memory.md.
 */
#ifndef ETW_SOURCE_KERNEL_COLLECTOR_MEMORY_INFO_H
#define ETW_SOURCE_KERNEL_COLLECTOR_MEMORY_INFO_H

#include <stdint.h>

#include "source/kernel/collector/collector.h"
#include "wire/group_masks.h"

#define ETW_KERNEL_MEMORY_INFO_WORD 1                  /* of the group masks */
#define ETW_KERNEL_MEMORY_INFO_BIT  UINT32_C(0x80000)  /* MEMINFO */
#define ETW_KERNEL_WORKING_SETS_BIT UINT32_C(0x800000) /* MEMINFO_WS */
#define ETW_KERNEL_MEMORY_INFO_NS   UINT64_C(500000000)

struct etw_kernel_memory_info {
	const char *root;    /* "/proc"; borrowed */
	uint64_t next_ns;    /* CLOCK_MONOTONIC: when it is told again; 0: at once */
	size_t first_bucket; /* of the tracker's processes: whose turn it is */
};

/* etw_kernel_memory_info_tell() - what @masks want, if it is time for it. */
void etw_kernel_memory_info_tell(struct etw_kernel_memory_info *info,
				 struct etw_kernel_collector *collector,
				 const uint32_t masks[WIRE_GROUP_MASKS_WORDS], uint64_t now_ns);

#endif
