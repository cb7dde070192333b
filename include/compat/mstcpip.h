/* SPDX-License-Identifier: MIT */
/* Addresses as text, by the names of ntdll. */
#ifndef ETW_COMPAT_MSTCPIP_H
#define ETW_COMPAT_MSTCPIP_H

#include <ws2ipdef.h>

ETW_EXTERN_C_BEGIN
PWSTR NTAPI RtlIpv4AddressToStringW(const struct in_addr *Addr, PWSTR S)
	ETW_NOT_HERE("RtlIpv4AddressToString is not built yet: use inet_ntop() and inet_pton(), and MultiByteToWideChar()");
PSTR NTAPI RtlIpv4AddressToStringA(const struct in_addr *Addr, PSTR S)
	ETW_NOT_HERE("RtlIpv4AddressToString is not built yet: use inet_ntop() and inet_pton(), and MultiByteToWideChar()");
PWSTR NTAPI RtlIpv6AddressToStringW(const IN6_ADDR *Addr, PWSTR S)
	ETW_NOT_HERE("RtlIpv6AddressToString is not built yet: use inet_ntop() and inet_pton(), and MultiByteToWideChar()");
PSTR NTAPI RtlIpv6AddressToStringA(const IN6_ADDR *Addr, PSTR S)
	ETW_NOT_HERE("RtlIpv6AddressToString is not built yet: use inet_ntop() and inet_pton(), and MultiByteToWideChar()");
ETW_EXTERN_C_END

#define RtlIpv4AddressToString ETW_AW(RtlIpv4AddressToString)
#define RtlIpv6AddressToString ETW_AW(RtlIpv6AddressToString)
#endif
