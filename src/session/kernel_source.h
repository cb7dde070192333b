/* SPDX-License-Identifier: MIT */
/*
 * The session's source of kernel events: opened, enabled, collected from every 10 ms. Owner thread.
 * Source: docs/design/recording.md "Sources".
 */
#ifndef ETW_SESSION_KERNEL_SOURCE_H
#define ETW_SESSION_KERNEL_SOURCE_H

#include "session/session_internal.h"

/*
 * etw_kernel_source_check() - before anything of a session is made: whether it would get kernel events at all.
 *
 * Returns 0, also when some of the flags are not collected, or the machine does not allow it: that is told by
 * complaint. -EOPNOTSUPP when flags are asked for and the source collects none of them.
 */
int etw_kernel_source_check(const struct etw_session_host *host,
			    const struct etw_session_plan *plan, uint32_t enable_flags,
			    struct etw_fault *reterr);

/* etw_kernel_source_open() - for a kernel session; what fails is a complaint. @is_adopted: with the marks. */
void etw_kernel_source_open(struct etw_session *session, bool is_adopted);

/* etw_kernel_source_collect() - reads what has come, and the watermark. */
void etw_kernel_source_collect(struct etw_session *session);

/* etw_kernel_source_release() - what was taken is committed: the kernel's memory may be reused. */
void etw_kernel_source_release(struct etw_session *session);

/* etw_kernel_source_count_loss() - brings the account up to date. */
void etw_kernel_source_count_loss(struct etw_session *session);

/* etw_kernel_source_due_ns() - how long the next look may wait; 0: for ever, as there is no source. */
uint64_t etw_kernel_source_due_ns(const struct etw_session *session);

/* etw_kernel_source_stop() - queues the rundown of the end. */
void etw_kernel_source_stop(struct etw_session *session);

/* etw_kernel_source_close() - takes its last account; harmless when there is none. */
void etw_kernel_source_close(struct etw_session *session);

#endif
