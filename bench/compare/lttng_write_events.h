/* SPDX-License-Identifier: MIT */
/* The events that LTTng-UST writes: the three fields of bench/write's 26 bytes, and one field of some size. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER etw_compare

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_write_events.h"

#if !defined(ETW_BENCH_COMPARE_LTTNG_WRITE_EVENTS_H) || \
	defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ETW_BENCH_COMPARE_LTTNG_WRITE_EVENTS_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	etw_compare, three_fields,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint64_t, square, const char *, text),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, number, number)
				    lttng_ust_field_integer(uint64_t, square, square)
					    lttng_ust_field_array(char, text, text, 10)))

LTTNG_UST_TRACEPOINT_EVENT(etw_compare, text_200, LTTNG_UST_TP_ARGS(const char *, text),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_array(char, text, text, 200)))

LTTNG_UST_TRACEPOINT_EVENT(etw_compare, sized,
			   LTTNG_UST_TP_ARGS(const uint8_t *, bytes, uint32_t, count),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_sequence(uint8_t, bytes, bytes,
									uint32_t, count)))

#endif

#include <lttng/tracepoint-event.h>
