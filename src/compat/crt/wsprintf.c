/* SPDX-License-Identifier: MIT */
/* The printf family of winuser.h: no floating point, and 1024 characters at most, with the NUL. */
#include <string.h>
#include <winuser.h>

#include "compat/crt/format.h"

#define UNITS_MAX 1024

static int print(void *to, bool is_wide, const void *format, va_list list)
{
	struct etw_format_buffer buffer = etw_format_buffer(to, UNITS_MAX - 1, is_wide);
	struct etw_format_arguments arguments = {.slots = NULL};
	int count;

	va_copy(arguments.list, list);
	count = etw_format(&buffer.sink, format, &arguments, ETW_FORMAT_NO_FLOATS);
	va_end(arguments.list);
	memset(buffer.at, 0, is_wide ? sizeof(WCHAR) : 1);
	if (count < 0)
		return 0;
	return count < UNITS_MAX ? count : UNITS_MAX - 1;
}

int wvsprintfA(LPSTR lpOut, LPCSTR lpFormat, va_list arglist)
{
	return print(lpOut, false, lpFormat, arglist);
}

int wvsprintfW(LPWSTR lpOut, LPCWSTR lpFormat, va_list arglist)
{
	return print(lpOut, true, lpFormat, arglist);
}

int wsprintfA(LPSTR lpOut, LPCSTR lpFormat, ...)
{
	va_list list;
	int count;

	va_start(list, lpFormat);
	count = wvsprintfA(lpOut, lpFormat, list);
	va_end(list);
	return count;
}

int wsprintfW(LPWSTR lpOut, LPCWSTR lpFormat, ...)
{
	va_list list;
	int count;

	va_start(list, lpFormat);
	count = wvsprintfW(lpOut, lpFormat, list);
	va_end(list);
	return count;
}
