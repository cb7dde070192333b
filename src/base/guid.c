/* SPDX-License-Identifier: MIT */
#include "base/guid.h"

#include <errno.h>
#include <sys/random.h>

#include "base/bytes.h"
#include "base/number.h"
#include "base/table.h"

int etw_guid_make(GUID *ret)
{
	GUID guid;

	if (getrandom(&guid, sizeof(guid), 0) != (ssize_t)sizeof(guid))
		return -EIO;
	guid.Data3 = (uint16_t)((guid.Data3 & 0x0FFF) | 0x4000);
	guid.Data4[0] = (uint8_t)((guid.Data4[0] & 0x3F) | 0x80);
	*ret = guid;
	return 0;
}

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

/* Writes the 36 characters; returns behind them. */
static char *write_guid(char *to, const GUID *guid)
{
	/* Bytes of the little-endian form in text order. */
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	static const char digits[] = "0123456789abcdef";
	uint8_t raw[16];

	etw_guid_write(raw, guid);
	for (unsigned i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		*to++ = digits[raw[order[i]] >> 4];
		*to++ = digits[raw[order[i]] & 15];
	}
	return to;
}

void etw_guid_format(const GUID *guid, char text[ETW_GUID_BARE_BYTES])
{
	*write_guid(text, guid) = '\0';
}

void etw_guid_format_braced(const GUID *guid, char text[ETW_GUID_BRACED_BYTES])
{
	text[0] = '{';
	memcpy(write_guid(text + 1, guid), "}", 2);
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
		int high = etw_hex_digit(at[0]);
		int low = high < 0 ? -1 : etw_hex_digit(at[1]);

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
	return etw_hash_mix(etw_hash_mix(etw_hash_seed(), words[0]), words[1]);
}
