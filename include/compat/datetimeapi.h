/* SPDX-License-Identifier: MIT */
/* Dates and times of day as text, in the English of the United States. */
#ifndef ETW_COMPAT_DATETIMEAPI_H
#define ETW_COMPAT_DATETIMEAPI_H

#include <minwinbase.h>
#include <winnls.h>

ETW_EXTERN_C_BEGIN
int WINAPI GetDateFormatA(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpDate, LPCSTR lpFormat,
			  LPSTR lpDateStr, int cchDate);
int WINAPI GetDateFormatW(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpDate, LPCWSTR lpFormat,
			  LPWSTR lpDateStr, int cchDate);
int WINAPI GetTimeFormatA(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpTime, LPCSTR lpFormat,
			  LPSTR lpTimeStr, int cchTime);
int WINAPI GetTimeFormatW(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpTime, LPCWSTR lpFormat,
			  LPWSTR lpTimeStr, int cchTime);
int WINAPI GetDateFormatEx(LPCWSTR lpLocaleName, DWORD dwFlags, const SYSTEMTIME *lpDate,
			   LPCWSTR lpFormat, LPWSTR lpDateStr, int cchDate, LPCWSTR lpCalendar);
int WINAPI GetTimeFormatEx(LPCWSTR lpLocaleName, DWORD dwFlags, const SYSTEMTIME *lpTime,
			   LPCWSTR lpFormat, LPWSTR lpTimeStr, int cchTime);
ETW_EXTERN_C_END

#define GetDateFormat ETW_AW(GetDateFormat)
#define GetTimeFormat ETW_AW(GetTimeFormat)
#endif
