/* SPDX-License-Identifier: MIT */
/* Addresses as text. */
#ifndef ETW_COMPAT_WS2TCPIP_H
#define ETW_COMPAT_WS2TCPIP_H

#include <netdb.h>

#include <ws2ipdef.h>

ETW_EXTERN_C_BEGIN
PCWSTR WINAPI InetNtopW(INT Family, const VOID *pAddr, PWSTR pStringBuf, size_t StringBufSize)
	ETW_NOT_HERE("InetNtop is not built yet: use inet_ntop() and inet_pton(), and MultiByteToWideChar()");
INT WINAPI InetPtonW(INT Family, PCWSTR pszAddrString, PVOID pAddrBuf)
	ETW_NOT_HERE("InetPton is not built yet: use inet_ntop() and inet_pton(), and MultiByteToWideChar()");
ETW_EXTERN_C_END

#define InetNtopA inet_ntop
#define InetPtonA inet_pton
#define InetNtop  ETW_AW(InetNtop)
#define InetPton  ETW_AW(InetPton)
#endif
