/* SPDX-License-Identifier: MIT */
#include "api/tdh/wide_name.h"

#include <string.h>

#include "base/bytes.h"
#include "base/utf.h"

bool etw_wide_is(const WCHAR *wide, const char *name)
{
	const uint8_t *at = (const uint8_t *)wide;
	size_t left = strlen(name);

	while (left) {
		uint8_t expected[4];
		size_t used, units;

		(void)etw_utf8_decode((const uint8_t *)name, left, &used);
		units = etw_utf8_put_utf16(name, used, expected);
		for (size_t i = 0; i < units; i++, at += 2) {
			if (etw_load16(at) != etw_load16(expected + 2 * i))
				return false;
		}
		name += used;
		left -= used;
	}
	return etw_load16(at) == 0;
}
