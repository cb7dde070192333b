/* SPDX-License-Identifier: MIT */
/* Byte order and addresses. Sockets are those of Linux: a program that sends and receives includes sys/socket.h. */
#ifndef ETW_COMPAT_WINSOCK2_H
#define ETW_COMPAT_WINSOCK2_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <in6addr.h>
#include <inaddr.h>
#include <minwindef.h>

typedef int SOCKET;
typedef USHORT ADDRESS_FAMILY;
typedef struct sockaddr SOCKADDR, *PSOCKADDR, *LPSOCKADDR;
typedef struct sockaddr_in SOCKADDR_IN, *PSOCKADDR_IN, *LPSOCKADDR_IN;
typedef struct sockaddr_storage SOCKADDR_STORAGE, *PSOCKADDR_STORAGE, *LPSOCKADDR_STORAGE;
typedef struct WSAData {
	WORD wVersion;
	WORD wHighVersion;
} WSADATA, *LPWSADATA;

#define INVALID_SOCKET (-1)
#define SOCKET_ERROR   (-1)

ETW_EXTERN_C_BEGIN
int WINAPI WSAStartup(WORD wVersionRequired, LPWSADATA lpWSAData)
	ETW_NOT_HERE("WSAStartup: sockets of Linux need no start; include sys/socket.h and use them");
int WINAPI closesocket(SOCKET s) ETW_NOT_HERE("closesocket: use close()");
ETW_EXTERN_C_END
#endif
