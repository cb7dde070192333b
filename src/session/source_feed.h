/* SPDX-License-Identifier: MIT */
/*
 * What the source of kernel events (src/source/kernel) feeds into a session: the source is opened and enabled, and
 * collected from every 10 ms; what it lost is counted. Owner thread.
 * Source: docs/design/recording.md "Sources".
 */
#ifndef ETW_SESSION_SOURCE_FEED_H
#define ETW_SESSION_SOURCE_FEED_H

#include "session/session_internal.h"

/*
 * etw_source_feed_check() - before anything of a session is made: whether it would get kernel events at all.
 *
 * Returns 0, also when some of the flags are not collected, or the machine does not allow it: that is told by
 * complaint. -EOPNOTSUPP when flags are asked for and the source collects none of them.
 */
int etw_source_feed_check(const struct etw_session_host *host, const struct etw_session_plan *plan,
			  uint32_t enable_flags, struct etw_fault *reterr);

/* etw_source_feed_open() - for a kernel session; what fails is a complaint. @is_adopted: with the marks. */
void etw_source_feed_open(struct etw_session *session, bool is_adopted);

/* etw_source_feed_collect() - reads what has come, and the watermark. */
void etw_source_feed_collect(struct etw_session *session);

/* etw_source_feed_release() - what was taken is committed: the kernel's memory may be reused. */
void etw_source_feed_release(struct etw_session *session);

/* etw_source_feed_count_loss() - brings the account up to date. */
void etw_source_feed_count_loss(struct etw_session *session);

/* etw_source_feed_due_ns() - how long the next look may wait; 0: for ever, as there is no source. */
uint64_t etw_source_feed_due_ns(const struct etw_session *session);

/* etw_source_feed_stop() - queues the rundown of the end. */
void etw_source_feed_stop(struct etw_session *session);

/* etw_source_feed_close() - takes its last account; harmless when there is none. */
void etw_source_feed_close(struct etw_session *session);

#endif
