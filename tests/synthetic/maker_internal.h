/* SPDX-License-Identifier: MIT */
/* Between maker.c and maker_header.c: the header buffer's events, TRACE_LOGFILE_HEADER and its companions. */
#ifndef ETW_TESTS_SYNTHETIC_MAKER_INTERNAL_H
#define ETW_TESTS_SYNTHETIC_MAKER_INTERNAL_H

#include "synthetic/maker.h"

/* What is known when a session stops. */
struct maker_totals {
	uint32_t buffers;
	uint32_t events_lost, buffers_lost;
	int64_t end_raw;
	bool is_final;
};

/*
 * maker_header_events() - lays the events out behind the place of a buffer header.
 *
 * @bytes:         of options->buffer_bytes
 * @ret_first_end: where the header event ends, in the buffer
 *
 * Returns the valid bytes, the place of the buffer header included.
 */
uint32_t maker_header_events(const struct maker_options *options, const struct maker_totals *totals,
			     uint8_t *bytes, uint32_t *ret_first_end);

#endif
