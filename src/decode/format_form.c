/* SPDX-License-Identifier: MIT */
/* Which form a pair of in-type and out-type means, and the writers that need no file of their own. */
#include <string.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "base/utf.h"
#include "decode/format_internal.h"
#include "schema/types.h"

/* Out-types that any integer of the right width may have; @form is what others get. */
static enum form choose_integer(uint16_t out_type, size_t bytes, enum form form)
{
	switch (out_type) {
	case TDH_OUTTYPE_BYTE:
		return bytes == 1 ? FORM_SIGNED : form;
	case TDH_OUTTYPE_SHORT:
		return bytes == 2 ? FORM_SIGNED : form;
	case TDH_OUTTYPE_INT:
		return bytes == 4 ? FORM_SIGNED : form;
	case TDH_OUTTYPE_LONG:
		return bytes == 8 ? FORM_SIGNED : form;
	case TDH_OUTTYPE_UNSIGNEDBYTE:
		return bytes == 1 ? FORM_UNSIGNED : form;
	case TDH_OUTTYPE_UNSIGNEDSHORT:
		return bytes == 2 ? FORM_UNSIGNED : form;
	case TDH_OUTTYPE_UNSIGNEDINT:
		return bytes == 4 ? FORM_UNSIGNED : form;
	case TDH_OUTTYPE_UNSIGNEDLONG:
		return bytes == 8 ? FORM_UNSIGNED : form;
	case TDH_OUTTYPE_HEXINT8:
	case TDH_OUTTYPE_HEXINT16:
	case TDH_OUTTYPE_HEXINT32:
	case TDH_OUTTYPE_HEXINT64:
	case TDH_OUTTYPE_CODE_POINTER:
	case TDH_OUTTYPE_ERRORCODE:
		return FORM_HEX;
	case TDH_OUTTYPE_PID:
	case TDH_OUTTYPE_TID:
	case TDH_OUTTYPE_ETWTIME:
		return FORM_UNSIGNED;
	case TDH_OUTTYPE_BOOLEAN:
		return bytes <= 4 ? FORM_BOOLEAN : form;
	case TDH_OUTTYPE_STRING:
		return bytes <= 2 ? FORM_CHARACTER : form;
	case TDH_OUTTYPE_PORT:
		return bytes == 2 ? FORM_PORT : form;
	case TDH_OUTTYPE_IPV4:
		return bytes == 4 ? FORM_IPV4 : form;
	case TDH_OUTTYPE_WIN32ERROR:
		return bytes == 4 ? FORM_WIN32_ERROR : form;
	case TDH_OUTTYPE_NTSTATUS:
		return bytes == 4 ? FORM_NTSTATUS : form;
	case TDH_OUTTYPE_HRESULT:
		return bytes == 4 ? FORM_HRESULT : form;
	case TDH_OUTTYPE_DATETIME:
	case TDH_OUTTYPE_CULTURE_INSENSITIVE_DATETIME:
	case TDH_OUTTYPE_DATETIME_UTC:
		return bytes == 8 ? FORM_FILETIME : form;
	default:
		return form;
	}
}

/* Pointers know hexadecimal and, by the out-types of 64-bit integers, decimal. */
static enum form choose_pointer(uint16_t out_type)
{
	if (out_type == TDH_OUTTYPE_LONG)
		return FORM_SIGNED;
	return out_type == TDH_OUTTYPE_UNSIGNEDLONG ? FORM_UNSIGNED : FORM_HEX;
}

static enum form choose_binary(uint16_t out_type, size_t bytes)
{
	if (out_type == TDH_OUTTYPE_IPV6 && bytes == 16)
		return FORM_IPV6;
	return out_type == TDH_OUTTYPE_SOCKETADDRESS ? FORM_SOCKET_ADDRESS : FORM_BYTES;
}

enum form etw_form_choose(uint16_t in_type, uint16_t out_type, size_t bytes)
{
	const struct etw_type *type = etw_schema_type(in_type);
	bool is_pointer = type->extent == ETW_EXTENT_POINTER;
	enum form form = (enum form)type->kind;

	if (!is_pointer && type->bytes && type->bytes != bytes)
		return FORM_BYTES;
	/* The out-type that changes nothing; most fields have it. */
	if (!is_pointer && type->out_type == out_type)
		return form;
	switch (form) {
	case FORM_SIGNED:
	case FORM_UNSIGNED:
		return choose_integer(out_type, bytes, form);
	case FORM_HEX:
		if (is_pointer)
			return bytes == 4 || bytes == 8 ? choose_pointer(out_type) : FORM_BYTES;
		return choose_integer(out_type, bytes, form);
	case FORM_FILETIME:
		return out_type == TDH_OUTTYPE_ETWTIME ? FORM_UNSIGNED : FORM_FILETIME;
	case FORM_BYTES:
		return choose_binary(out_type, bytes);
	default:
		return form;
	}
}

size_t etw_form_shown_bytes(enum form form, const uint8_t *at, size_t bytes)
{
	if (form == FORM_UTF16)
		return 2 * etw_form_utf16_units(at, bytes);
	return form == FORM_ANSI ? etw_form_ansi_bytes(at, bytes) : bytes;
}

size_t etw_form_utf16_units(const uint8_t *at, size_t bytes)
{
	return etw_utf16_length(at, bytes / 2);
}

size_t etw_form_ansi_bytes(const uint8_t *at, size_t bytes)
{
	const uint8_t *nul = bytes ? memchr(at, 0, bytes) : NULL;

	return nul ? (size_t)(nul - at) : bytes;
}

const struct etw_map *etw_form_map(const struct etw_map *map, uint16_t in_type, size_t bytes)
{
	if (!map || bytes > 4)
		return NULL;
	if (in_type >= TDH_INTYPE_INT8 && in_type <= TDH_INTYPE_UINT32)
		return map;
	return in_type == TDH_INTYPE_HEXINT32 ? map : NULL;
}

void etw_form_bytes(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	static const char digits[] = "0123456789ABCDEF";
	char *to;

	if (bytes == 0 || bytes > SIZE_MAX / 4)
		return;
	to = etw_text_begin(text, 2 * bytes + 2);
	if (!to)
		return;
	*to++ = '0';
	*to++ = 'x';
	for (size_t i = 0; i < bytes; i++) {
		*to++ = digits[at[i] >> 4];
		*to++ = digits[at[i] & 15];
	}
	etw_text_end(text, to);
}

static void write_guid(const uint8_t *at, struct etw_text *text)
{
	GUID guid = etw_guid_read(at);
	char *to = etw_text_begin(text, ETW_GUID_BRACED_BYTES);

	if (!to)
		return;
	etw_guid_format_braced(&guid, to);
	etw_text_end(text, to + ETW_GUID_BRACED_BYTES - 1);
}

/* S-1-authority-sub...; an authority above 32 bits is shown as 12 hexadecimal digits. */
static void write_sid(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	uint64_t authority = 0;

	if (bytes < 8 || bytes < 8 + 4u * at[1]) {
		etw_form_bytes(at, bytes, text);
		return;
	}
	for (unsigned i = 2; i < 8; i++)
		authority = authority << 8 | at[i];
	etw_text_append(text, "S-", 2);
	etw_text_unsigned(text, at[0]);
	etw_text_putc(text, '-');
	if (authority > UINT32_MAX) {
		etw_text_append(text, "0x", 2);
		for (unsigned i = 2; i < 8; i++) {
			etw_text_putc(text, "0123456789abcdef"[at[i] >> 4]);
			etw_text_putc(text, "0123456789abcdef"[at[i] & 15]);
		}
	} else {
		etw_text_unsigned(text, authority);
	}
	for (unsigned i = 0; i < at[1]; i++) {
		etw_text_putc(text, '-');
		etw_text_unsigned(text, etw_load32(at + 8 + 4 * (size_t)i));
	}
}

static void write_hex(uint64_t value, struct etw_text *text)
{
	etw_text_append(text, "0x", 2);
	etw_text_hex(text, value);
}

static void write_boolean(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	if (etw_load_unsigned(at, bytes))
		etw_text_append(text, "true", 4);
	else
		etw_text_append(text, "false", 5);
}

static void write_character(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	if (bytes == 2)
		etw_text_utf16(text, at, etw_form_utf16_units(at, 2));
	else
		etw_text_ansi(text, at, etw_form_ansi_bytes(at, 1));
}

/* The forms of network addresses and error codes. */
static void write_special(enum form form, const uint8_t *at, size_t bytes, struct etw_text *text)
{
	switch (form) {
	case FORM_PORT:
		etw_text_unsigned(text, (uint64_t)at[0] << 8 | at[1]);
		return;
	case FORM_IPV4:
		etw_form_ipv4(at, text);
		return;
	case FORM_IPV6:
		etw_form_ipv6(at, text);
		return;
	case FORM_SOCKET_ADDRESS:
		etw_form_socket_address(at, bytes, text);
		return;
	case FORM_WIN32_ERROR:
		etw_form_win32_error(etw_load32(at), text);
		return;
	case FORM_NTSTATUS:
		etw_form_ntstatus(etw_load32(at), text);
		return;
	case FORM_HRESULT:
		etw_form_hresult(etw_load32(at), text);
		return;
	default:
		etw_form_bytes(at, bytes, text);
	}
}

void etw_form_write(enum form form, const uint8_t *at, size_t bytes, struct etw_text *text)
{
	switch (form) {
	case FORM_NONE:
		return;
	case FORM_SIGNED:
		etw_text_signed(text, etw_load_signed(at, bytes));
		return;
	case FORM_UNSIGNED:
		etw_text_unsigned(text, etw_load_unsigned(at, bytes));
		return;
	case FORM_HEX:
		write_hex(etw_load_unsigned(at, bytes), text);
		return;
	case FORM_BOOLEAN:
		write_boolean(at, bytes, text);
		return;
	case FORM_FLOAT:
		(void)etw_form_float(at, bytes, text);
		return;
	case FORM_CHARACTER:
		write_character(at, bytes, text);
		return;
	case FORM_UTF16:
		etw_text_utf16(text, at, bytes / 2);
		return;
	case FORM_ANSI:
		etw_text_ansi(text, at, bytes);
		return;
	case FORM_GUID:
		write_guid(at, text);
		return;
	case FORM_SID:
		write_sid(at, bytes, text);
		return;
	case FORM_FILETIME:
		etw_form_filetime(at, text);
		return;
	case FORM_SYSTEMTIME:
		etw_form_systemtime(at, text);
		return;
	default:
		write_special(form, at, bytes, text);
	}
}
