/* SPDX-License-Identifier: MIT */
/*
 * The file that a relogger writes: events, as they come, into a buffer of their processor; buffers, as they are full, into
 * the file, as Windows' relogger does it. Numbers of buffers are given when the first event goes in, their times are when
 * they were written, as FILETIME. Source: docs/format/etl.md "Writing".
 */
#ifndef ETW_RELOG_OUTPUT_H
#define ETW_RELOG_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "etl/writer.h"

#define ETW_RELOG_LANES_BYTES \
	(64u * 1024 * 1024) /* of buffers that fill; beyond, one goes out early */

struct etw_relog_output;

/*
 * etw_relog_output_create() - makes the file, or empties the one that is there, with a header buffer for a trace that is
 * not closed.
 *
 * @head: borrowed until the output is freed; etw_relog_output_finish() writes it once more
 *
 * Returns 0; what etw_etl_file_writer_open() and etw_etl_write_header_buffer() say; -ENOMEM; the errno of writing.
 */
int etw_relog_output_create(const char *path, const struct etw_etl_file_head *head,
			    struct etw_relog_output **ret);

/*
 * etw_relog_output_add() - one event behind the others of its processor.
 *
 * Returns 0; -EMSGSIZE: it fits in no buffer; -ENOMEM; the errno of writing a buffer. After one of writing, all further
 * calls return the same: the file ends before the buffer that could not be written.
 */
int etw_relog_output_add(struct etw_relog_output *output, uint16_t processor, const uint8_t *event,
			 uint32_t bytes);

/*
 * etw_relog_output_lose() - events were lost here: the next buffer of the processor says so.
 *
 * @flag: of WIRE_BUFFER_EVENTS_LOST, _BUFFER_LOST, _RTBACKUP_CORRUPT
 *
 * Returns 0 or as etw_relog_output_add().
 */
int etw_relog_output_lose(struct etw_relog_output *output, uint16_t processor, uint16_t flag);

/* etw_relog_output_processors() - the highest processor that has had an event, and 1. */
uint32_t etw_relog_output_processors(const struct etw_relog_output *output);

/*
 * etw_relog_output_finish() - writes what has not been written, and the header buffer again.
 *
 * The head's `buffers_written` is set here. The trace is whole and closed when this returns 0; when it does not, it is
 * as whole as it could be made. Returns 0 or the first error of writing, also of one before.
 */
int etw_relog_output_finish(struct etw_relog_output *output, struct etw_etl_file_head *head);

/* etw_relog_output_free() - closes the file as it is; takes NULL. */
void etw_relog_output_free(struct etw_relog_output *output);

#endif
