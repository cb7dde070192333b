/* SPDX-License-Identifier: MIT */
/*
 * All sources of a session (session/source_feed.h), one of its parts: the kernel's, and others. What is done with all of
 * them is here; what a stream needs of its own it finds by etw_session_stream.feed. Owner thread.
 * Source: docs/design/recording.md "Sources".
 */
#ifndef ETW_SESSION_SOURCE_FEEDS_H
#define ETW_SESSION_SOURCE_FEEDS_H

#include "session/source_feed.h"

struct etw_source_feeds {
	struct etw_source_feed all[ETW_SOURCES_MAX]; /* the first is the kernel's */
};

/* etw_source_feeds_init() - without sources; _done() - when the session's thread is joined. */
void etw_source_feeds_init(struct etw_session_context *context, struct etw_session_notes *notes,
			   struct etw_source_feeds *ret);
void etw_source_feeds_done(struct etw_source_feeds *feeds);

/* etw_source_feeds_of() - the source that owns a provider; NULL: none does. @host: whose sources. Any thread. */
const struct etw_source_ops *etw_source_feeds_of(const struct etw_session_host *host,
						 const GUID *provider);

/* etw_source_feeds_open(), _retell(), _collect(), _release(), _count_loss(), _stop(), _close() - of each, as in source_feed.h. */
void etw_source_feeds_open(struct etw_source_feeds *feeds, bool is_adopted);
void etw_source_feeds_retell(struct etw_source_feeds *feeds);
void etw_source_feeds_collect(struct etw_source_feeds *feeds, struct etw_session_round *round);
void etw_source_feeds_release(struct etw_source_feeds *feeds);
void etw_source_feeds_count_loss(struct etw_source_feeds *feeds);
void etw_source_feeds_stop(struct etw_source_feeds *feeds);
void etw_source_feeds_close(struct etw_source_feeds *feeds);

/*
 * etw_source_feeds_change_provider() - a provider that a source owns is enabled, disabled or asked for its state.
 *
 * @code: EVENT_CONTROL_CODE_*
 *
 * Returns 0; -ENOENT: no source owns it; -ENOSPC: ETW_SOURCE_PROVIDERS_MAX are enabled; -EMFILE: its source is not open, and there is no
 * room for what it keeps; -ENOMEM; of a capture what the source says.
 */
int etw_source_feeds_change_provider(struct etw_source_feeds *feeds, uint32_t code,
				     const struct etw_source_provider *wanted);

/* etw_source_feeds_are_open() - whether there is a source; etw_source_feeds_are_awaited() - and a flush waits for it. */
bool etw_source_feeds_are_open(const struct etw_source_feeds *feeds);
bool etw_source_feeds_are_awaited(const struct etw_source_feeds *feeds);

/* etw_source_feeds_give_up() - the last flush goes on without them. */
void etw_source_feeds_give_up(struct etw_source_feeds *feeds);

/* etw_source_feeds_due_ns() - how long the next look may wait; 0: for ever. */
uint64_t etw_source_feeds_due_ns(const struct etw_source_feeds *feeds);

/* etw_source_feeds_describe() - of each, as etw_source_feed_describe(): the first error. */
int etw_source_feeds_describe(struct etw_source_feeds *feeds, int64_t time_raw,
			      etw_source_put_fn *put, void *context);

/* etw_source_feeds_account() - of each, as etw_source_feed_account(). */
void etw_source_feeds_account(struct etw_source_feeds *feeds, int64_t time_raw,
			      etw_source_put_fn *put, void *context);

#endif
