/* SPDX-License-Identifier: MIT */
/*
 * What flows into outputs: rings and the source, looked at once a round and merged by time. Owner thread.
 * Source: docs/design/recording.md "The session engine".
 */
#ifndef ETW_SESSION_MERGE_H
#define ETW_SESSION_MERGE_H

#include "session/common/round.h"
#include "session/output.h"

/* etw_outputs_gather() - gives each output its streams: rings of all sets, and the source's processors. */
void etw_outputs_gather(struct etw_session_outputs *outputs);

/*
 * etw_outputs_look() - fixes what this round may take. A processor with one ring alone is not disturbed,
 * unless the round flushes; else the rings are bumped, and a watermark is known.
 */
void etw_outputs_look(struct etw_session_outputs *outputs, struct etw_session_round *round);

/*
 * etw_output_merge() - moves events of all streams into the output's buffer, in order of time, as far as
 * the lowest watermark lets it, and at most 16 buffers of them.
 */
void etw_output_merge(struct etw_session_outputs *outputs, struct etw_session_output *output,
		      struct etw_session_round *round);

#endif
