/* SPDX-License-Identifier: MIT */
/* Addresses of IPv6. */
#ifndef ETW_COMPAT_WS2IPDEF_H
#define ETW_COMPAT_WS2IPDEF_H

#include <winsock2.h>

typedef struct sockaddr_in6 SOCKADDR_IN6, *PSOCKADDR_IN6, *LPSOCKADDR_IN6;
typedef union _SOCKADDR_INET {
	SOCKADDR_IN Ipv4;
	SOCKADDR_IN6 Ipv6;
	ADDRESS_FAMILY si_family;
} SOCKADDR_INET, *PSOCKADDR_INET;
#endif
