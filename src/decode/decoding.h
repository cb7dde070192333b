/* SPDX-License-Identifier: MIT */
/* What decoding an event gives: where each value lies in the payload, and what was wrong. decode/decode.h makes it. */
#ifndef ETW_DECODE_DECODING_H
#define ETW_DECODE_DECODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evntcons.h>

#include "schema/model.h"
#include "schema/store/store.h"

enum etw_item_kind {
	ETW_ITEM_VALUE,  /* one value */
	ETW_ITEM_ARRAY,  /* `count` elements follow: values, or structs */
	ETW_ITEM_STRUCT, /* the members of one struct follow, up to `end` */
};

/*
 * One step of the walk, in payload order. Items are flat: the children of an array or struct are the
 * items from the next one up to, not including, `end`.
 */
struct etw_item {
	uint8_t kind;    /* enum etw_item_kind */
	uint8_t depth;   /* 0 for top-level fields */
	uint16_t field;  /* index into schema->fields */
	uint32_t index;  /* which element of the enclosing array; 0 outside arrays */
	uint32_t count;  /* ETW_ITEM_ARRAY: elements decoded */
	uint32_t end;    /* index of the first item that is no longer a child */
	uint32_t offset; /* of the value proper in the payload: behind a length prefix */
	uint32_t bytes;  /* of the value proper: without length prefix and terminating NUL */
	uint32_t taken;  /* payload bytes used, with prefix and terminator */
};

enum etw_decode_status {
	ETW_DECODE_COMPLETE, /* every byte of the payload belongs to a field */
	ETW_DECODE_EXTRA, /* all fields decoded, bytes are left over: a newer provider, perhaps */
	ETW_DECODE_TRUNCATED, /* the payload ended within or before a field */
	ETW_DECODE_MALFORMED, /* a field's bytes cannot be right (say, a SID of 200 sub-authorities) */
	ETW_DECODE_NO_SCHEMA, /* see `miss` */
};

struct etw_decoding {
	const EVENT_RECORD *record;
	const struct etw_schema *schema; /* NULL with ETW_DECODE_NO_SCHEMA */
	const struct etw_wpp_form
		*wpp_form;            /* of a WPP message, for decode/format_wpp.h; or NULL */
	const struct etw_item *items; /* those decoded, also when a later one failed */
	size_t item_count;
	uint32_t consumed; /* payload bytes that belong to decoded fields */
	enum etw_decode_status status;
	enum etw_schema_miss miss;
	uint16_t failed_field; /* with TRUNCATED and MALFORMED */
	const char *reason;    /* static sentence without a full stop; NULL when COMPLETE */
};

/*
 * etw_decoding_find() - the top-level item of the field with this name.
 *
 * Returns NULL when the schema has no such field or the walk did not get there.
 */
const struct etw_item *etw_decoding_find(const struct etw_decoding *decoding, const char *name);

/*
 * etw_decoding_u64() / _i64() - a VALUE item as an integer (booleans, pointers, times included).
 *
 * Signed in-types are sign-extended by both.
 * Returns false, @ret untouched, when the item is not an integer of 1, 2, 4 or 8 bytes.
 */
bool etw_decoding_u64(const struct etw_decoding *decoding, const struct etw_item *item,
		      uint64_t *ret);
bool etw_decoding_i64(const struct etw_decoding *decoding, const struct etw_item *item,
		      int64_t *ret);

/* etw_decode_status_name() - "complete", "extra", "truncated", "malformed", "no-schema". */
const char *etw_decode_status_name(enum etw_decode_status status);

#endif
