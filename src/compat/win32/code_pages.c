/* SPDX-License-Identifier: MIT */
/*
 * Code pages. The ANSI and OEM pages are UTF-8, as Windows can be set to; beside it Windows-1252, Latin-1 and ASCII are
 * known.
 */
#include <limits.h>
#include <string.h>

#include "base/utf.h"
#include "compat/win32/object.h"

#define CP_1252   1252
#define CP_LATIN1 28591
#define CP_ASCII  20127

/* What 0x80 to 0x9F are in Windows-1252; 0: themselves. */
static const uint16_t high_1252[32] = {
	0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
	0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
	0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178,
};

static bool is_utf8(UINT page)
{
	return page == CP_UTF8 || page == CP_ACP || page == CP_OEMCP || page == CP_THREAD_ACP;
}

UINT GetACP(void)
{
	return CP_UTF8;
}

UINT GetOEMCP(void)
{
	return CP_UTF8;
}

UINT GetConsoleCP(void)
{
	return CP_UTF8;
}

UINT GetConsoleOutputCP(void)
{
	return CP_UTF8;
}

BOOL SetConsoleCP(UINT wCodePageID)
{
	return wCodePageID == CP_UTF8 ? TRUE : etw_fail(ERROR_INVALID_PARAMETER);
}

BOOL SetConsoleOutputCP(UINT wCodePageID)
{
	return SetConsoleCP(wCodePageID);
}

BOOL IsValidCodePage(UINT CodePage)
{
	return CodePage == CP_UTF8 || CodePage == CP_1252 || CodePage == CP_LATIN1 ||
	       CodePage == CP_ASCII;
}

/* What a function fails with before it looks at the text; ERROR_SUCCESS: go on. */
static DWORD check(UINT page, DWORD flags, DWORD utf8_flag, const void *from, int count,
		   const void *to, int room)
{
	if (!from || count == 0 || count < -1 || room < 0 || from == to || (room && !to))
		return ERROR_INVALID_PARAMETER;
	if (!is_utf8(page) && !IsValidCodePage(page))
		return ERROR_INVALID_PARAMETER;
	if (is_utf8(page) && flags & ~utf8_flag)
		return ERROR_INVALID_FLAGS;
	return ERROR_SUCCESS;
}

static uint32_t point_of_byte(UINT page, unsigned char byte)
{
	if (page == CP_1252 && byte >= 0x80 && byte < 0xA0 && high_1252[byte - 0x80])
		return high_1252[byte - 0x80];
	return page == CP_ASCII && byte >= 0x80 ? '?' : byte;
}

int MultiByteToWideChar(UINT CodePage, DWORD dwFlags, LPCSTR lpMultiByteStr, int cbMultiByte,
			LPWSTR lpWideCharStr, int cchWideChar)
{
	const DWORD error = check(CodePage, dwFlags, MB_ERR_INVALID_CHARS, lpMultiByteStr,
				  cbMultiByte, lpWideCharStr, cchWideChar);
	const uint8_t *at = (const uint8_t *)lpMultiByteStr;
	size_t left, units = 0;

	if (error)
		return etw_fail(error);
	left = cbMultiByte < 0 ? strlen(lpMultiByteStr) + 1 : (size_t)cbMultiByte;
	while (left) {
		size_t used = 1, wide;
		uint32_t point = is_utf8(CodePage) ? etw_utf8_decode(at, left, &used)
						   : point_of_byte(CodePage, *at);

		if (point == UINT32_MAX) {
			if (dwFlags & MB_ERR_INVALID_CHARS)
				return etw_fail(ERROR_NO_UNICODE_TRANSLATION);
			point = 0xFFFD;
		}
		wide = point > 0xFFFF ? 2 : 1;
		if (cchWideChar) {
			if (units + wide > (size_t)cchWideChar)
				return etw_fail(ERROR_INSUFFICIENT_BUFFER);
			if (wide == 2) {
				lpWideCharStr[units] = (WCHAR)(0xD7C0 + (point >> 10));
				lpWideCharStr[units + 1] = (WCHAR)(0xDC00 | (point & 0x3FF));
			} else {
				lpWideCharStr[units] = (WCHAR)point;
			}
		}
		units += wide;
		at += used;
		left -= used;
	}
	return units > INT_MAX ? etw_fail(ERROR_INSUFFICIENT_BUFFER) : (int)units;
}

/* The byte of a character in a page, or -1. */
static int byte_of_point(UINT page, uint32_t point)
{
	if (point < 0x80)
		return (int)point;
	for (int byte = 0x80; page != CP_ASCII && byte <= 0xFF; byte++) {
		if (point_of_byte(page, (unsigned char)byte) == point)
			return byte;
	}
	return -1;
}

static size_t encode(UINT page, uint32_t point, const char *fallback, bool *ret_used_fallback,
		     char to[4])
{
	int byte;

	if (is_utf8(page))
		return etw_utf8_encode(point, to);
	byte = byte_of_point(page, point);
	if (byte < 0)
		*ret_used_fallback = true;
	to[0] = byte < 0 ? (fallback ? *fallback : '?') : (char)byte;
	return 1;
}

int WideCharToMultiByte(UINT CodePage, DWORD dwFlags, LPCWSTR lpWideCharStr, int cchWideChar,
			LPSTR lpMultiByteStr, int cbMultiByte, LPCSTR lpDefaultChar,
			LPBOOL lpUsedDefaultChar)
{
	const DWORD error = check(CodePage, dwFlags, WC_ERR_INVALID_CHARS, lpWideCharStr,
				  cchWideChar, lpMultiByteStr, cbMultiByte);
	const uint8_t *at = (const uint8_t *)lpWideCharStr;
	size_t left = 0, bytes = 0;
	bool used_default = false;

	if (error)
		return etw_fail(error);
	if (is_utf8(CodePage) && (lpDefaultChar || lpUsedDefaultChar))
		return etw_fail(ERROR_INVALID_PARAMETER);
	if (cchWideChar < 0) {
		while (lpWideCharStr[left])
			left++;
		left++;
	} else {
		left = (size_t)cchWideChar;
	}
	while (left) {
		const WCHAR unit = (WCHAR)(at[0] | at[1] << 8);
		char encoded[4];
		size_t used, count;
		const uint32_t point = etw_utf16_decode(at, left, &used);

		if (dwFlags & WC_ERR_INVALID_CHARS && is_utf8(CodePage) && used == 1 &&
		    unit >= 0xD800 && unit < 0xE000)
			return etw_fail(ERROR_NO_UNICODE_TRANSLATION);
		count = encode(CodePage, point, lpDefaultChar, &used_default, encoded);
		if (cbMultiByte) {
			if (bytes + count > (size_t)cbMultiByte)
				return etw_fail(ERROR_INSUFFICIENT_BUFFER);
			memcpy(lpMultiByteStr + bytes, encoded, count);
		}
		bytes += count;
		at += used * 2;
		left -= used;
	}
	if (lpUsedDefaultChar)
		*lpUsedDefaultChar = used_default;
	return bytes > INT_MAX ? etw_fail(ERROR_INSUFFICIENT_BUFFER) : (int)bytes;
}

static WCHAR upper(WCHAR unit)
{
	return unit >= 'a' && unit <= 'z' ? (WCHAR)(unit - 32) : unit;
}

int CompareStringOrdinal(LPCWSTR lpString1, int cchCount1, LPCWSTR lpString2, int cchCount2,
			 BOOL bIgnoreCase)
{
	if (!lpString1 || !lpString2)
		return etw_fail(ERROR_INVALID_PARAMETER);
	if (cchCount1 < 0)
		cchCount1 = lstrlenW(lpString1);
	if (cchCount2 < 0)
		cchCount2 = lstrlenW(lpString2);
	for (int i = 0; i < cchCount1 && i < cchCount2; i++) {
		const WCHAR left = bIgnoreCase ? upper(lpString1[i]) : lpString1[i];
		const WCHAR right = bIgnoreCase ? upper(lpString2[i]) : lpString2[i];

		if (left != right)
			return left < right ? CSTR_LESS_THAN : CSTR_GREATER_THAN;
	}
	return cchCount1 == cchCount2  ? CSTR_EQUAL
	       : cchCount1 < cchCount2 ? CSTR_LESS_THAN
				       : CSTR_GREATER_THAN;
}

/* --- Locales: the English of the United States. */
LCID GetUserDefaultLCID(void)
{
	return 0x409;
}

LCID GetSystemDefaultLCID(void)
{
	return 0x409;
}

LCID GetThreadLocale(void)
{
	return 0x409;
}

LANGID GetUserDefaultLangID(void)
{
	return 0x409;
}

LANGID GetSystemDefaultLangID(void)
{
	return 0x409;
}

LANGID GetUserDefaultUILanguage(void)
{
	return 0x409;
}

LANGID GetSystemDefaultUILanguage(void)
{
	return 0x409;
}
