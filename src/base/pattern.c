/* SPDX-License-Identifier: MIT */
#include "base/pattern.h"

#include <stdint.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool etw_pattern_matches(const char *pattern, const char *name, size_t bytes)
{
	const char *end = name + bytes, *retry_name = NULL, *retry_pattern = NULL;

	for (;;) {
		if (*pattern == '*') {
			retry_pattern = ++pattern;
			retry_name = name;
		} else if (name == end) {
			return !*pattern;
		} else if (*pattern && lower(*pattern) == lower(*name)) {
			pattern++;
			name++;
		} else if (retry_pattern) {
			/* The last star takes one character more. */
			pattern = retry_pattern;
			name = ++retry_name;
		} else {
			return false;
		}
	}
}
