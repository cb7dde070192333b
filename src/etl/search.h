/* SPDX-License-Identifier: MIT */
/* Finding the buffers of a damaged file by looking at their bytes alone. */
#ifndef ETW_ETL_SEARCH_H
#define ETW_ETL_SEARCH_H

#include "base/macros.h"
#include "etl/buffer.h"
#include "etl/file.h"

/*
 * What the searches of one file may spend, and what they know. Places that only look like buffers cost the
 * reading of what they claim to hold; a file made of such places must not cost more than a multiple of its
 * size. Nor may searches that overlap, each up to the end of the file: what the last one went through in vain
 * is remembered.
 */
struct etw_etl_search {
	const struct etw_etl_file *file; /* borrowed */
	uint64_t budget; /* bytes of unsound bodies that may still be read and decompressed */
	bool gave_up;    /* the budget was used up: what was not found may be there all the same */
	bool has_found;  /* a sound buffer lies at barren_to */
	uint64_t barren_from,
		barren_to;           /* no sound buffer begins in between, barren_to exclusive */
	struct etw_etl_buffer found; /* that one */
};

/* etw_etl_search_init() - @file is borrowed as long as the search is used. */
void etw_etl_search_init(struct etw_etl_search *search, const struct etw_etl_file *file);

/*
 * etw_etl_search_buffer() - the first sound buffer in a span of the file.
 *
 * @from, @to: where its header may begin, any byte; @to is exclusive
 *
 * A buffer is sound when its header is plausible and all of its body agrees with it: compressed data
 * gives exactly the bytes that it should and nothing follows it, events follow each other up to the end.
 *
 * Returns 0 with `offset` set in @ret; ETW_END when there is none, or the budget is used up; -ENOMEM; the
 * errno of reading.
 */
int etw_etl_search_buffer(struct etw_etl_search *search, uint64_t from, uint64_t to,
			  struct etw_etl_buffer *ret);

/*
 * etw_etl_search_is_sound() - the same judgement of one place.
 *
 * Returns 0 with @ret filled, ETW_END when there is no sound buffer, -ENOMEM, the errno of reading.
 */
int etw_etl_search_is_sound(struct etw_etl_search *search, uint64_t offset,
			    struct etw_etl_buffer *ret);

/*
 * etw_etl_search_body() - whether the body agrees with these fields.
 *
 * @buffer: as read, or with fields that are to be tried
 *
 * Returns 0 when it does, ETW_END when not, -ENOMEM, the errno of reading. Spends no budget.
 */
int etw_etl_search_body(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer);

#endif
