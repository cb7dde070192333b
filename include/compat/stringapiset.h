/* SPDX-License-Identifier: MIT */
/* Texts from one code page to another, and compared. */
#ifndef ETW_COMPAT_STRINGAPISET_H
#define ETW_COMPAT_STRINGAPISET_H

#include <minwinbase.h>

#define MB_PRECOMPOSED       0x00000001
#define MB_COMPOSITE         0x00000002
#define MB_USEGLYPHCHARS     0x00000004
#define MB_ERR_INVALID_CHARS 0x00000008
#define WC_ERR_INVALID_CHARS 0x00000080
#define WC_COMPOSITECHECK    0x00000200
#define WC_DISCARDNS         0x00000010
#define WC_SEPCHARS          0x00000020
#define WC_DEFAULTCHAR       0x00000040
#define WC_NO_BEST_FIT_CHARS 0x00000400
#define CSTR_LESS_THAN       1
#define CSTR_EQUAL           2
#define CSTR_GREATER_THAN    3

ETW_EXTERN_C_BEGIN
int WINAPI MultiByteToWideChar(UINT CodePage, DWORD dwFlags, LPCSTR lpMultiByteStr, int cbMultiByte,
			       LPWSTR lpWideCharStr, int cchWideChar);
int WINAPI WideCharToMultiByte(UINT CodePage, DWORD dwFlags, LPCWSTR lpWideCharStr, int cchWideChar,
			       LPSTR lpMultiByteStr, int cbMultiByte, LPCSTR lpDefaultChar,
			       LPBOOL lpUsedDefaultChar);
int WINAPI CompareStringOrdinal(LPCWSTR lpString1, int cchCount1, LPCWSTR lpString2, int cchCount2,
				BOOL bIgnoreCase);
ETW_EXTERN_C_END
#endif
