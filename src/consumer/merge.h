/* SPDX-License-Identifier: MIT */
/*
 * Hands out the events of one file in order of time; equal times in file order. A buffer is loaded when the
 * clock reaches its first event and given back after its last, so that only those buffers are in memory
 * that overlap in time: as a rule one per processor. Where more overlap than memory is meant for, which
 * only hostile files do, buffers wait and their events come late, with a finding.
 */
#ifndef ETW_CONSUMER_MERGE_H
#define ETW_CONSUMER_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "consumer/pin.h"
#include "etl/block.h"
#include "etl/directory.h"

struct etw_merge;

/*
 * An event at the merge's head, or a loss that a buffer's flags tell of: it comes before the buffer's events, and where
 * the buffer has none, at the time when it was flushed.
 */
struct etw_merge_event {
	const struct etw_etl_block *block;
	const struct etw_etl_event *event; /* unset for a loss of a buffer without events */
	uint32_t offset; /* of the event in the block; with block->buffer.number its address */
	uint16_t loss;   /* 0: an event; else the one WIRE_BUFFER_*LOST/CORRUPT flag to report */
	int64_t time_raw;
};

/*
 * etw_merge_create() - @file, @directory, @kept and @findings are borrowed and must outlive the merge.
 *
 * @kept:   where a buffer's block comes from; NULL for traces that come piece by piece
 * @to_raw: the last time to deliver; INT64_MAX for everything
 *
 * Returns 0 or -ENOMEM.
 */
int etw_merge_create(const struct etw_etl_file *file, const struct etw_etl_directory *directory,
		     struct etw_etl_kept *kept, int64_t to_raw, struct etw_findings *findings,
		     struct etw_merge **ret);

/* etw_merge_free() - takes NULL. */
void etw_merge_free(struct etw_merge *merge);
void etw_merge_freep(struct etw_merge **merge);

/*
 * etw_merge_peek() - the event that is next.
 *
 * @ret: borrowed from the merge until the next etw_merge_pop()
 *
 * Returns 0, ETW_END, -ENOMEM or the errno of reading.
 */
int etw_merge_peek(struct etw_merge *merge, struct etw_merge_event *ret);

/*
 * etw_merge_pop() - moves on behind the event that etw_merge_peek() gave.
 *
 * An event older than one popped before makes a finding.
 * Returns the buffer whose last event that was, valid until the next call, or NULL.
 */
const struct etw_etl_buffer *etw_merge_pop(struct etw_merge *merge);

/*
 * etw_merge_next_done() - the next buffer whose events were all popped, with its bytes; NULL when there is none.
 *
 * Of use behind an etw_merge_pop() that returned a buffer, until it returns NULL; who does not ask loses nothing but the
 * bytes. Valid until the next call of any function but etw_merge_pin_done().
 */
const struct etw_etl_block *etw_merge_next_done(struct etw_merge *merge);

/*
 * etw_merge_keep_order() - from now on buffers come from etw_merge_next_done() in the order in which they were flushed,
 * of traces that come piece by piece in the order in which they were added: one waits, in memory, for those before it.
 *
 * Before the first etw_merge_peek(). The caller must ask for what is done. Where too much would wait, the order is given
 * up. Returns 0 or -ENOMEM.
 */
int etw_merge_keep_order(struct etw_merge *merge);

/* etw_merge_pin_done() - keeps the bytes of the buffer that etw_merge_next_done() gave. Returns as etw_merge_pin(). */
int etw_merge_pin_done(struct etw_merge *merge, struct etw_pin_account *account,
		       struct etw_pin **ret);

/*
 * etw_merge_pin() - keeps the bytes of the event that etw_merge_peek() gave, and those of its whole buffer.
 *
 * @account: charged when the buffer is pinned for the first time
 *
 * Returns 0 with a reference; -ENODATA when no event is there, or a loss; -ENOBUFS when the account is full; -ENOMEM.
 */
int etw_merge_pin(struct etw_merge *merge, struct etw_pin_account *account, struct etw_pin **ret);

/*
 * etw_merge_add() - puts the events of a buffer among the others, for traces that come piece by piece.
 *
 * @block: loaded; taken with its memory, and left with memory that the next load may reuse
 *
 * What is older than an event already given comes late, with a finding. Ends a borrowed etw_merge_peek().
 * Returns 0 or -ENOMEM.
 */
int etw_merge_add(struct etw_merge *merge, struct etw_etl_block *block);

/*
 * etw_merge_lend() - from now on blocks that are added borrow their bytes, and @give_back is told of each that is not
 * read any more; @context is passed to it.
 */
void etw_merge_lend(struct etw_merge *merge,
		    void (*give_back)(void *context, const struct etw_etl_block *block),
		    void *context);

/*
 * etw_merge_own() - copies what is borrowed and gives it back, in the order of adding, until copies of so many bytes are
 * held. Ends a borrowed etw_merge_peek(). Returns 0 or -ENOMEM.
 */
int etw_merge_own(struct etw_merge *merge, size_t limit_bytes);

/* etw_merge_set_end() - the last time to deliver from now on. */
void etw_merge_set_end(struct etw_merge *merge, int64_t to_raw);

/* etw_merge_bytes() - memory of the buffers whose events are not all delivered. */
size_t etw_merge_bytes(const struct etw_merge *merge);

#endif
