/* SPDX-License-Identifier: MIT */
/*
 * A tracepoint as an event that every decoder of ETW reads: its fields with TDH's types, and the steps that make a payload of
 * the kernel's record. The record has places of strings and arrays in front and their bytes at the end, and holes where C
 * aligns; the payload has all fields one behind the other:
 *
 * - numbers and arrays of a fixed size as they are;
 * - text with its NUL, and nothing behind it;
 * - arrays of any size behind a count, the field NAME_count; bytes behind their number, NAME_length;
 * - a bit field as an integer of its own;
 * - last, of what all records have, all but the tracepoint's number and the thread, which are in the event's header.
 *
 * Source: docs/tracepoints.md.
 */
#ifndef ETW_SCHEMA_TRACEPOINT_LAYOUT_H
#define ETW_SCHEMA_TRACEPOINT_LAYOUT_H

#include "base/bytes.h"
#include "schema/model.h"
#include "schema/tracepoint/format.h"

#define ETW_TRACEPOINT_EVENTS_MAX 65535 /* of a provider: ids have 16 bits */
#define ETW_TRACEPOINT_KEYWORDS   48    /* bits; those above are Microsoft's */

enum etw_tracepoint_step_kind {
	ETW_TRACEPOINT_COPY, /* `bytes` from `offset` */
	ETW_TRACEPOINT_TEXT, /* of at most `bytes` from `offset`, up to a NUL */
	ETW_TRACEPOINT_BITS,
	ETW_TRACEPOINT_DYNAMIC_TEXT,  /* its place is at `offset` */
	ETW_TRACEPOINT_DYNAMIC_ARRAY, /* likewise; elements of `bytes` */
	ETW_TRACEPOINT_REST_TEXT,     /* from `offset` to the record's end */
	ETW_TRACEPOINT_REST_ARRAY,
};

struct etw_tracepoint_step {
	uint8_t kind; /* enum etw_tracepoint_step_kind */
	uint8_t bit_shift, bit_count;
	bool is_relative; /* the place counts from its own end on */
	uint16_t offset, bytes;
};

/* What an event is called, beyond its format. */
struct etw_tracepoint_identity {
	GUID provider;
	const char *provider_name; /* borrowed as long as the layout */
	uint16_t id;
	uint8_t version; /* tells events apart that have the same id in one trace; 0 for the first */
	uint64_t keyword;
};

struct etw_tracepoint_layout {
	struct etw_schema
		schema; /* names and fields live in the arena; maps are those of the fields */
	uint32_t step_count;
	const struct etw_tracepoint_step *steps;
	uint32_t record_bytes; /* shorter records make no sense */
};

/*
 * etw_tracepoint_layout_make() - the event of a tracepoint.
 *
 * @format:   borrowed as long as the layout
 * @identity: what the format does not say
 * @ret:      lives in @arena
 *
 * Returns 0 or -ENOMEM.
 */
int etw_tracepoint_layout_make(struct etw_arena *arena, const struct etw_tracepoint_format *format,
			       const struct etw_tracepoint_identity *identity,
			       struct etw_tracepoint_layout **ret);

/*
 * etw_tracepoint_payload() - the payload of a record.
 *
 * @record: as the kernel wrote it, from the tracepoint's number on; with any bytes
 * @to:     @room bytes
 *
 * Returns the payload's bytes; -EBADMSG for a record that is too short, or names a place outside itself; -EMSGSIZE where the
 * room is too small.
 */
int etw_tracepoint_payload(const struct etw_tracepoint_layout *layout, struct etw_bytes record,
			   uint8_t *to, size_t room);

#endif
