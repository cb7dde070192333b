/* SPDX-License-Identifier: MIT */
/* What the formats share. Private to src/export. */
#ifndef ETW_EXPORT_EXPORT_INTERNAL_H
#define ETW_EXPORT_EXPORT_INTERNAL_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/text.h"
#include "decode/format.h"
#include "export/export.h"

#define NO_ID 0xFFFFFFFFu /* process and thread of events whose header has no field for them */

/* etw_export_hex() - @bytes bytes as pairs of lower-case digits. */
void etw_export_hex(const void *at, size_t bytes, struct etw_text *text);

/* etw_export_hex64() - "0x" and the number in lower case, without leading zeros. */
void etw_export_hex64(uint64_t value, struct etw_text *text);

/* etw_export_guid() - without braces. */
void etw_export_guid(const GUID *guid, struct etw_text *text);

/*
 * etw_export_provider_name() - the name of who writes the event; NULL when unknown.
 *
 * Definitions may give a provider different names: the event has that of the one that describes it.
 */
const char *etw_export_provider_name(const struct etw_export_event *event);

/* What is known of a field before any of its values is seen. */
struct etw_plan_field {
	uint32_t key_at; /* in the plan's keys */
	uint32_t key_bytes;
	uint8_t shape;         /* enum etw_json_shape of values with... */
	uint8_t value_bytes;   /* ...this size */
	uint8_t element_shape; /* the same of the elements of an array... */
	uint8_t element_bytes;
};

/* Output that a format makes of every event of a kind, with or without colours. */
struct etw_export_plan {
	/* The kind. */
	const struct etw_schema *schema; /* NULL: none */
	const char *provider_name;
	GUID provider;
	EVENT_DESCRIPTOR descriptor;
	const struct etw_export_format *format;
	bool is_classic;
	bool has_colour;
	/* Made when it was met first. */
	struct etw_text identity; /* owned; what it is depends on the format */
	struct etw_text place;    /* owned: of WPP messages in JSON, where their statement stands */
	struct etw_text keys;     /* owned: what stands before the values of each field in turn */
	struct etw_plan_field
		*fields; /* owned, as many as the schema has; NULL: they are not prepared */
};

/*
 * etw_export_plan_find() - the plan of the event's kind, new and empty if need be.
 *
 * @ret_is_new: it must be filled in
 *
 * Returns NULL when the event comes without a cache, or there is no room.
 */
struct etw_export_plan *etw_export_plan_find(const struct etw_export_event *event,
					     const struct etw_export_format *format,
					     bool *ret_is_new);

/* Fields of one schema that are prepared: more are rare. */
#define ETW_PLAN_FIELDS_MAX 256

/* Appends what stands before the values of a field with this name. */
typedef void etw_plan_put_key(const struct etw_export_event *event, const char *name,
			      struct etw_text *text);

/* etw_export_plan_fields() - prepares the fields of the plan's schema, where they are not too many. */
void etw_export_plan_fields(struct etw_export_plan *plan, const struct etw_export_event *event,
			    etw_plan_put_key *put_key);

/* What is copied of a key that has not more; as much lies behind the last one. */
#define ETW_PLAN_COPY_BYTES 32

/* etw_plan_copy_key() - a copy of a fixed size needs no call; @to has room for ETW_PLAN_COPY_BYTES more. */
static inline char *etw_plan_copy_key(char *to, const char *key, size_t bytes)
{
	if (LIKELY(bytes <= ETW_PLAN_COPY_BYTES))
		memcpy(to, key, ETW_PLAN_COPY_BYTES);
	else
		memcpy(to, key, bytes);
	return to + bytes;
}

/* etw_plan_is_integer() - whether a shape is that of an integer. */
static inline bool etw_plan_is_integer(unsigned shape)
{
	return shape - ETW_JSON_UNSIGNED <= (unsigned)(ETW_JSON_HEX - ETW_JSON_UNSIGNED);
}

/* etw_plan_negative() - how far below zero an integer of so many bytes is; 0 when it is not. */
static inline uint64_t etw_plan_negative(uint64_t value, size_t bytes)
{
	const unsigned unused = 64 - 8 * (unsigned)bytes;
	const int64_t number = (int64_t)(value << unused) >> unused;

	return number < 0 ? -(uint64_t)number : 0;
}

/* etw_export_subject_of() - of the event, or else of its header. */
struct etw_export_subject etw_export_subject_of(const struct etw_export_event *event);

/*
 * etw_export_is_id() - whether a field is the id of a process or thread that its schema shows in hexadecimal.
 *
 * Formats show it in decimal, as they show the ids of every event, so that one search finds all of them. TDH does
 * not, as on Windows.
 */
bool etw_export_is_id(const struct etw_field *field);

/* etw_export_put_id() - the value of such a field. Returns false for one that is no integer of 4 or 8 bytes. */
bool etw_export_put_id(const struct etw_decoding *decoding, const struct etw_item *item,
		       struct etw_text *text);

/* etw_json_plan_fields() - prepares the members of the plan's schema, as far as they can be. */
void etw_json_plan_fields(struct etw_export_plan *plan, const struct etw_export_event *event);

/* etw_json_fields() - the fields of an event as an object. @plan: of its kind, or NULL */
void etw_json_fields(const struct etw_decoding *decoding, const struct etw_export_plan *plan,
		     struct etw_text *text);

/*
 * etw_export_time() - etw_format_filetime() with what @cache knows of the last second.
 *
 * @cache: may be NULL
 */
void etw_export_time(struct etw_export_cache *cache, int64_t time_ft, struct etw_text *text);

/* etw_export_trimmed() - bytes of a name without the blanks that some schemas end names with. */
size_t etw_export_trimmed(const char *name);

#define ETW_EXPORT_MESSAGE_BYTES_MAX 16384 /* of a formatted message; the fields have everything */

/* etw_export_wpp_message() - the formatted message of a WPP event; its schema is one of WPP. */
void etw_export_wpp_message(const struct etw_decoding *decoding, struct etw_text *text);

/* etw_export_wpp_json_message() - the same as a JSON member. */
void etw_export_wpp_json_message(const struct etw_decoding *decoding, struct etw_text *text);

/* etw_export_wpp_json_place() - members for function, level and place: the same for each event of the kind. */
void etw_export_wpp_json_place(const struct etw_wpp_message *message, struct etw_text *text);

/* etw_export_wpp_text() - function, level, flags and place of a WPP event; its schema is one of WPP. */
void etw_export_wpp_text(const struct etw_decoding *decoding, struct etw_text *text);

#endif
