/* SPDX-License-Identifier: MIT */
/*
 * What loading the buffers of a file gave, kept from the pass that loaded them to those that follow, so that no buffer
 * is checked and searched for damage twice. Blocks of compressed buffers, and those with findings, stay in memory up to
 * a limit of bytes. Of all others only the number of events is kept: their bytes are fetched again, and decompressed,
 * but not checked as a whole. To read a plain buffer again costs less than memory for it does.
 *
 * Context: one owner thread.
 */
#ifndef ETW_ETL_KEPT_H
#define ETW_ETL_KEPT_H

#include "etl/block.h"

struct etw_etl_kept {
	bool is_wanted;     /* set by the owner; else nothing is kept */
	size_t limit_bytes; /* set by the owner: of blocks, and of what stands for those without room */
	size_t bytes;       /* of all that is kept */
	uint64_t loaded;  /* buffers that were read, decompressed and checked */
	uint64_t fetched; /* buffers that were read and decompressed again */
	uintptr_t *slots; /* owned; by the buffers' numbers: what is known of each */
	size_t room;      /* slots */
};

/* etw_etl_kept_done() - frees everything; takes a zeroed struct. */
void etw_etl_kept_done(struct etw_etl_kept *kept);

/*
 * etw_etl_kept_load() - a buffer's block, in the cheapest way there is.
 *
 * @buffer:   as the walk gave it, or a directory
 * @own:      zeroed, or loaded before: room for the block when it is not in memory
 * @findings: receives what loading the buffer found, now or when it was kept; may be NULL
 * @ret:      @own, or a block that is kept: valid until etw_etl_kept_done()
 *
 * Returns 0, also for a damaged buffer; -ENOMEM; the errno of reading.
 */
int etw_etl_kept_load(struct etw_etl_kept *kept, const struct etw_etl_file *file,
		      const struct etw_etl_buffer *buffer, struct etw_etl_block *own,
		      struct etw_findings *findings, const struct etw_etl_block **ret);

/*
 * etw_etl_kept_first() - as etw_etl_kept_load(), and keeps what can be kept.
 *
 * Where memory is short or the limit is reached, less is kept: that is no error.
 */
int etw_etl_kept_first(struct etw_etl_kept *kept, const struct etw_etl_file *file,
		       const struct etw_etl_buffer *buffer, struct etw_etl_block *own,
		       struct etw_findings *findings, const struct etw_etl_block **ret);

/*
 * etw_etl_kept_take() - hands the memory of a kept block over to the caller, and keeps it no longer.
 *
 * @block: still valid, and without memory of its own
 * @ret:   owned; the events are where they were
 */
void etw_etl_kept_take(struct etw_etl_kept *kept, const struct etw_etl_block *block,
		       struct etw_etl_block *ret);

#endif
