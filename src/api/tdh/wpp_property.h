/* SPDX-License-Identifier: MIT */
/*
 * The properties that every WPP event has, whatever its message: TDH shows a message by them, and the formatted
 * text is one of them. Source: PROPERTY_DATA_DESCRIPTOR; docs/design/tdh.md "WPP".
 */
#ifndef ETW_API_TDH_WPP_PROPERTY_H
#define ETW_API_TDH_WPP_PROPERTY_H

#include <stdbool.h>

#include <tdh.h>

#include "decode/decode.h"

/* A property's bytes as TdhGetProperty() gives them; text still in UTF-8. */
struct etw_wpp_value {
	uint32_t bytes; /* as given out */
	bool is_text;
	const char *text; /* static, of the schema, or of the thread's scratch texts */
	size_t text_bytes;
	uint8_t raw[16];
};

/*
 * etw_wpp_property() - a property of a WPP event.
 *
 * @decoding: with a schema of WPP
 * @is_utc: times are shown in UTC, not in local time
 * @name: as callers give it
 *
 * What the message does not say is an empty text or 0.
 * Returns 0; -ESRCH when there is no such property, SequenceNum of an event without one included; -ENOMEM.
 */
int etw_wpp_property(const struct etw_decoding *decoding, bool is_utc, const WCHAR *name,
		     struct etw_wpp_value *ret);

/* etw_wpp_message() - the formatted message; returns as etw_wpp_property(). */
int etw_wpp_message(const struct etw_decoding *decoding, bool is_utc, struct etw_wpp_value *ret);

/* etw_wpp_value_write() - writes ->bytes bytes. */
void etw_wpp_value_write(const struct etw_wpp_value *value, uint8_t *to);

/*
 * etw_wpp_event_info() - the TRACE_EVENT_INFO of a WPP event.
 *
 * @ret: owned memory of malloc()
 *
 * Returns 0 or -ENOMEM.
 */
int etw_wpp_event_info(const struct etw_decoding *decoding, TRACE_EVENT_INFO **ret,
		       size_t *ret_bytes);

#endif
