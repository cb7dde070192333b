/* SPDX-License-Identifier: MIT */
#include "api/wide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf.h"

size_t etw_wide_units(const WCHAR *text)
{
	size_t units = 0;

	while (text[units])
		units++;
	return units;
}

int etw_wide_to_utf8(const WCHAR *text, char **ret)
{
	/* WCHAR is a 16-bit unit in host order, which is little-endian on every supported CPU. */
	char *result = etw_utf16_to_utf8((const uint8_t *)text, etw_wide_units(text));

	if (!result)
		return -ENOMEM;
	*ret = result;
	return 0;
}

int etw_wide_copy(const WCHAR *text, WCHAR **ret)
{
	size_t bytes = (etw_wide_units(text) + 1) * sizeof(*text);
	WCHAR *copy = malloc(bytes);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, bytes);
	*ret = copy;
	return 0;
}
