/* SPDX-License-Identifier: MIT */
/* What passes over files and passes over sessions share. Private to this folder. */
#ifndef ETW_CONSUMER_TRACE_INTERNAL_H
#define ETW_CONSUMER_TRACE_INTERNAL_H

#include "consumer/live.h"
#include "consumer/merge.h"
#include "consumer/pushed.h"
#include "consumer/record.h"
#include "consumer/trace.h"
#include "etl/directory.h"

struct etw_trace {
	struct etw_etl_file file; /* of a session: its header buffer */
	struct etw_etl_header header;
	struct etw_etl_walk walk; /* at the first buffer until the directory is built */
	struct etw_etl_directory directory;
	struct etw_etl_kept
		kept; /* from passes over the buffers, when they are to keep something */
	struct etw_findings open_findings; /* of opening */
	struct etw_findings walk_findings; /* those, and of indexing */
	struct etw_findings findings;      /* those, and what the pass added */
	struct etw_recorder recorder;
	struct etw_merge *delivering; /* borrowed: of the pass that is going on; NULL outside */
	int64_t raw_time;             /* of the event that is being delivered */
	bool is_indexed;
	bool is_raw;
	void *context;
	struct etw_live *live;             /* owned; NULL for files */
	bool is_attached;                  /* of sessions: header and head_buffer are set */
	struct etw_etl_buffer head_buffer; /* of sessions: what the file holds */
	bool is_head_shown;                /* of sessions: the header buffer was shown */
	int wake_fd;                       /* of sessions: an eventfd */
	struct etw_pushed *pushed;         /* owned; NULL for all but pushed traces */
	int64_t *dropped; /* owned; of sessions and pushed traces, by processor, once one was */

	enum etw_trace_buffers buffers;
	const struct etw_etl_block *shown; /* in the sink's `buffer` call; NULL outside */
	struct etw_pin **shown_pin;        /* of `shown`; NULL: the merge has it */
};

/* One trace in a pass, with its next event. */
struct etw_stream {
	struct etw_trace *trace;
	struct etw_merge *merge; /* owned */
	struct etw_merge_event head;
	int64_t head_ft;
	bool has_head;
	struct etw_findings before; /* of an earlier pass */

	/* Of sessions alone. */
	struct etw_etl_block block; /* owned: room for the next buffer */
	int64_t watermark_raw, watermark_ft;
	int64_t promised_ft; /* the last watermark before the end's, and never before the session's start */
	bool has_watermark;
	bool is_over;          /* nothing will come any more */
	bool is_closing;       /* nothing more is to be taken */
	int64_t last_ft;       /* of the youngest event delivered */
	int64_t held_since_ms; /* of pushed traces: events wait for a watermark; -1: none do */
	bool is_cut;           /* and what came last is not known */
};

/* etw_stream_advance() - brings the next event of the stream to its head. Returns 0 or a negative errno. */
int etw_stream_advance(struct etw_stream *stream, const struct etw_trace_sink *sink);

/*
 * etw_stream_deliver() - delivers the head of a stream and moves on.
 *
 * Returns 0, what the sink returned to stop, or a negative errno.
 */
int etw_stream_deliver(struct etw_stream *stream, size_t index, const struct etw_trace_sink *sink);

/* etw_stream_promise() - everything before this may be delivered, as far as the stream alone is concerned. */
void etw_stream_promise(struct etw_stream *stream, int64_t watermark_raw);

/* etw_trace_note_dropped() - whether the buffer tells of events that were lost. Returns 0 or -ENOMEM. */
int etw_trace_note_dropped(struct etw_trace *trace, const struct etw_etl_block *block);

/* etw_pushed_stream_receive() - takes what was pushed. Returns 0, what the sink returned, or a negative errno. */
int etw_pushed_stream_receive(struct etw_stream *stream, size_t index,
			      const struct etw_trace_sink *sink);

#define ETW_LIVE_LAG_MS 2000 /* two flush timers */
#define ETW_LIVE_HELD_BYTES_MAX \
	((size_t)64 * 1024 * 1024) /* of one session, that wait for others */

/*
 * etw_stream_show() - shows the sink a buffer that is in no merge.
 *
 * @block: left with its memory, or without when its bytes were pinned
 *
 * Returns 0 or what the sink returned.
 */
int etw_stream_show(struct etw_trace *trace, size_t index, struct etw_etl_block *block,
		    const struct etw_trace_sink *sink);

/* etw_stream_show_done() - shows the sink what the merge has done. Returns 0 or what the sink returned. */
int etw_stream_show_done(struct etw_stream *stream, size_t index,
			 const struct etw_trace_sink *sink);

/* etw_file_show_all() - the pass over a file of ETW_BUFFERS_ALONE; as etw_trace_process(). */
int etw_file_show_all(struct etw_trace *trace, size_t index, const struct etw_trace_sink *sink);

/* etw_live_stream_open() - attaches the session if need be, and begins its part of a pass. */
int etw_live_stream_open(struct etw_stream *stream, const struct etw_trace_sink *sink);

/* etw_live_pass() - delivers until all sessions are over; as etw_trace_process(). */
int etw_live_pass(struct etw_stream *streams, size_t count, const struct etw_trace_sink *sink);

#endif
