/* SPDX-License-Identifier: MIT */
/*
 * What the header buffer of a relogged trace says: that of its first input, with the marks of the relogger.
 * Source: docs/format/etl.md "The header event".
 */
#ifndef ETW_RELOG_HEAD_H
#define ETW_RELOG_HEAD_H

#include "consumer/trace.h"
#include "etl/writer.h"

struct etw_relog_head {
	struct etw_etl_file_head file; /* what it points to is below */
	uint8_t *logger_name;          /* owned, UTF-16 */
	uint8_t *log_file_name;        /* owned, UTF-16 */
	uint8_t *companions; /* owned; NULL: the first input's head has none that can be read */
};

/* How a trace is to be written. */
struct etw_relog_form {
	const char *log_file_name; /* for the header; NULL: as the first input's */
	uint32_t mode;             /* bits of LogFileMode beside those of the relogger */
	bool is_compressed;
};

/*
 * etw_relog_head_make() - from the headers of @count inputs, at least one, which are known.
 *
 * @ret: owned; etw_relog_head_done()
 *
 * Returns 0, -ENOMEM or the errno of reading.
 */
int etw_relog_head_make(struct etw_trace *const *traces, size_t count,
			const struct etw_relog_form *form, struct etw_relog_head *ret);

/* etw_relog_head_count_losses() - what all inputs say now that they have lost: sessions go on losing until their end. */
void etw_relog_head_count_losses(struct etw_trace *const *traces, size_t count,
				 struct etw_etl_file_head *file);

/* etw_relog_head_done() - takes a zeroed one. */
void etw_relog_head_done(struct etw_relog_head *head);

#endif
