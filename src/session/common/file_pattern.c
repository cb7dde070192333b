/* SPDX-License-Identifier: MIT */
/* See session/common/file_pattern.h. */
#include "session/common/file_pattern.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char placeholder[] = "%d";
static const size_t placeholder_bytes = sizeof(placeholder) - 1;

bool etw_file_pattern_is_one(const char *name)
{
	const char *first = strstr(name, placeholder);

	return first && !strstr(first + placeholder_bytes, placeholder);
}

int etw_file_pattern_expand(const char *pattern, uint32_t number, char *ret)
{
	const char *at = strstr(pattern, placeholder);
	int bytes;

	if (number == 0) {
		bytes = snprintf(ret, WIRE_MESSAGE_NAME_MAX + 1, "%s", pattern);
	} else {
		if (!etw_file_pattern_is_one(pattern))
			return -EINVAL;
		bytes = snprintf(ret, WIRE_MESSAGE_NAME_MAX + 1, "%.*s%u%s", (int)(at - pattern),
				 pattern, number, at + placeholder_bytes);
	}
	return bytes > WIRE_MESSAGE_NAME_MAX ? -ENAMETOOLONG : 0;
}
