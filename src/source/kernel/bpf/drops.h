/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the BPF programs lost, or sent with something missing. Each processor has counts of its own, in a map that outlives
 * the host. Both sides include this file.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_DROPS_H
#define ETW_SOURCE_KERNEL_BPF_DROPS_H

#include <linux/types.h>

#include "cpu_records.h"

enum etw_kernel_drop {
	ETW_KERNEL_DROP_RING_FULL = 0,  /* records of tasks */
	ETW_KERNEL_DROP_INCOMPLETE = 1, /* not dropped: went out with a field missing */
	ETW_KERNEL_DROP_NO_THREAD = 2,  /* not dropped: no memory to keep a thread's stack in */
	/* More at once than are told of one process, or one call. */
	ETW_KERNEL_DROP_CLOSES = 3,   /* beginnings and ends of what closes files */
	ETW_KERNEL_DROP_MAPPINGS = 4, /* that come or go */
	/* The ring of the processor was full; behind it those of each enum etw_kernel_cpu_kind. */
	ETW_KERNEL_DROP_CPU_RING_FULL = 5,
	ETW_KERNEL_DROPS = ETW_KERNEL_DROP_CPU_RING_FULL + ETW_KERNEL_CPU_KINDS,
};

struct etw_kernel_drops {
	__u64 counts[ETW_KERNEL_DROPS];
};

#endif
