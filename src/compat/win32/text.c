/* SPDX-License-Identifier: MIT */
#include "compat/win32/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/utf.h"
#include "compat/win32/error.h"

static size_t wide_length(const WCHAR *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}

char *etw_narrow(const WCHAR *text)
{
	char *narrow;

	if (!text)
		return NULL;
	narrow = etw_utf16_to_utf8((const uint8_t *)text, wide_length(text));
	return narrow ? narrow : etw_fail_null(ERROR_NOT_ENOUGH_MEMORY);
}

WCHAR *etw_widen(const char *text)
{
	WCHAR *wide;

	if (!text)
		return NULL;
	wide = (WCHAR *)etw_utf8_to_utf16(text, NULL);
	return wide ? wide : etw_fail_null(ERROR_NOT_ENOUGH_MEMORY);
}

static DWORD return_units(const void *text, size_t length, size_t unit, void *to, DWORD room,
			  enum etw_text_size size)
{
	const DWORD with_nul = (DWORD)length + 1;

	if (room >= with_nul && to) {
		memcpy(to, text, with_nul * unit);
		return size == ETW_SIZE_WITH_NUL ? with_nul : (DWORD)length;
	}
	if (size != ETW_SIZE_CUT)
		return with_nul;
	if (room && to) {
		memcpy(to, text, (room - 1) * unit);
		memset((char *)to + (room - 1) * unit, 0, unit);
	}
	SetLastError(ERROR_INSUFFICIENT_BUFFER);
	return room;
}

DWORD etw_return_narrow(const char *text, char *to, DWORD room, enum etw_text_size size)
{
	return return_units(text, strlen(text), sizeof(char), to, room, size);
}

DWORD etw_return_wide(const char *text, WCHAR *to, DWORD room, enum etw_text_size size)
{
	WCHAR *wide = etw_widen(text);
	DWORD units;

	if (!wide)
		return 0;
	units = return_units(wide, wide_length(wide), sizeof(WCHAR), to, room, size);
	free(wide);
	return units;
}

static BOOL return_sized(const void *text, size_t length, size_t unit, void *to, DWORD *size,
			 DWORD short_error, BOOL counts_nul)
{
	const DWORD with_nul = (DWORD)length + 1;

	if (!to || *size < with_nul) {
		*size = with_nul;
		return etw_fail(short_error);
	}
	memcpy(to, text, with_nul * unit);
	*size = counts_nul ? with_nul : (DWORD)length;
	return TRUE;
}

BOOL etw_return_sized_narrow(const char *text, char *to, DWORD *size, DWORD short_error,
			     BOOL counts_nul)
{
	return return_sized(text, strlen(text), sizeof(char), to, size, short_error, counts_nul);
}

BOOL etw_return_sized_wide(const char *text, WCHAR *to, DWORD *size, DWORD short_error,
			   BOOL counts_nul)
{
	WCHAR *wide = etw_widen(text);
	BOOL is_returned;

	if (!wide)
		return FALSE;
	is_returned = return_sized(wide, wide_length(wide), sizeof(WCHAR), to, size, short_error,
				   counts_nul);
	free(wide);
	return is_returned;
}

char *etw_linux_path(const char *path)
{
	char *ret = NULL;
	int result;

	if (!path || !*path)
		return etw_fail_null(ERROR_PATH_NOT_FOUND);
	result = etw_path_resolve(path, &ret);
	if (result == -ENOENT)
		return etw_fail_null(ERROR_PATH_NOT_FOUND);
	return result ? etw_fail_null(etw_error_of_errno(-result)) : ret;
}

char *etw_linux_path_wide(const WCHAR *path)
{
	char *narrow = etw_narrow(path ? path : ETW_WIDE(""));
	char *ret = narrow ? etw_linux_path(narrow) : NULL;

	free(narrow);
	return ret;
}
