/* SPDX-License-Identifier: MIT */
/*
 * The bytes of memory's events that no record stands for: what is mapped at the start and at the end, and how memory is used
 * now. Each function adds one event of the moment that etw_kernel_out_begin() set.
 * Source: docs/kernel-events/memory.md.
 */
#ifndef ETW_SOURCE_KERNEL_EVENTS_MEMORY_RUNDOWN_H
#define ETW_SOURCE_KERNEL_EVENTS_MEMORY_RUNDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/bpf/memory_records.h"
#include "source/kernel/out/out.h"
#include "source/kernel/procfs/memory_use.h"

#define ETW_KERNEL_MEMORY_PRIORITIES 8
#define ETW_KERNEL_MEMORY_PRIORITY   5 /* that all of Linux' cached pages are told with: normal */
#define ETW_KERNEL_WORKING_SETS_MAX  UINT32_C(900) /* of one event, which has at most 64 KiB */

/* etw_kernel_write_mapping() - VirtualAllocDCStart of PageFault, MapFileDCStart of FileIo, or their DCEnd; version 2. */
void etw_kernel_write_mapping(struct etw_kernel_out *out, bool is_end,
			      const struct etw_kernel_mapped *mapping);

/* etw_kernel_write_memory_use() - MemInfo, version 2. */
void etw_kernel_write_memory_use(struct etw_kernel_out *out,
				 const struct etw_kernel_memory_use *use);

/* etw_kernel_write_working_sets() - MemInfoWS, version 2. @count: at most ETW_KERNEL_WORKING_SETS_MAX */
void etw_kernel_write_working_sets(struct etw_kernel_out *out,
				   const struct etw_kernel_working_set *sets, uint32_t count);

#endif
