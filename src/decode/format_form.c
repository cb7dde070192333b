/* SPDX-License-Identifier: MIT */
/* Which form a pair of in-type and out-type means, and the writers that need no file of their own. */
#include <string.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/utf.h"
#include "decode/format_internal.h"

uint64_t etw_form_load(const uint8_t *at, size_t bytes)
{
	switch (bytes) {
	case 1:
		return at[0];
	case 2:
		return etw_load16(at);
	case 4:
		return etw_load32(at);
	default:
		return etw_load64(at);
	}
}

int64_t etw_form_load_signed(const uint8_t *at, size_t bytes)
{
	switch (bytes) {
	case 1:
		return (int8_t)at[0];
	case 2:
		return (int16_t)etw_load16(at);
	case 4:
		return (int32_t)etw_load32(at);
	default:
		return (int64_t)etw_load64(at);
	}
}

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

/* What an in-type is by itself; `bytes` is the size that its form needs, 0 when any will do. */
struct type_form {
	uint8_t bytes;
	uint8_t form;
	uint8_t usual_out; /* the out-type that changes nothing; most fields have it */
};

#define FIRST_MOF_TYPE TDH_INTYPE_COUNTEDSTRING

static const struct type_form manifest_types[] = {
	[TDH_INTYPE_NULL] = {0, FORM_NONE, 0},
	[TDH_INTYPE_UNICODESTRING] = {0, FORM_UTF16, 0},
	[TDH_INTYPE_ANSISTRING] = {0, FORM_ANSI, 0},
	[TDH_INTYPE_INT8] = {1, FORM_SIGNED, TDH_OUTTYPE_BYTE},
	[TDH_INTYPE_UINT8] = {1, FORM_UNSIGNED, TDH_OUTTYPE_UNSIGNEDBYTE},
	[TDH_INTYPE_INT16] = {2, FORM_SIGNED, TDH_OUTTYPE_SHORT},
	[TDH_INTYPE_UINT16] = {2, FORM_UNSIGNED, TDH_OUTTYPE_UNSIGNEDSHORT},
	[TDH_INTYPE_INT32] = {4, FORM_SIGNED, TDH_OUTTYPE_INT},
	[TDH_INTYPE_UINT32] = {4, FORM_UNSIGNED, TDH_OUTTYPE_UNSIGNEDINT},
	[TDH_INTYPE_INT64] = {8, FORM_SIGNED, TDH_OUTTYPE_LONG},
	[TDH_INTYPE_UINT64] = {8, FORM_UNSIGNED, TDH_OUTTYPE_UNSIGNEDLONG},
	[TDH_INTYPE_FLOAT] = {4, FORM_FLOAT, 0},
	[TDH_INTYPE_DOUBLE] = {8, FORM_FLOAT, 0},
	[TDH_INTYPE_BOOLEAN] = {4, FORM_BOOLEAN, 0},
	[TDH_INTYPE_BINARY] = {0, FORM_BYTES, TDH_OUTTYPE_HEXBINARY},
	[TDH_INTYPE_GUID] = {16, FORM_GUID, 0},
	[TDH_INTYPE_POINTER] = {0, FORM_HEX, TDH_OUTTYPE_HEXINT64},
	[TDH_INTYPE_FILETIME] = {8, FORM_FILETIME, TDH_OUTTYPE_DATETIME},
	[TDH_INTYPE_SYSTEMTIME] = {16, FORM_SYSTEMTIME, 0},
	[TDH_INTYPE_SID] = {0, FORM_SID, 0},
	[TDH_INTYPE_HEXINT32] = {4, FORM_HEX, TDH_OUTTYPE_HEXINT32},
	[TDH_INTYPE_HEXINT64] = {8, FORM_HEX, TDH_OUTTYPE_HEXINT64},
	[TDH_INTYPE_MANIFEST_COUNTEDSTRING] = {0, FORM_UTF16, 0},
	[TDH_INTYPE_MANIFEST_COUNTEDANSISTRING] = {0, FORM_ANSI, 0},
	[TDH_INTYPE_RESERVED24] = {0, FORM_BYTES, 0},
	[TDH_INTYPE_MANIFEST_COUNTEDBINARY] = {0, FORM_BYTES, 0},
};

static const struct type_form mof_types[] = {
	[TDH_INTYPE_COUNTEDSTRING - FIRST_MOF_TYPE] = {0, FORM_UTF16, 0},
	[TDH_INTYPE_COUNTEDANSISTRING - FIRST_MOF_TYPE] = {0, FORM_ANSI, 0},
	[TDH_INTYPE_REVERSEDCOUNTEDSTRING - FIRST_MOF_TYPE] = {0, FORM_UTF16, 0},
	[TDH_INTYPE_REVERSEDCOUNTEDANSISTRING - FIRST_MOF_TYPE] = {0, FORM_ANSI, 0},
	[TDH_INTYPE_NONNULLTERMINATEDSTRING - FIRST_MOF_TYPE] = {0, FORM_UTF16, 0},
	[TDH_INTYPE_NONNULLTERMINATEDANSISTRING - FIRST_MOF_TYPE] = {0, FORM_ANSI, 0},
	[TDH_INTYPE_UNICODECHAR - FIRST_MOF_TYPE] = {2, FORM_CHARACTER, 0},
	[TDH_INTYPE_ANSICHAR - FIRST_MOF_TYPE] = {1, FORM_CHARACTER, 0},
	[TDH_INTYPE_SIZET - FIRST_MOF_TYPE] = {0, FORM_HEX, 0},
	[TDH_INTYPE_HEXDUMP - FIRST_MOF_TYPE] = {0, FORM_BYTES, 0},
	[TDH_INTYPE_WBEMSID - FIRST_MOF_TYPE] = {0, FORM_SID, 0},
};

static struct type_form type_form_of(uint16_t in_type)
{
	if (in_type < ARRAY_SIZE(manifest_types))
		return manifest_types[in_type];
	if (in_type >= FIRST_MOF_TYPE && in_type - FIRST_MOF_TYPE < (int)ARRAY_SIZE(mof_types))
		return mof_types[in_type - FIRST_MOF_TYPE];
	return (struct type_form){.form = FORM_BYTES};
}

static bool is_pointer(uint16_t in_type)
{
	return in_type == TDH_INTYPE_POINTER || in_type == TDH_INTYPE_SIZET;
}

enum form etw_form_choose(uint16_t in_type, uint16_t out_type, size_t bytes)
{
	struct type_form type = type_form_of(in_type);

	if (type.bytes && type.bytes != bytes)
		return FORM_BYTES;
	if (type.usual_out && type.usual_out == out_type && !is_pointer(in_type))
		return type.form;
	switch (type.form) {
	case FORM_SIGNED:
	case FORM_UNSIGNED:
		return choose_integer(out_type, bytes, type.form);
	case FORM_HEX:
		if (is_pointer(in_type))
			return bytes == 4 || bytes == 8 ? choose_pointer(out_type) : FORM_BYTES;
		return choose_integer(out_type, bytes, type.form);
	case FORM_FILETIME:
		return out_type == TDH_OUTTYPE_ETWTIME ? FORM_UNSIGNED : FORM_FILETIME;
	case FORM_BYTES:
		return choose_binary(out_type, bytes);
	default:
		return type.form;
	}
}

bool etw_form_is_string(const struct etw_field *field)
{
	switch (field->in_type) {
	case TDH_INTYPE_UNICODECHAR:
	case TDH_INTYPE_ANSICHAR:
		return !(field->flags & PropertyStruct);
	case TDH_INTYPE_INT8:
	case TDH_INTYPE_UINT8:
	case TDH_INTYPE_UINT16:
		return !(field->flags & PropertyStruct) && field->out_type == TDH_OUTTYPE_STRING;
	default:
		return false;
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

void etw_form_guid(const uint8_t *at, struct etw_text *text)
{
	GUID guid = etw_guid_read(at);
	char *to = etw_text_begin(text, ETW_GUID_BRACED_BYTES);

	if (!to)
		return;
	etw_guid_format_braced(&guid, to);
	etw_text_end(text, to + ETW_GUID_BRACED_BYTES - 1);
}

/* S-1-authority-sub...; an authority above 32 bits is shown as 12 hexadecimal digits. */
void etw_form_sid(const uint8_t *at, size_t bytes, struct etw_text *text)
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
	if (etw_form_load(at, bytes))
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
		etw_text_signed(text, etw_form_load_signed(at, bytes));
		return;
	case FORM_UNSIGNED:
		etw_text_unsigned(text, etw_form_load(at, bytes));
		return;
	case FORM_HEX:
		write_hex(etw_form_load(at, bytes), text);
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
		etw_form_guid(at, text);
		return;
	case FORM_SID:
		etw_form_sid(at, bytes, text);
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
