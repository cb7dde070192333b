/* SPDX-License-Identifier: MIT */
/*
 * A stream: what is merged into an output. It is a ring, or the events that a source has of one processor. A ring's
 * stream is part of its set (session/common/set.h), a source's of the feed (session/source_feed.h); outputs borrow both
 * (session/merge.h).
 *
 * Owner thread, but for what is said at a member.
 */
#ifndef ETW_SESSION_COMMON_STREAM_H
#define ETW_SESSION_COMMON_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "ring/reader.h"
#include "session/common/check.h"
#include "session/common/state.h"

#define ETW_STREAM_GAP_NS   UINT64_C(100000000) /* how long a ring's reader waits for a gap */
#define ETW_STREAM_STALL_NS UINT64_C(150000000) /* after that a gap holds nobody any more */

struct etw_session_set;
struct etw_source_feed;

enum etw_stream_status {
	ETW_STREAM_EMPTY, /* nothing before its watermark */
	ETW_STREAM_EVENT, /* head_* say which is next */
	ETW_STREAM_GAP,   /* somebody is writing what comes next */
};

struct etw_session_stream {
	struct etw_session_set *set;    /* NULL: a source's */
	struct etw_source_feed *feed;   /* whose it is then; borrowed */
	struct etw_ring_reader *reader; /* owned */
	uint32_t source_cpu;
	uint32_t mark; /* index in the record's marks */
	enum etw_stream_status status;
	bool is_touched; /* moved since the last commit */
	bool is_bumped;  /* the last look closed the open buffer to earlier times */
	uint32_t head_bytes;
	const uint8_t *head_at;
	int64_t head_raw;  /* its place in the merge */
	int64_t floor_raw; /* whatever is still to come is not before it */
	struct etw_source_mark popped;
	struct etw_ring_counts counts;     /* as of the last commit */
	uint64_t gaps_base, rejected_base; /* of counts, already in the record */
	struct etw_state_claims *claims;   /* borrowed from the state; the ring sets' lock */
	uint32_t late; /* events without a buffer that may yet be counted; the same lock */
	uint32_t
		lone_count; /* events to be taken one by one: the last run had one that was refused */
};

#endif
