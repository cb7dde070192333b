/* SPDX-License-Identifier: MIT */
/*
 * The loop that Microsoft publishes for consumers: ask TDH for the event's description, walk its properties
 * with TdhFormatProperty, look maps up, take counts and lengths from properties before. The texts of one
 * top-level property are put together as docs/format/tdh-text.md does it for arrays and structs.
 */
#ifndef ETW_TESTS_CONFORMANCE_TDH_SAMPLE_LOOP_H
#define ETW_TESTS_CONFORMANCE_TDH_SAMPLE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tdh.h>

#include "base/text.h"

#define SAMPLE_PROPERTIES_MAX 4096

struct sample_loop {
	EVENT_RECORD *record;
	TRACE_EVENT_INFO *info; /* of the event at hand; reused */
	ULONG info_room;
	EVENT_MAP_INFO *map;
	ULONG map_room;
	WCHAR *formatted;
	ULONG formatted_room;
	ULONG pointer_bytes;
	const BYTE *at; /* what is left of the payload */
	USHORT left;
	USHORT values[SAMPLE_PROPERTIES_MAX]; /* of the integers seen so far */
	ULONG maps, unmapped;                 /* looked up with success; values without a name */
};

/* sample_loop_begin() - describes the event; returns what TdhGetEventInformation did. */
TDHSTATUS sample_loop_begin(struct sample_loop *loop, EVENT_RECORD *record);

/*
 * sample_loop_property() - appends the text of the next top-level property.
 *
 * Returns false when the payload ended or a function failed in it; what could be read is appended.
 */
bool sample_loop_property(struct sample_loop *loop, ULONG index, struct etw_text *text);

/* sample_loop_done() - frees the buffers. */
void sample_loop_done(struct sample_loop *loop);

#endif
