/* SPDX-License-Identifier: MIT */
/*
 * One buffer of a file in memory: read, decompressed, every event checked. After a damaged event the
 * block finds the events behind it again: a place counts as an event's start when the chain of events
 * from there ends exactly where the buffer ends. etl/cursor.h goes over what was found.
 */
#ifndef ETW_ETL_BLOCK_H
#define ETW_ETL_BLOCK_H

#include "etl/buffer.h"
#include "etl/cursor.h"
#include "etl/file.h"
#include "etl/findings.h"

/*
 * etw_etl_block_load() - reads a buffer of the file.
 *
 * @buffer:   as the walk gave it; what it says beside place, sizes, processor, flags and type is read again
 * @block:    zeroed, or loaded before: its memory is reused
 * @findings: what could not be read is added here; NULL to keep silent
 *
 * Returns 0, also for a damaged buffer (then `count` may be 0); -ENOMEM; the errno of reading.
 */
int etw_etl_block_load(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer,
		       struct etw_etl_block *block, struct etw_findings *findings);

/*
 * etw_etl_block_fetch() - brings the bytes of a buffer in again that was loaded before without a finding.
 *
 * @count:        of the events that were found then
 * @needs_places: whether they were not `is_stepped`
 *
 * Does not check the whole buffer again: where the file has changed meanwhile, a cursor ends before @count. Of the
 * block, `first_raw` and `last_raw` are unset. Returns 0; -ENOMEM; the errno of reading.
 */
int etw_etl_block_fetch(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer,
			uint32_t count, bool needs_places, struct etw_etl_block *block);

/*
 * etw_etl_block_borrow() - as etw_etl_block_load(), of a buffer that lies in memory already, without a copy.
 *
 * @at, @bytes: the buffer with its header; borrowed until the block is loaded anew or done
 *
 * Returns 0 or -ENOMEM.
 */
int etw_etl_block_borrow(const uint8_t *at, size_t bytes, const struct etw_etl_buffer *buffer,
			 struct etw_etl_block *block, struct etw_findings *findings);

/*
 * etw_etl_block_own() - copies what a block has borrowed; events then are at other addresses.
 *
 * Returns 0 or -ENOMEM.
 */
int etw_etl_block_own(struct etw_etl_block *block);

/* etw_etl_block_done() - frees the memory; takes a zeroed block. */
void etw_etl_block_done(struct etw_etl_block *block);

/*
 * etw_etl_cursor_tell() - adds a finding when a cursor that is at its end has fewer events than the block.
 *
 * Then the file has changed since the block was loaded first (etw_etl_block_fetch()).
 */
void etw_etl_cursor_tell(const struct etw_etl_cursor *cursor, struct etw_findings *findings);

#endif
