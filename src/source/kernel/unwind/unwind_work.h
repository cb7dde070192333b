/* SPDX-License-Identifier: MIT */
/*
 * How much the session's thread does for processes' files: looking for them and reading them, whether that leads to a table or
 * not. Each uid has an account that fills up again with time, and all but root have one together, because one user may have
 * many uids. Root's processes have none.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_UNWIND_UNWIND_WORK_H
#define ETW_SOURCE_KERNEL_UNWIND_UNWIND_WORK_H

#include <stdbool.h>
#include <stdint.h>

/* Work is counted as the bytes that could be read meanwhile. */
#define ETW_KERNEL_WORK_OF_UID   (UINT64_C(128) << 20) /* at once */
#define ETW_KERNEL_WORK_OF_ALL   (UINT64_C(512) << 20) /* of all but root */
#define ETW_KERNEL_WORK_REFILL_S 8                     /* seconds in which an account fills up */
#define ETW_KERNEL_WORK_OF_LOOK  16384                 /* opening a process' file */
#define ETW_KERNEL_WORK_OF_LINE  256                   /* of a process' list of mappings */
#define ETW_KERNEL_WORK_ACCOUNTS 256 /* a power of two; uids may have to share one */

struct etw_kernel_work_account {
	uint64_t used;
	uint64_t filled_ns;
};

/* Zeroed, nothing has been done. */
struct etw_kernel_work {
	struct etw_kernel_work_account of_all, of_uid[ETW_KERNEL_WORK_ACCOUNTS];
};

/* etw_kernel_work_may() - whether more may be done for @uid. @now_ns: CLOCK_MONOTONIC, which never goes back */
bool etw_kernel_work_may(struct etw_kernel_work *work, uint32_t uid, uint64_t now_ns);

/* etw_kernel_work_done() - so much was done for @uid. */
void etw_kernel_work_done(struct etw_kernel_work *work, uint32_t uid, uint64_t byte_count);

#endif
