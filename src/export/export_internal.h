/* SPDX-License-Identifier: MIT */
/* What the formats share. Private to src/export. */
#ifndef ETW_EXPORT_EXPORT_INTERNAL_H
#define ETW_EXPORT_EXPORT_INTERNAL_H

#include <stdbool.h>

#include "base/text.h"
#include "export/export.h"

#define NO_ID 0xFFFFFFFFu /* process and thread of events whose header has no field for them */

/* etw_export_hex() - @bytes bytes as pairs of lower-case digits. */
void etw_export_hex(const void *at, size_t bytes, struct etw_text *text);

/* etw_export_hex64() - "0x" and the number in lower case, without leading zeros. */
void etw_export_hex64(uint64_t value, struct etw_text *text);

/* etw_export_guid() - without braces. */
void etw_export_guid(const GUID *guid, struct etw_text *text);

/* What is known of a field's member in an object. */
struct etw_json_member {
	uint32_t key_at; /* in the plan's keys, comma first */
	uint32_t key_bytes;
	uint8_t shape;       /* enum etw_json_shape of values with... */
	uint8_t value_bytes; /* ...this size */
};

/* JSON that is the same for all events of a kind. */
struct etw_json_plan {
	/* The kind. */
	const struct etw_schema *schema; /* NULL: none */
	const char *provider_name;
	GUID provider;
	EVENT_DESCRIPTOR descriptor;
	bool is_classic;
	/* Made when it was met first. */
	struct etw_text identity;        /* owned */
	struct etw_text keys;            /* owned: ,"name": of each field in turn */
	struct etw_json_member *members; /* owned: one a field; NULL: names repeat in an object */
};

/*
 * etw_json_plan_find() - the plan of the event's kind, new and empty if need be.
 *
 * @ret_is_new: it must be filled in
 *
 * Returns NULL when the event comes without a memory, or there is no room.
 */
struct etw_json_plan *etw_json_plan_find(const struct etw_export_event *event, bool *ret_is_new);

/* etw_json_plan_fields() - prepares the members of the plan's schema, as far as they can be. */
void etw_json_plan_fields(struct etw_json_plan *plan);

/* etw_json_fields() - the fields of an event as an object. @plan: of its kind, or NULL */
void etw_json_fields(const struct etw_decoding *decoding, const struct etw_json_plan *plan,
		     struct etw_text *text);

/*
 * etw_export_time() - etw_format_filetime() with what @memory knows of the last second.
 *
 * @memory: may be NULL
 */
void etw_export_time(struct etw_export_memory *memory, int64_t time_ft, struct etw_text *text);

/* etw_export_trimmed() - bytes of a name without the blanks that some schemas end names with. */
size_t etw_export_trimmed(const char *name);

/* etw_export_wpp_message() - the formatted message of a WPP event; its schema is one of WPP. */
void etw_export_wpp_message(const struct etw_decoding *decoding, struct etw_text *text);

/*
 * etw_export_wpp_json() / _text() - function, level, flags and place of a WPP event; in JSON after the message.
 *
 * @decoding: its schema is that of a WPP message
 */
void etw_export_wpp_json(const struct etw_decoding *decoding, struct etw_text *text);
void etw_export_wpp_text(const struct etw_decoding *decoding, struct etw_text *text);

#endif
