/* SPDX-License-Identifier: MIT */
/* Wide input and output of <stdio.h> and <wchar.h>; no stream ever gets an orientation. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "compat/crt/invalid.h"
#include "compat/crt/stream.h"

wint_t fputwc(wchar_t unit, FILE *file)
{
	return etw_stream_put(file, &unit, 1) ? WEOF : (wint_t)unit;
}

wint_t putwc(wchar_t unit, FILE *file)
{
	return fputwc(unit, file);
}

wint_t putwchar(wchar_t unit)
{
	return fputwc(unit, stdout);
}

int fputws(const wchar_t *text, FILE *file)
{
	return etw_stream_put(file, text, wcslen(text)) ? (int)WEOF : 0;
}

int _putws(const wchar_t *text)
{
	int result;

	if (!text) {
		(void)etw_invalid_parameter(EINVAL, "_putws");
		return (int)WEOF;
	}
	flockfile(stdout);
	result = fputws(text, stdout) < 0 ? (int)WEOF : (int)putwchar(L'\n');
	funlockfile(stdout);
	return result < 0 ? result : 0;
}

wint_t fgetwc(FILE *file)
{
	return etw_stream_get(file);
}

wint_t getwc(FILE *file)
{
	return fgetwc(file);
}

wint_t getwchar(void)
{
	return fgetwc(stdin);
}

wint_t ungetwc(wint_t unit, FILE *file)
{
	return etw_stream_unget(file, unit);
}

wchar_t *fgetws(wchar_t *to, int count, FILE *file)
{
	wint_t unit = 0;
	int length = 0;

	if (count < 1)
		return NULL;
	while (length < count - 1 && unit != L'\n') {
		unit = fgetwc(file);
		if (unit == WEOF)
			break;
		to[length++] = (wchar_t)unit;
	}
	to[length] = 0;
	return length || count == 1 ? to : NULL;
}

int fwide(FILE *file, int mode)
{
	(void)file;
	return mode; /* what was asked for is what works */
}

wchar_t *_getws_s(wchar_t *buffer, size_t size)
{
	size_t length = 0;
	wint_t unit;

	if (!buffer || !size) {
		(void)etw_invalid_parameter(EINVAL, "_getws_s");
		return NULL;
	}
	buffer[0] = 0;
	while ((unit = getwchar()) != WEOF && unit != L'\n') {
		if (length < size)
			buffer[length] = (wchar_t)unit;
		length++;
	}
	if (length >= size) {
		buffer[0] = 0;
		(void)etw_invalid_parameter(ERANGE, "_getws_s");
		return NULL;
	}
	buffer[length] = 0;
	return length || unit != WEOF ? buffer : NULL;
}

char *gets_s(char *buffer, size_t size)
{
	size_t length = 0;
	int byte;

	if (!buffer || !size) {
		(void)etw_invalid_parameter(EINVAL, "gets_s");
		return NULL;
	}
	buffer[0] = '\0';
	while ((byte = getchar()) != EOF && byte != '\n') {
		if (length < size)
			buffer[length] = (char)byte;
		length++;
	}
	if (length >= size) {
		buffer[0] = '\0';
		(void)etw_invalid_parameter(ERANGE, "gets_s");
		return NULL;
	}
	buffer[length] = '\0';
	return length || byte != EOF ? buffer : NULL;
}
