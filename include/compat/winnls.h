/* SPDX-License-Identifier: MIT */
/* Code pages and locales. */
#ifndef ETW_COMPAT_WINNLS_H
#define ETW_COMPAT_WINNLS_H

#include <minwinbase.h>
#include <stringapiset.h>

#define CP_ACP        0
#define CP_OEMCP      1
#define CP_MACCP      2
#define CP_THREAD_ACP 3
#define CP_SYMBOL     42
#define CP_UTF7       65000
#define CP_UTF8       65001

#define DATE_SHORTDATE            0x00000001
#define DATE_LONGDATE             0x00000002
#define DATE_USE_ALT_CALENDAR     0x00000004
#define DATE_YEARMONTH            0x00000008
#define DATE_MONTHDAY             0x00000080
#define TIME_NOMINUTESORSECONDS   0x00000001
#define TIME_NOSECONDS            0x00000002
#define TIME_NOTIMEMARKER         0x00000004
#define TIME_FORCE24HOURFORMAT    0x00000008
#define LOCALE_NOUSEROVERRIDE     0x80000000U
#define LOCALE_NAME_USER_DEFAULT  NULL
#define LOCALE_NAME_INVARIANT     ETW_WIDE("")
#define LOCALE_NAME_SYSTEM_DEFAULT ETW_WIDE("!x-sys-default-locale")

typedef DWORD LCTYPE;
typedef DWORD CALID, CALTYPE;

ETW_EXTERN_C_BEGIN
UINT WINAPI GetACP(VOID);
UINT WINAPI GetOEMCP(VOID);
BOOL WINAPI IsValidCodePage(UINT CodePage);
LCID WINAPI GetUserDefaultLCID(VOID);
LCID WINAPI GetSystemDefaultLCID(VOID);
LCID WINAPI GetThreadLocale(VOID);
LANGID WINAPI GetUserDefaultLangID(VOID);
LANGID WINAPI GetSystemDefaultLangID(VOID);
LANGID WINAPI GetUserDefaultUILanguage(VOID);
LANGID WINAPI GetSystemDefaultUILanguage(VOID);
int WINAPI GetLocaleInfoW(LCID Locale, LCTYPE LCType, LPWSTR lpLCData, int cchData)
	ETW_NOT_HERE("GetLocaleInfo: texts are in the English of the United States; ask Linux by nl_langinfo()");
ETW_EXTERN_C_END

#define GetLocaleInfo GetLocaleInfoW
#endif
