/* SPDX-License-Identifier: MIT */
/* wmem*, and the names of wide functions that fortified builds call; @room is in units. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

wchar_t *wmemcpy(wchar_t *to, const wchar_t *from, size_t count)
{
	return memcpy(to, from, count * sizeof(*to));
}

wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t count)
{
	return memmove(to, from, count * sizeof(*to));
}

wchar_t *wmempcpy(wchar_t *to, const wchar_t *from, size_t count)
{
	return wmemcpy(to, from, count) + count;
}

wchar_t *wmemset(wchar_t *to, wchar_t unit, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = unit;
	return to;
}

int wmemcmp(const wchar_t *a, const wchar_t *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i] != b[i])
			return (unsigned)a[i] < (unsigned)b[i] ? -1 : 1;
	return 0;
}

wchar_t *wmemchr(const wchar_t *s, wchar_t unit, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (s[i] == unit)
			return (wchar_t *)(uintptr_t)(s + i);
	return NULL;
}

/* A function of <wchar.h> that copies @needed units, as a fortified build calls it. */
#define CHECKED(name, parameters, needed, call) \
	wchar_t *__##name##_chk parameters;     \
	wchar_t *__##name##_chk parameters      \
	{                                       \
		if ((needed) > room)            \
			abort();                \
		return call;                    \
	}

CHECKED(wmemcpy, (wchar_t * to, const wchar_t *from, size_t count, size_t room), count,
	wmemcpy(to, from, count))
CHECKED(wmemmove, (wchar_t * to, const wchar_t *from, size_t count, size_t room), count,
	wmemmove(to, from, count))
CHECKED(wmempcpy, (wchar_t * to, const wchar_t *from, size_t count, size_t room), count,
	wmempcpy(to, from, count))
CHECKED(wmemset, (wchar_t * to, wchar_t unit, size_t count, size_t room), count,
	wmemset(to, unit, count))
CHECKED(wcscpy, (wchar_t * to, const wchar_t *from, size_t room), wcslen(from) + 1,
	wcscpy(to, from))
CHECKED(wcpcpy, (wchar_t * to, const wchar_t *from, size_t room), wcslen(from) + 1,
	wcpcpy(to, from))
CHECKED(wcsncpy, (wchar_t * to, const wchar_t *from, size_t count, size_t room), count,
	wcsncpy(to, from, count))
CHECKED(wcpncpy, (wchar_t * to, const wchar_t *from, size_t count, size_t room), count,
	wcpncpy(to, from, count))
CHECKED(wcscat, (wchar_t * to, const wchar_t *from, size_t room), wcslen(to) + wcslen(from) + 1,
	wcscat(to, from))
CHECKED(wcsncat, (wchar_t * to, const wchar_t *from, size_t count, size_t room),
	wcslen(to) + wcsnlen(from, count) + 1, wcsncat(to, from, count))
CHECKED(fgetws, (wchar_t * to, size_t room, int count, FILE *file), (size_t)count,
	fgetws(to, count, file))
