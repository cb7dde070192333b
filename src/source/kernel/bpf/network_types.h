/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The members of sockets that the programs of TCP and UDP read, as kernel_types.h has others. What other programs need of
 * the same types is declared there: a name behind three underscores is no part of a type's name.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_NETWORK_TYPES_H
#define ETW_SOURCE_KERNEL_BPF_NETWORK_TYPES_H

#include "kernel_types.h"

#define AF_INET       2
#define AF_INET6      10
#define IPPROTO_TCP   6
#define IPPROTO_UDP   17
#define IPPROTO_MPTCP 262
#define MSG_PEEK      0x2
#define MSG_ERRQUEUE  0x2000

#define MODE_TYPE   0170000
#define MODE_SOCKET 0140000

/* Of a socket, as TCP counts them. */
enum {
	STATE_ESTABLISHED = 1,
	STATE_SYN_SENT = 2,
	STATE_SYN_RECV = 3,
	STATE_FIN_WAIT1 = 4,
	STATE_CLOSE = 7,
	STATE_LAST_ACK = 9,
	STATE_LISTEN = 10,
	STATE_NEW_SYN_RECV = 12,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	__s64 counter;
} atomic64_t;

struct in6_addr___net {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

struct sock_common {
	__u32 skc_daddr, skc_rcv_saddr;
	__u16 skc_dport, skc_num; /* of the peer in network order, the own one is not */
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr___net skc_v6_daddr, skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
};

struct sock {
	struct sock_common __sk_common;
	unsigned char sk_kern_sock : 1;
	__u16 sk_protocol;
	int sk_err;
};

struct inet_sock {
	__u16 inet_sport;
};

struct tcp_options_received {
	__u16 wscale_ok : 1, tstamp_ok : 1, sack_ok : 3, snd_wscale : 4, rcv_wscale : 4;
};

struct tcp_sock {
	__u32 copied_seq, write_seq, rcv_wnd, mss_cache;
	unsigned char is_mptcp : 1;
	struct tcp_options_received rx_opt;
};

struct request_sock {
	struct sock_common __req_common;
};

struct sk_buff {
	char cb[48];
	unsigned int len;
};

struct tcp_skb_cb {
	__u32 seq;
};

struct socket {
	struct sock *sk;
};

struct inode___net {
	unsigned short i_mode;
};

struct file___net {
	struct inode___net *f_inode;
	void *private_data;
};

struct fdtable___net {
	unsigned int max_fds;
	struct file___net **fd;
};

struct files_struct___net {
	struct fdtable___net *fdt;
};

struct bpf_iter__task_file {
	struct task_struct *task;
	struct file *file;
};

#pragma clang attribute pop

#endif
