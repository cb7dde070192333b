/* SPDX-License-Identifier: MIT */
/* The lstr functions. */
#include <string.h>
#include <strings.h>

#include "compat/win32/object.h"

int lstrlenA(LPCSTR lpString)
{
	return lpString ? (int)strlen(lpString) : 0;
}

int lstrlenW(LPCWSTR lpString)
{
	int length = 0;

	while (lpString && lpString[length])
		length++;
	return length;
}

int lstrcmpA(LPCSTR lpString1, LPCSTR lpString2)
{
	return strcmp(lpString1, lpString2);
}

int lstrcmpiA(LPCSTR lpString1, LPCSTR lpString2)
{
	return strcasecmp(lpString1, lpString2);
}

int lstrcmpW(LPCWSTR lpString1, LPCWSTR lpString2)
{
	return CompareStringOrdinal(lpString1, -1, lpString2, -1, FALSE) - CSTR_EQUAL;
}

int lstrcmpiW(LPCWSTR lpString1, LPCWSTR lpString2)
{
	return CompareStringOrdinal(lpString1, -1, lpString2, -1, TRUE) - CSTR_EQUAL;
}

LPSTR lstrcpyA(LPSTR lpString1, LPCSTR lpString2)
{
	memmove(lpString1, lpString2, strlen(lpString2) + 1);
	return lpString1;
}

LPWSTR lstrcpyW(LPWSTR lpString1, LPCWSTR lpString2)
{
	memmove(lpString1, lpString2, ((size_t)lstrlenW(lpString2) + 1) * sizeof(WCHAR));
	return lpString1;
}

LPSTR lstrcatA(LPSTR lpString1, LPCSTR lpString2)
{
	(void)lstrcpyA(lpString1 + strlen(lpString1), lpString2);
	return lpString1;
}

LPWSTR lstrcatW(LPWSTR lpString1, LPCWSTR lpString2)
{
	(void)lstrcpyW(lpString1 + lstrlenW(lpString1), lpString2);
	return lpString1;
}

LPSTR lstrcpynA(LPSTR lpString1, LPCSTR lpString2, int iMaxLength)
{
	int i = 0;

	for (; i < iMaxLength - 1 && lpString2[i]; i++)
		lpString1[i] = lpString2[i];
	if (iMaxLength > 0)
		lpString1[i] = 0;
	return lpString1;
}

LPWSTR lstrcpynW(LPWSTR lpString1, LPCWSTR lpString2, int iMaxLength)
{
	int i = 0;

	for (; i < iMaxLength - 1 && lpString2[i]; i++)
		lpString1[i] = lpString2[i];
	if (iMaxLength > 0)
		lpString1[i] = 0;
	return lpString1;
}
