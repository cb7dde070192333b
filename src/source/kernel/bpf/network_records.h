/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs of TCP and UDP put into the ring of their processor: one record for each event. Both sides include
 * this file.
 * Source: docs/kernel-events/network.md.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_NETWORK_RECORDS_H
#define ETW_SOURCE_KERNEL_BPF_NETWORK_RECORDS_H

#include <linux/types.h>

/* Numbers of the events of IPv4; those of IPv6 are 16 more. */
enum etw_kernel_network_event {
	ETW_KERNEL_NETWORK_SEND = 10,
	ETW_KERNEL_NETWORK_RECEIVE = 11,
	ETW_KERNEL_NETWORK_CONNECT = 12,
	ETW_KERNEL_NETWORK_DISCONNECT = 13,
	ETW_KERNEL_NETWORK_RETRANSMIT = 14,
	ETW_KERNEL_NETWORK_ACCEPT = 15,
	ETW_KERNEL_NETWORK_FAIL = 17,
};

enum etw_kernel_network_flag {
	ETW_KERNEL_NETWORK_UDP = 0x1,
	ETW_KERNEL_NETWORK_IPV6 = 0x2, /* an IPv4 address within IPv6 is IPv4 */
	/* Agreed with the peer, of Connect and Accept. */
	ETW_KERNEL_NETWORK_SACK = 0x4,
	ETW_KERNEL_NETWORK_TIMESTAMPS = 0x8,
	ETW_KERNEL_NETWORK_WINDOW_SCALE = 0x10,
};

#define ETW_KERNEL_NETWORK_NOBODY 0xFFFFFFFFu /* who owns a socket is not known */

struct etw_kernel_network {
	__u64 connection;              /* the kernel's cookie of the socket; else its address */
	__u8 remote[16], local[16];    /* of IPv4 the first four bytes */
	__u16 remote_port, local_port; /* in network order */
	__u32 pid, tid;                /* the owner, and who used it last; 0: the kernel itself */
	__u32 byte_count;
	__u32 sequence; /* TCP's, behind what was sent or read; of Retransmit: its first */
	__u32 window;   /* that is offered to the peer, in bytes */
	__u32 error;    /* errno, of Fail */
	__u16 mss;      /* greatest segment that is sent */
	__u8 event;     /* enum etw_kernel_network_event */
	__u8 flags;     /* enum etw_kernel_network_flag */
	__u8 receive_scale, send_scale;
	__u8 reserved[6];
};

/* Which events are to have stacks, in struct etw_kernel_control: a bit for each of TCP, and behind them those of UDP. */
#define ETW_KERNEL_NETWORK_STACK_SHIFT_UDP 16

static inline __u32 etw_kernel_network_stack_bit(__u32 event, __u32 is_udp)
{
	return 1u << ((event & 15) + (is_udp ? ETW_KERNEL_NETWORK_STACK_SHIFT_UDP : 0));
}

#endif
