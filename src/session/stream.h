/* SPDX-License-Identifier: MIT */
/*
 * What flows into outputs: rings and the source, looked at once a round and merged by time. Owner thread.
 * Source: docs/design/recording.md "The session engine".
 */
#ifndef ETW_SESSION_STREAM_H
#define ETW_SESSION_STREAM_H

#include "session/session_internal.h"

/* etw_streams_gather() - gives each output its streams: rings of all sets, and the source's processors. */
void etw_streams_gather(struct etw_session *session);

/*
 * etw_streams_look() - fixes what this round may take. A processor with one ring alone is not disturbed,
 * unless the round flushes; else the rings are bumped, and a watermark is known.
 */
void etw_streams_look(struct etw_session *session);

/* etw_stream_refresh() - finds out what the stream has next. */
void etw_stream_refresh(struct etw_session *session, struct etw_session_stream *stream);

/*
 * etw_output_merge() - moves events of all streams into the output's buffer, in order of time, as far as
 * the lowest watermark lets it, and at most ETW_SESSION_ROUND_BUFFERS buffers of them.
 */
void etw_output_merge(struct etw_session *session, struct etw_session_output *output);

#endif
