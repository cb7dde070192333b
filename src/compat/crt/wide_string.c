/* SPDX-License-Identifier: MIT */
/* The string functions of <wchar.h> for units of two bytes. The parameters are named as the C standard names them. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

size_t wcslen(const wchar_t *s)
{
	size_t length = 0;

	while (s[length])
		length++;
	return length;
}

size_t wcsnlen(const wchar_t *s, size_t most)
{
	size_t length = 0;

	while (length < most && s[length])
		length++;
	return length;
}

wchar_t *wcscpy(wchar_t *to, const wchar_t *from)
{
	memcpy(to, from, (wcslen(from) + 1) * sizeof(*to));
	return to;
}

wchar_t *wcpcpy(wchar_t *to, const wchar_t *from)
{
	return wcscpy(to, from) + wcslen(from);
}

wchar_t *wcsncpy(wchar_t *to, const wchar_t *from, size_t count)
{
	size_t length = wcsnlen(from, count);

	memcpy(to, from, length * sizeof(*to));
	memset(to + length, 0, (count - length) * sizeof(*to));
	return to;
}

wchar_t *wcpncpy(wchar_t *to, const wchar_t *from, size_t count)
{
	size_t length = wcsnlen(from, count);

	return wcsncpy(to, from, count) + length;
}

wchar_t *wcscat(wchar_t *to, const wchar_t *from)
{
	(void)wcscpy(to + wcslen(to), from);
	return to;
}

wchar_t *wcsncat(wchar_t *to, const wchar_t *from, size_t count)
{
	size_t length = wcsnlen(from, count);
	wchar_t *end = to + wcslen(to);

	memcpy(end, from, length * sizeof(*to));
	end[length] = 0;
	return to;
}

int wcsncmp(const wchar_t *a, const wchar_t *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (a[i] != b[i])
			return (uint16_t)a[i] < (uint16_t)b[i] ? -1 : 1;
		if (!a[i])
			break;
	}
	return 0;
}

int wcscmp(const wchar_t *a, const wchar_t *b)
{
	return wcsncmp(a, b, SIZE_MAX);
}

int wcscoll(const wchar_t *a, const wchar_t *b)
{
	return wcscmp(a, b);
}

size_t wcsxfrm(wchar_t *to, const wchar_t *from, size_t count)
{
	size_t length = wcslen(from);

	if (length < count)
		(void)wcscpy(to, from);
	return length;
}

static wchar_t lower(wchar_t unit)
{
	return unit >= L'A' && unit <= L'Z' ? (wchar_t)(unit + (L'a' - L'A')) : unit;
}

int wcsncasecmp(const wchar_t *a, const wchar_t *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		wchar_t x = lower(a[i]), y = lower(b[i]);

		if (x != y)
			return (uint16_t)x < (uint16_t)y ? -1 : 1;
		if (!x)
			break;
	}
	return 0;
}

int wcscasecmp(const wchar_t *a, const wchar_t *b)
{
	return wcsncasecmp(a, b, SIZE_MAX);
}

wchar_t *wcschr(const wchar_t *s, wchar_t unit)
{
	for (; *s != unit; s++)
		if (!*s)
			return NULL;
	return (wchar_t *)(uintptr_t)s;
}

wchar_t *wcschrnul(const wchar_t *s, wchar_t unit)
{
	while (*s && *s != unit)
		s++;
	return (wchar_t *)(uintptr_t)s;
}

wchar_t *wcsrchr(const wchar_t *s, wchar_t unit)
{
	const wchar_t *last = NULL;

	do
		if (*s == unit)
			last = s;
	while (*s++);
	return (wchar_t *)(uintptr_t)last;
}

wchar_t *wcsstr(const wchar_t *s, const wchar_t *part)
{
	size_t length = wcslen(part);

	for (; wcsncmp(s, part, length) != 0; s++)
		if (!*s)
			return NULL;
	return (wchar_t *)(uintptr_t)s;
}

size_t wcscspn(const wchar_t *s, const wchar_t *reject)
{
	size_t length = 0;

	while (s[length] && !wcschr(reject, s[length]))
		length++;
	return length;
}

size_t wcsspn(const wchar_t *s, const wchar_t *accept)
{
	size_t length = 0;

	while (s[length] && wcschr(accept, s[length]))
		length++;
	return length;
}

wchar_t *wcspbrk(const wchar_t *s, const wchar_t *accept)
{
	s += wcscspn(s, accept);
	return *s ? (wchar_t *)(uintptr_t)s : NULL;
}

wchar_t *wcstok(wchar_t *s, const wchar_t *delimiters, wchar_t **context)
{
	wchar_t *token = s ? s : *context;

	if (!token)
		return NULL;
	token += wcsspn(token, delimiters);
	if (!*token) {
		*context = token;
		return NULL;
	}
	s = token + wcscspn(token, delimiters);
	if (*s)
		*s++ = 0;
	*context = s;
	return token;
}

wchar_t *wcsdup(const wchar_t *s)
{
	size_t bytes = (wcslen(s) + 1) * sizeof(*s);
	wchar_t *copy = malloc(bytes);

	return copy ? memcpy(copy, s, bytes) : NULL;
}
