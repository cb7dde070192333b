/* SPDX-License-Identifier: MIT */
/* memcpy_s and its like. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "compat/crt/invalid.h"

int memmove_s(void *to, size_t size, const void *from, size_t count)
{
	if (!count)
		return 0;
	if (!to || !from)
		return etw_invalid_parameter(EINVAL, "memmove_s");
	if (size < count)
		return etw_invalid_parameter(ERANGE, "memmove_s");
	memmove(to, from, count);
	return 0;
}

int memcpy_s(void *to, size_t size, const void *from, size_t count)
{
	if (count && to && (!from || size < count))
		memset(to, 0, size);
	return memmove_s(to, size, from, count);
}

static size_t bytes_of(size_t units)
{
	return units > SIZE_MAX / sizeof(wchar_t) ? SIZE_MAX : units * sizeof(wchar_t);
}

int wmemcpy_s(wchar_t *to, size_t size, const wchar_t *from, size_t count)
{
	return memcpy_s(to, bytes_of(size), from, bytes_of(count));
}

int wmemmove_s(wchar_t *to, size_t size, const wchar_t *from, size_t count)
{
	return memmove_s(to, bytes_of(size), from, bytes_of(count));
}
