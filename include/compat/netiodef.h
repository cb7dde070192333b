/* SPDX-License-Identifier: MIT */
/* Headers of packets, as the events of NDIS hold them. */
#ifndef ETW_COMPAT_NETIODEF_H
#define ETW_COMPAT_NETIODEF_H

#include <winsock2.h>

#define NET_IFINDEX_UNSPECIFIED ((ULONG)0)
#define ETHERNET_TYPE_MINIMUM   0x0600
#define ETHERNET_TYPE_IPV4      0x0800
#define ETHERNET_TYPE_ARP       0x0806
#define ETHERNET_TYPE_IPV6      0x86dd
#define ETHERNET_TYPE_802_1Q    0x8100

#pragma pack(push, 1)
typedef union _DL_EI48 {
	UCHAR Byte[3];
} DL_EI48, *PDL_EI48;
typedef union _DL_OUI {
	UCHAR Byte[3];
} DL_OUI, *PDL_OUI;
typedef union _DL_EUI48 {
	UCHAR Byte[6];
	__extension__ struct {
		DL_OUI Oui;
		DL_EI48 Ei48;
	};
} DL_EUI48, *PDL_EUI48;

typedef struct _ETHERNET_HEADER {
	DL_EUI48 Destination;
	DL_EUI48 Source;
	__extension__ union {
		USHORT Type;
		USHORT Length;
	};
} ETHERNET_HEADER, *PETHERNET_HEADER;

typedef struct _IPV4_HEADER {
	__extension__ union {
		UCHAR VersionAndHeaderLength;
		__extension__ struct {
			UCHAR HeaderLength : 4;
			UCHAR Version : 4;
		};
	};
	__extension__ union {
		UCHAR TypeOfServiceAndEcnField;
		__extension__ struct {
			UCHAR EcnField : 2;
			UCHAR TypeOfService : 6;
		};
	};
	USHORT TotalLength;
	USHORT Identification;
	__extension__ union {
		USHORT FlagsAndOffset;
		__extension__ struct {
			USHORT DontUse1 : 5;
			USHORT MoreFragments : 1;
			USHORT DontFragment : 1;
			USHORT Reserved : 1;
			USHORT DontUse2 : 8;
		};
	};
	UCHAR TimeToLive;
	UCHAR Protocol;
	USHORT HeaderChecksum;
	IN_ADDR SourceAddress;
	IN_ADDR DestinationAddress;
} IPV4_HEADER, *PIPV4_HEADER;

typedef struct _IPV6_HEADER {
	ULONG VersionClassFlow;
	USHORT PayloadLength;
	UCHAR NextHeader;
	UCHAR HopLimit;
	IN6_ADDR SourceAddress;
	IN6_ADDR DestinationAddress;
} IPV6_HEADER, *PIPV6_HEADER;

typedef struct _TCP_HDR {
	USHORT th_sport;
	USHORT th_dport;
	ULONG th_seq;
	ULONG th_ack;
	UCHAR th_x2 : 4;
	UCHAR th_len : 4;
	UCHAR th_flags;
	USHORT th_win;
	USHORT th_sum;
	USHORT th_urp;
} TCP_HDR, *PTCP_HDR;

typedef struct udp_hdr {
	USHORT src_portno;
	USHORT dest_portno;
	USHORT udp_length;
	USHORT udp_checksum;
} UDP_HDR, *PUDP_HDR;
#pragma pack(pop)
#endif
