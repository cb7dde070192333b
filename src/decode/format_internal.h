/* SPDX-License-Identifier: MIT */
/* The forms of values and their writers, shared by text and JSON. Private to src/decode. */
#ifndef ETW_DECODE_FORMAT_INTERNAL_H
#define ETW_DECODE_FORMAT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "decode/decoding.h"
#include "schema/types.h"

/* What (in-type, out-type) comes down to: first the forms of in-types by themselves. */
enum form {
	FORM_NONE = ETW_TYPE_NONE,
	FORM_SIGNED = ETW_TYPE_SIGNED,
	FORM_UNSIGNED = ETW_TYPE_UNSIGNED,
	FORM_HEX = ETW_TYPE_HEX,
	FORM_BOOLEAN = ETW_TYPE_BOOLEAN,
	FORM_FLOAT = ETW_TYPE_FLOAT,
	FORM_CHARACTER = ETW_TYPE_CHARACTER,
	FORM_UTF16 = ETW_TYPE_UTF16,
	FORM_ANSI = ETW_TYPE_ANSI,
	FORM_BYTES = ETW_TYPE_BYTES,
	FORM_GUID = ETW_TYPE_GUID,
	FORM_SID = ETW_TYPE_SID,
	FORM_FILETIME = ETW_TYPE_FILETIME,
	FORM_SYSTEMTIME = ETW_TYPE_SYSTEMTIME,
	FORM_PORT,
	FORM_IPV4,
	FORM_IPV6,
	FORM_SOCKET_ADDRESS,
	FORM_WIN32_ERROR,
	FORM_NTSTATUS,
	FORM_HRESULT,
};

/*
 * etw_form_choose() - the form of a value of @bytes bytes.
 *
 * A size that the in-type cannot have gives FORM_BYTES, so that writers need not check sizes again.
 */
enum form etw_form_choose(uint16_t in_type, uint16_t out_type, size_t bytes);

/*
 * etw_form_write() - the value in this form; text for everything but JSON's own types.
 *
 * @bytes: of strings, as etw_form_shown_bytes() says
 */
void etw_form_write(enum form form, const uint8_t *at, size_t bytes, struct etw_text *text);

/* etw_form_item() - where the bytes of an item are; never NULL. */
static inline const uint8_t *etw_form_item(const struct etw_decoding *decoding,
					   const struct etw_item *item)
{
	static const uint8_t no_payload[1];
	const uint8_t *payload = decoding->record->UserData;

	return payload ? payload + item->offset : no_payload;
}

/* etw_form_shown_bytes() - a string's bytes before its first NUL; all bytes of any other form. */
size_t etw_form_shown_bytes(enum form form, const uint8_t *at, size_t bytes);

/* etw_form_is_cut() - whether the walk has cut strings of this type at a NUL already. */
static inline bool etw_form_is_cut(uint16_t in_type)
{
	return in_type == TDH_INTYPE_UNICODESTRING || in_type == TDH_INTYPE_ANSISTRING;
}

/* etw_form_utf16_units() / _ansi_bytes() - what is shown of a string: it ends at the first NUL. */
size_t etw_form_utf16_units(const uint8_t *at, size_t bytes);
size_t etw_form_ansi_bytes(const uint8_t *at, size_t bytes);

/* etw_form_map() - the map that applies to values of this type, or NULL. */
const struct etw_map *etw_form_map(const struct etw_map *map, uint16_t in_type, size_t bytes);

/*
 * etw_form_float() - the shortest decimal that reads back as the same value of 4 or 8 bytes.
 *
 * Returns whether it is a finite number.
 */
bool etw_form_float(const uint8_t *at, size_t bytes, struct etw_text *text);

/* etw_form_point() - a number of printf with a point in the place of what the locale has there, of any length. */
void etw_form_point(char *number);

/* Writers of one noun each; sizes are checked by etw_form_choose(). */
void etw_form_bytes(const uint8_t *at, size_t bytes, struct etw_text *text);
void etw_form_filetime(const uint8_t *at, struct etw_text *text);
void etw_form_systemtime(const uint8_t *at, struct etw_text *text);
void etw_form_ipv4(const uint8_t *at, struct etw_text *text);
void etw_form_ipv6(const uint8_t *at, struct etw_text *text);
void etw_form_socket_address(const uint8_t *at, size_t bytes, struct etw_text *text);
void etw_form_win32_error(uint32_t code, struct etw_text *text);
void etw_form_ntstatus(uint32_t code, struct etw_text *text);
void etw_form_hresult(uint32_t code, struct etw_text *text);

/* etw_form_win32_name() and its like: the symbolic name of exactly this code, or NULL. */
const char *etw_form_win32_name(uint32_t code);
const char *etw_form_ntstatus_name(uint32_t code);
const char *etw_form_hresult_name(uint32_t code);

/* etw_map_name() - the one entry that names @value, or NULL: none, or several together do. */
const char *etw_map_name(const struct etw_map *map, uint32_t value);

/*
 * etw_map_write() - the names of @value, several joined by "|", bits without a name in hexadecimal.
 *
 * Returns false, nothing appended, when no entry fits: the number is shown then.
 */
bool etw_map_write(const struct etw_map *map, uint32_t value, struct etw_text *text);

#endif
