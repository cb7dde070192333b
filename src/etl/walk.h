/* SPDX-License-Identifier: MIT */
/*
 * Goes over a file buffer by buffer, in file order, and survives damage: what is no buffer is skipped,
 * counted and named, and the walk goes on at the next sound buffer.
 */
#ifndef ETW_ETL_WALK_H
#define ETW_ETL_WALK_H

#include <stdbool.h>

#include "etl/buffer.h"
#include "etl/file.h"
#include "etl/findings.h"
#include "etl/header.h"
#include "etl/search.h"

/* Enough for a buffer header and the time in the first event, compressed or not. */
#define ETW_WALK_HEAD_BYTES (WIRE_BUFFER_HEADER_BYTES + 192)

struct etw_etl_walk {
	const struct etw_etl_file *file; /* borrowed */
	struct etw_findings *findings;   /* borrowed */
	struct etw_etl_search search;
	uint32_t fixed_stride; /* every buffer's size; 0 when each has its own (compressed files) */
	bool is_thorough;      /* sizes are doubtful: each is held against the buffer's body */
	bool is_preallocated;  /* what was never written is no finding */
	bool told_gave_up;     /* the finding that the search was given up is made */
	uint32_t
		told_buffers; /* as many are in the file by its header event; 0 when it does not know */
	bool is_counted_up_to; /* more than those are a finding; not of files that were appended to */
	uint64_t
		surplus; /* where the first buffer is that the header event does not count; 0: none */
	uint64_t offset; /* where the next buffer should be */
	uint32_t number;
	uint32_t head_bytes;               /* of the head below that are there */
	uint8_t head[ETW_WALK_HEAD_BYTES]; /* where the buffer begins that was given last */
};

/*
 * etw_etl_walk_start() - looks at the head of a file and starts a walk.
 *
 * @file, @findings: borrowed as long as the walk is used
 * @ret_header:      the header event; owned, etw_etl_header_done(). When it is damaged, what could be
 *                   had, a clock of 10 MHz and a finding
 *
 * Returns 0; -EBADMSG with @reterr when this is no .etl file; -ENOMEM; the errno of reading.
 */
int etw_etl_walk_start(const struct etw_etl_file *file, struct etw_findings *findings,
		       struct etw_etl_walk *ret_walk, struct etw_etl_header *ret_header,
		       struct etw_fault *reterr);

/*
 * etw_etl_walk_next() - the next buffer.
 *
 * Returns 0, ETW_END, -ENOMEM or the errno of reading.
 */
int etw_etl_walk_next(struct etw_etl_walk *walk, struct etw_etl_buffer *ret);

#endif
