/* SPDX-License-Identifier: MIT */
/*
 * Going on with a file that an earlier session closed, or left behind: whether that can be, where the next buffer belongs,
 * and what the header buffer of all of them says. It stays the first session's; the numbers at the end count everybody's.
 * Source: docs/format/etl.md "Writing".
 */
#ifndef ETW_ETL_APPEND_H
#define ETW_ETL_APPEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* What a session that appends is like, and the file has to be. */
struct etw_etl_append_like {
	uint32_t buffer_bytes;
	uint32_t processors;
	uint32_t clock_type;
	uint32_t pointer_bytes;
	bool is_compressed;
};

/* What is there. */
struct etw_etl_append_place {
	uint64_t next_offset; /* behind the last whole buffer; 0: the file is empty, and new */
	uint64_t last_offset; /* of that buffer; 0: of the header buffer */
	uint32_t buffers;     /* with the header buffer */
	uint32_t last_flags;
	int64_t last_time_raw; /* when it was flushed */
	uint32_t events_lost, buffers_lost;
};

/*
 * etw_etl_append_look() - looks at an open file.
 *
 * @header: like->buffer_bytes of room; gets the file's header buffer, of a file that is open: without an end, and with
 *          the mode's bits of a file in which several sessions are
 *
 * Returns 0; -EINVAL when the file is another one than @like, is circular or the relogger's; -EBADMSG when it is no trace;
 * the errno of fstat(2), pread(2); -ENOMEM. @reterr says what. Nothing is written.
 */
int etw_etl_append_look(int fd, const struct etw_etl_append_like *like, uint8_t *header,
			struct etw_etl_append_place *ret, struct etw_fault *reterr);

#endif
