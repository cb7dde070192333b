/* SPDX-License-Identifier: MIT */
#include "base/guid.h"

#include <errno.h>
#include <stdio.h>

#include "base/bytes.h"

GUID etw_guid_read(const uint8_t *at)
{
	GUID guid;

	guid.Data1 = etw_load32(at);
	guid.Data2 = etw_load16(at + 4);
	guid.Data3 = etw_load16(at + 6);
	memcpy(guid.Data4, at + 8, 8);
	return guid;
}

void etw_guid_write(uint8_t *at, const GUID *guid)
{
	etw_store32(at, guid->Data1);
	etw_store16(at + 4, guid->Data2);
	etw_store16(at + 6, guid->Data3);
	memcpy(at + 8, guid->Data4, 8);
}

/* Both text forms differ only in what encloses the 36 characters. */
static void format_between(const GUID *guid, char *text, size_t bytes, const char *open,
			   const char *close)
{
	const uint8_t *d = guid->Data4;

	(void)snprintf(text, bytes, "%s%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x%s", open,
		       guid->Data1, guid->Data2, guid->Data3, d[0], d[1], d[2], d[3], d[4], d[5],
		       d[6], d[7], close);
}

void etw_guid_format(const GUID *guid, char text[ETW_GUID_BARE_BYTES])
{
	format_between(guid, text, ETW_GUID_BARE_BYTES, "", "");
}

void etw_guid_format_braced(const GUID *guid, char text[ETW_GUID_BRACED_BYTES])
{
	format_between(guid, text, ETW_GUID_BRACED_BYTES, "{", "}");
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int etw_guid_parse(const char *text, GUID *ret)
{
	/* The text's byte pairs in order, as indices into the little-endian form. */
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	uint8_t raw[16];
	const char *at = text;
	char close = '\0';

	if (*at == '{') {
		close = '}';
		at++;
	}
	for (unsigned i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10) {
			if (*at++ != '-')
				return -EINVAL;
		}
		int high = hex_digit(at[0]);
		int low = high < 0 ? -1 : hex_digit(at[1]);

		if (low < 0)
			return -EINVAL;
		raw[order[i]] = (uint8_t)(high << 4 | low);
		at += 2;
	}
	if (close && *at++ != close)
		return -EINVAL;
	if (*at)
		return -EINVAL;
	*ret = etw_guid_read(raw);
	return 0;
}

uint64_t etw_guid_hash(const GUID *guid)
{
	uint64_t words[2];

	memcpy(words, guid, sizeof(words));
	uint64_t hash = words[0] * UINT64_C(0x9e3779b97f4a7c15) ^ words[1];

	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	return hash ^ hash >> 32;
}
