/* SPDX-License-Identifier: MIT */
/*
 * What one source of events feeds into a session: the source is opened and enabled, and collected from every 10 ms; what
 * it lost is counted. All of a session are in session/source_feeds.h. Owner thread.
 * Source: docs/design/recording.md "Sources".
 */
#ifndef ETW_SESSION_SOURCE_FEED_H
#define ETW_SESSION_SOURCE_FEED_H

#include <pthread.h>

#include "base/source.h"
#include "session/common/context.h"
#include "session/common/notes.h"
#include "session/common/round.h"
#include "session/common/stream.h"

struct etw_source_feed {
	struct etw_session_context *context;
	struct etw_session_notes *notes;
	uint32_t number;                    /* of the source in the session; 0: the kernel's */
	const struct etw_source_ops *ops;   /* NULL: this host has none */
	struct etw_source *source;          /* owned; NULL: none is open */
	struct etw_session_stream *streams; /* owned, plan.cpu_count; outputs borrow them */
	struct etw_source_loss *losses;     /* owned, plan.cpu_count + 1: the last account */
	struct etw_source_host host;        /* what the source may ask */
	int64_t watermark_raw;              /* nothing that is still to come is before it */
	int64_t realtime_offset_ns;         /* CLOCK_REALTIME - CLOCK_MONOTONIC, for clock type 2 */
	bool is_given_up;                   /* the last flush goes on without it */
	struct wire_kernel_request wanted;  /* now, of the kernel's; else nothing */
	uint32_t provider_count;            /* enabled now, of those that the source owns */
	struct etw_source_provider *providers; /* owned; a copy of what the state has */
	pthread_mutex_t announced_lock;
	struct etw_announced_queue announced; /* under the lock; owned */
};

/* etw_source_feed_init() - without a source. @number: below ETW_SOURCES_MAX */
void etw_source_feed_init(struct etw_session_context *context, struct etw_session_notes *notes,
			  uint32_t number, struct etw_source_feed *ret);

/* etw_source_feed_done() - when the session's thread is joined. */
void etw_source_feed_done(struct etw_source_feed *feed);

/*
 * etw_source_feed_open() - for a session that wants events of it. What fails, and what is asked for and not built, is a
 * complaint and a note in the trace. @is_adopted: with the marks
 */
void etw_source_feed_open(struct etw_source_feed *feed, bool is_adopted);

/*
 * etw_source_feed_change() - something else is wanted from now on. What cannot be had is a complaint, as at the start.
 *
 * @wanted: settled (session/common/kernel_request.h)
 */
void etw_source_feed_change(struct etw_source_feed *feed, const struct wire_kernel_request *wanted);

/*
 * etw_source_feed_change_providers() - other providers of its own are enabled from now on: those that the state has. What
 * cannot be had is a complaint.
 *
 * Returns 0; -ENOMEM: nothing has changed.
 */
int etw_source_feed_change_providers(struct etw_source_feed *feed);

/*
 * etw_source_feed_capture() - queues what a provider of its own tells of what is there.
 *
 * Returns 0, also when no source is open; what the source says.
 */
int etw_source_feed_capture(struct etw_source_feed *feed, const struct etw_source_provider *wanted);

/* etw_source_feed_retell() - queues what a reader must know who begins now. What fails is a complaint. */
void etw_source_feed_retell(struct etw_source_feed *feed);

/*
 * etw_source_feed_collect() - reads what has come, and the watermark. A source that fails is closed, before the outputs
 * gather their streams.
 *
 * @round: is told when there is more to read at once
 */
void etw_source_feed_collect(struct etw_source_feed *feed, struct etw_session_round *round);

/*
 * etw_source_feed_announce() - a process tells of code of its own. Any thread.
 *
 * Returns 0, also when there is no source that it is of use to; -ENOMEM.
 */
int etw_source_feed_announce(struct etw_source_feed *feed, struct etw_announced_image *image,
			     enum etw_announced_act act);

/* etw_source_feed_release() - what was taken is committed: the kernel's memory may be reused. */
void etw_source_feed_release(struct etw_source_feed *feed);

/* etw_source_feed_count_loss() - brings the account up to date. */
void etw_source_feed_count_loss(struct etw_source_feed *feed);

/* etw_source_feed_due_ns() - how long the next look may wait; 0: for ever, as there is no source. */
uint64_t etw_source_feed_due_ns(const struct etw_source_feed *feed);

/*
 * etw_source_feed_describe() - what the rundown of the end would tell, handed out instead of being queued. Without a source
 * nothing is.
 *
 * @time_raw: the events' time
 *
 * Returns 0; -ENOMEM; what the source says.
 */
int etw_source_feed_describe(struct etw_source_feed *feed, int64_t time_raw, etw_source_put_fn *put,
			     void *context);

/*
 * etw_source_feed_account() - what the source tells of the recording as a whole, when its last event was taken, handed out.
 *
 * @time_raw: the events' time
 */
void etw_source_feed_account(struct etw_source_feed *feed, int64_t time_raw, etw_source_put_fn *put,
			     void *context);

/* etw_source_feed_stop() - queues the rundown of the end. */
void etw_source_feed_stop(struct etw_source_feed *feed);

/*
 * etw_source_feed_close() - takes its last account, and frees its streams, which no output may have any more. Harmless
 * when there is none.
 */
void etw_source_feed_close(struct etw_source_feed *feed);

#endif
