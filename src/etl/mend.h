/* SPDX-License-Identifier: MIT */
/* Replaces the fields of a damaged buffer header where the body, or another field, tells better. */
#ifndef ETW_ETL_MEND_H
#define ETW_ETL_MEND_H

#include "etl/buffer.h"
#include "etl/file.h"

/*
 * etw_etl_mend() - @buffer's place and stride are right; the rest is put right if need be.
 *
 * @is_uniform:   the file's buffers are all of one size, so that compressed ones are not expected
 * @buffer:       as read; afterwards within every limit: etw_etl_buffer_fault() only finds fault with the
 *                state
 * @ret_sentence: what was wrong, static; NULL when nothing was
 *
 * Returns 0, -ENOMEM or the errno of reading.
 */
int etw_etl_mend(const struct etw_etl_file *file, bool is_uniform, struct etw_etl_buffer *buffer,
		 const char **ret_sentence);

#endif
