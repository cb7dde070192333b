/* SPDX-License-Identifier: MIT */
/* Of windows there is nothing; formatting of text by wsprintf is here, as in the SDK, without floating point. */
#ifndef ETW_COMPAT_WINUSER_H
#define ETW_COMPAT_WINUSER_H

#include <windef.h>

ETW_EXTERN_C_BEGIN
int WINAPIV wsprintfA(LPSTR lpOut, LPCSTR lpFormat, ...);
int WINAPIV wsprintfW(LPWSTR lpOut, LPCWSTR lpFormat, ...);
int WINAPI wvsprintfA(LPSTR lpOut, LPCSTR lpFormat, va_list arglist);
int WINAPI wvsprintfW(LPWSTR lpOut, LPCWSTR lpFormat, va_list arglist);
int WINAPI MessageBoxA(HWND hWnd, LPCSTR lpText, LPCSTR lpCaption, UINT uType)
	ETW_NOT_HERE("MessageBox: there are no windows; print the text");
int WINAPI MessageBoxW(HWND hWnd, LPCWSTR lpText, LPCWSTR lpCaption, UINT uType)
	ETW_NOT_HERE("MessageBox: there are no windows; print the text");
BOOL WINAPI GetMessageW(PVOID lpMsg, HWND hWnd, UINT wMsgFilterMin, UINT wMsgFilterMax)
	ETW_NOT_HERE("GetMessage: there are no windows; wait for an event (CreateEvent)");
ETW_EXTERN_C_END

#define wsprintf   ETW_AW(wsprintf)
#define wvsprintf  ETW_AW(wvsprintf)
#define MessageBox ETW_AW(MessageBox)
#define GetMessage GetMessageW
#define MB_OK        0x00000000
#define MB_ICONERROR 0x00000010
#endif
