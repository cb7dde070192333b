/* SPDX-License-Identifier: MIT */
/*
 * The bytes of the source's events: those of tracepoints, and those that say what these are. The latter are, for each
 * tracepoint: a TRACE_EVENT_INFO and the maps of its fields, as the merge step of Windows writes them (wire/event_info.h), and
 * an event of libetw's own with the kernel's text.
 */
#ifndef ETW_SOURCE_TRACEPOINTS_POINT_EVENT_H
#define ETW_SOURCE_TRACEPOINTS_POINT_EVENT_H

#include "source/tracepoints/point.h"
#include "source/tracepoints/queue.h"
#include "source/tracepoints/sample.h"

/* "Libetw-Tracepoints" by the rule of names; tests/unit/source/test_tracepoints.c holds the two together. */
#define ETW_TRACEPOINT_NOTES_NAME "Libetw-Tracepoints"
#define ETW_TRACEPOINT_NOTES_PROVIDER                                  \
	{                                                              \
		0x4c37bc50, 0xe36d, 0x5a20,                            \
		{                                                      \
			0x51, 0xa1, 0x27, 0xde, 0x2c, 0x43, 0xa8, 0x37 \
		}                                                      \
	}

#define ETW_TRACEPOINT_EVENT_BYTES_MAX 65535

/*
 * etw_tracepoint_event() - the event of a sample.
 *
 * @payload: made of its record
 * @ret:     the caller's
 *
 * Returns 0; -EMSGSIZE: it would be larger than any event; -ENOMEM.
 */
int etw_tracepoint_event(const struct etw_tracepoint_point *point,
			 const struct etw_tracepoint_sample *sample, struct etw_bytes payload,
			 struct etw_tracepoint_item **ret);

/* Takes an event. Returns 0 or negative errno, which ends it. */
typedef int etw_tracepoint_take_fn(void *context, struct etw_tracepoint_item *item);

/*
 * etw_tracepoint_describe() - makes the events that say what a tracepoint is.
 *
 * Returns 0; -ENOMEM; what @take returns. What is larger than any event is left out.
 */
int etw_tracepoint_describe(const struct etw_tracepoint_point *point, etw_tracepoint_take_fn *take,
			    void *context);

#endif
