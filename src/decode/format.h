/* SPDX-License-Identifier: MIT */
/*
 * Values as text, in TDH's formats (shared facts: docs/format/tdh-text.md), and as JSON. The raw value
 * decides, the out-type selects the form, a map replaces numbers by names.
 */
#ifndef ETW_DECODE_FORMAT_H
#define ETW_DECODE_FORMAT_H

#include "base/text.h"
#include "decode/decoding.h"

/*
 * etw_format_item() - an item as TDH shows it.
 *
 * Arrays and structs are shown as "[a, b]" and "{name=value, ...}"; character arrays with a string
 * out-type as one string. Appends to @text.
 */
void etw_format_item(const struct etw_decoding *decoding, const struct etw_item *item,
		     struct etw_text *text);

/*
 * etw_format_item_json() - an item as a JSON value.
 *
 * Integers that a double cannot hold exactly, and everything that TDH shows in a form of its own
 * (hexadecimal, addresses, times, GUIDs, SIDs), are JSON strings in that form; other integers and floats
 * are numbers, booleans true and false, arrays and structs JSON arrays and objects. Non-finite floats are
 * strings.
 */
void etw_format_item_json(const struct etw_decoding *decoding, const struct etw_item *item,
			  struct etw_text *text);

/* etw_format_is_string() - whether an array of this field's elements is shown as one string. */
bool etw_format_is_string(const struct etw_field *field);

/* etw_format_map_is_bits() - whether a map names bits, of which a value may have several. */
bool etw_format_map_is_bits(const struct etw_map *map);

/*
 * etw_format_map_value() - the value that an entry names, or the mask of its bits.
 *
 * @index: below the map's count
 *
 * Returns 0 for the number of a bit that 32 bits do not have.
 */
uint32_t etw_format_map_value(const struct etw_map *map, uint32_t index);

/* How a field's values look in JSON, where that can be said before any is seen. */
enum etw_json_shape {
	ETW_JSON_OTHER, /* etw_format_item_json() decides */
	ETW_JSON_UNSIGNED,
	ETW_JSON_SIGNED,
	ETW_JSON_HEX, /* "0x1F" */
	ETW_JSON_UTF16,
};

/*
 * etw_format_json_shape() - the shape of values of this field that have @*ret_bytes bytes; strings, any.
 *
 * Of integers up to 2^53 only; larger ones are ETW_JSON_OTHER each time.
 */
enum etw_json_shape etw_format_json_shape(const struct etw_field *field, uint8_t *ret_bytes);

/*
 * etw_format_value() - one value outside any event, as TdhFormatProperty needs it.
 *
 * @at, @bytes: the value proper, as in struct etw_item
 */
void etw_format_value(uint16_t in_type, uint16_t out_type, const struct etw_map *map,
		      const uint8_t *at, size_t bytes, struct etw_text *text);

/* etw_format_value_json() - the same as a JSON value, as etw_format_item_json() makes them. */
void etw_format_value_json(uint16_t in_type, uint16_t out_type, const struct etw_map *map,
			   const uint8_t *at, size_t bytes, struct etw_text *text);

/* etw_format_filetime() - "2011-01-23T22:06:37.4768585Z" (7 digits) for any FILETIME value. */
void etw_format_filetime(int64_t filetime, struct etw_text *text);

#endif
