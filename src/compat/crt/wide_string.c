/* SPDX-License-Identifier: MIT */
#include "compat/crt/wide_string.h"

size_t wcslen(const wchar_t *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}
