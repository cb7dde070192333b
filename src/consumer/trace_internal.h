/* SPDX-License-Identifier: MIT */
/* What passes over files and passes over sessions share. Private to this folder. */
#ifndef ETW_CONSUMER_TRACE_INTERNAL_H
#define ETW_CONSUMER_TRACE_INTERNAL_H

#include "consumer/live.h"
#include "consumer/merge.h"
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
	int wake_fd;                       /* of sessions: an eventfd */
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
	bool is_over; /* nothing will come any more */
	bool is_cut;  /* and what came last is not known */
};

/* etw_stream_advance() - brings the next event of the stream to its head. Returns 0 or a negative errno. */
int etw_stream_advance(struct etw_stream *stream, const struct etw_trace_sink *sink);

/*
 * etw_stream_deliver() - delivers the head of a stream and moves on.
 *
 * Returns 0, what the sink returned to stop, or a negative errno.
 */
int etw_stream_deliver(struct etw_stream *stream, size_t index, const struct etw_trace_sink *sink);

/* etw_live_stream_open() - attaches the session if need be, and begins its part of a pass. */
int etw_live_stream_open(struct etw_stream *stream, const struct etw_trace_sink *sink);

/* etw_live_pass() - delivers until all sessions are over; as etw_trace_process(). */
int etw_live_pass(struct etw_stream *streams, size_t count, const struct etw_trace_sink *sink);

#endif
