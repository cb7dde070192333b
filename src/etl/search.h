/* SPDX-License-Identifier: MIT */
/* Finding the next buffer of a damaged file by looking at its bytes alone. */
#ifndef ETW_ETL_SEARCH_H
#define ETW_ETL_SEARCH_H

#include "etl/buffer.h"
#include "etl/file.h"

/*
 * etw_etl_search_buffer() - the first sound buffer in a span of the file.
 *
 * @from, @to: where its header may begin; @to is exclusive
 * @step:      distance of the places to try; 1 for compressed files, whose buffers have no alignment
 *
 * A buffer is sound when its header is plausible and all of its body agrees with it: compressed data
 * gives exactly the bytes that it should, events follow each other up to the end.
 *
 * Returns 0 with `offset` set in @ret; ETW_END when there is none; -ENOMEM; the errno of reading.
 */
int etw_etl_search_buffer(const struct etw_etl_file *file, uint64_t from, uint64_t to,
			  uint32_t step, struct etw_etl_buffer *ret);

/*
 * etw_etl_search_is_sound() - the same judgement of one place.
 *
 * Returns 0 with @ret filled, ETW_END when there is no sound buffer, -ENOMEM, the errno of reading.
 */
int etw_etl_search_is_sound(const struct etw_etl_file *file, uint64_t offset,
			    struct etw_etl_buffer *ret);

#endif
