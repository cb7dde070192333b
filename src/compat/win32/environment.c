/* SPDX-License-Identifier: MIT */
/* Variables and the current folder. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "compat/win32/object.h"
#include "compat/win32/text.h"

static const char *variable(const char *name)
{
	const char *value = name ? secure_getenv(name) : NULL;

	if (!value)
		SetLastError(ERROR_ENVVAR_NOT_FOUND);
	return value;
}

DWORD GetEnvironmentVariableA(LPCSTR lpName, LPSTR lpBuffer, DWORD nSize)
{
	const char *value = variable(lpName);

	return value ? etw_return_narrow(value, lpBuffer, nSize, ETW_SIZE_WITHOUT_NUL) : 0;
}

DWORD GetEnvironmentVariableW(LPCWSTR lpName, LPWSTR lpBuffer, DWORD nSize)
{
	char *name = etw_narrow(lpName);
	const char *value = variable(name);

	free(name);
	return value ? etw_return_wide(value, lpBuffer, nSize, ETW_SIZE_WITHOUT_NUL) : 0;
}

BOOL SetEnvironmentVariableA(LPCSTR lpName, LPCSTR lpValue)
{
	if (!lpName || (lpValue ? setenv(lpName, lpValue, 1) : unsetenv(lpName)))
		return etw_fail(ERROR_INVALID_PARAMETER);
	return TRUE;
}

BOOL SetEnvironmentVariableW(LPCWSTR lpName, LPCWSTR lpValue)
{
	char *name = etw_narrow(lpName), *value = etw_narrow(lpValue);
	const BOOL is_set = SetEnvironmentVariableA(name, value);

	free(name);
	free(value);
	return is_set;
}

/* %NAME% becomes the variable; what is none stays as it is. */
static void expand(struct etw_text *text, const char *at)
{
	while (*at) {
		const char *end = *at == '%' ? strchr(at + 1, '%') : NULL;
		char *name = end ? strndup(at + 1, (size_t)(end - at) - 1) : NULL;
		const char *value = name ? secure_getenv(name) : NULL;

		free(name);
		if (value) {
			etw_text_puts(text, value);
			at = end + 1;
		} else {
			etw_text_putc(text, *at++);
		}
	}
}

DWORD ExpandEnvironmentStringsA(LPCSTR lpSrc, LPSTR lpDst, DWORD nSize)
{
	struct etw_text text;
	DWORD size;

	etw_text_init(&text);
	expand(&text, lpSrc);
	size = etw_return_narrow(etw_text_string(&text), lpDst, nSize, ETW_SIZE_WITH_NUL);
	etw_text_done(&text);
	return size;
}

DWORD ExpandEnvironmentStringsW(LPCWSTR lpSrc, LPWSTR lpDst, DWORD nSize)
{
	char *source = etw_narrow(lpSrc);
	struct etw_text text;
	DWORD size = 0;

	etw_text_init(&text);
	if (source) {
		expand(&text, source);
		size = etw_return_wide(etw_text_string(&text), lpDst, nSize, ETW_SIZE_WITH_NUL);
	}
	etw_text_done(&text);
	free(source);
	return size;
}

DWORD GetCurrentDirectoryA(DWORD nBufferLength, LPSTR lpBuffer)
{
	char *path = getcwd(NULL, 0);
	DWORD length = 0;

	if (path)
		length = etw_return_narrow(path, lpBuffer, nBufferLength, ETW_SIZE_WITHOUT_NUL);
	free(path);
	return length;
}

DWORD GetCurrentDirectoryW(DWORD nBufferLength, LPWSTR lpBuffer)
{
	char *path = getcwd(NULL, 0);
	DWORD length = 0;

	if (path)
		length = etw_return_wide(path, lpBuffer, nBufferLength, ETW_SIZE_WITHOUT_NUL);
	free(path);
	return length;
}

static BOOL change_folder(char *path)
{
	BOOL is_changed = path && !chdir(path);

	if (path && !is_changed)
		SetLastError(etw_error_of_errno(errno));
	free(path);
	return is_changed;
}

BOOL SetCurrentDirectoryA(LPCSTR lpPathName)
{
	return change_folder(etw_linux_path(lpPathName));
}

BOOL SetCurrentDirectoryW(LPCWSTR lpPathName)
{
	return change_folder(etw_linux_path_wide(lpPathName));
}
