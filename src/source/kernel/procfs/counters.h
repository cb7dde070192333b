/* SPDX-License-Identifier: MIT */
/*
 * What processes that are there use, read from procfs for the rundown at the end. What one used that has ended its record says
 * (bpf/counters.h).
 */
#ifndef ETW_SOURCE_KERNEL_PROCFS_COUNTERS_H
#define ETW_SOURCE_KERNEL_PROCFS_COUNTERS_H

#include <stdint.h>

#include "source/kernel/bpf/records.h"

/*
 * etw_kernel_counters_read() - of a process.
 *
 * @root_fd:     of /proc
 * @start_ticks: of the process that is meant
 *
 * Returns 0; -ESRCH when it has gone, whoever has its id now; -EBADMSG when procfs makes no sense.
 */
int etw_kernel_counters_read(int root_fd, uint32_t pid, uint64_t start_ticks,
			     struct etw_kernel_counters *ret);

#endif
