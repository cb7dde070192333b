/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Whose a socket is, and what an event tells of it. A socket of TCP belongs to who used it last: packets, timers and resets
 * come in soft interrupts, on top of any thread. One of UDP is told where it is used, and needs no memory.
 * Source: docs/kernel-events/network.md.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_NETWORK_H
#define ETW_SOURCE_KERNEL_BPF_NETWORK_H

#include "cpu_ring.h"
#include "network_records.h"
#include "network_types.h"

enum connection_flag {
	CONNECTION_IS_NEW = 0x1,     /* nobody took it yet: Accept is to be told */
	CONNECTION_HAS_FAILED = 0x2, /* Fail was told, before the call of connect() ends */
};

/* What is known of a socket of TCP. */
struct connection {
	__u32 pid, tid; /* who used it last */
	__u32 tree_pid; /* of the thread: cpu_ring.h */
	__u32 flags;    /* enum connection_flag */
};

/* Removed with the socket. Where there are more, those that were not used for longest lose their owner. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64); /* address of the socket */
	__type(value, struct connection);
} etw_connections SEC(".maps");

/* Where connect() was called, until the peer answers. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct stack);
} etw_connect_stacks SEC(".maps");

/* A stack while its record is made. None of these programs is entered twice on a processor. */
enum stack_place {
	STACK_OF_SEND,
	STACK_OF_RECEIVE,
	STACK_OF_STATE,
	STACK_OF_CALL,
	STACK_PLACES,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_PLACES);
	__type(key, __u32);
	__type(value, struct stack);
} etw_network_stacks SEC(".maps");

/* Who uses a socket now. */
struct user {
	__u32 pid, tid, tree_pid;
	__u32 is_known; /* else a thread of the kernel works for somebody */
};

/* @is_direct: a constant: @sk is a pointer that the verifier knows; else a number. */
#define FROM(is_direct, sk, member) ((is_direct) ? (sk)->member : BPF_CORE_READ(sk, member))

static __always_inline int is_tcp(__u32 protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP;
}

static __always_inline int is_internet(__u32 family)
{
	return family == AF_INET || family == AF_INET6;
}

/* By the thread that runs, which is the one that acts. */
static __always_inline struct user find_user(const struct etw_kernel_control *control,
					     int is_kernels)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct user user = {};
	struct thread *thread;

	if (is_kernels) {
		user.is_known = 1;
		return user;
	}
	if (task->flags & PF_KTHREAD)
		return user;
	user.pid = task->tgid;
	user.tid = task->pid;
	user.is_known = 1;
	if (control->only_pid) {
		thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
		user.tree_pid = thread ? thread->tree_pid : 0;
	}
	return user;
}

/* @user: of the call that runs; becomes the last known where a thread of the kernel runs. Returns flags as they were. */
static __always_inline __u32 use_connection(__u64 sk, struct user *user)
{
	struct connection *known = bpf_map_lookup_elem(&etw_connections, &sk);
	struct connection made = {};
	__u32 flags = 0;

	if (known) {
		flags = known->flags;
		if (user->is_known) {
			known->pid = user->pid;
			known->tid = user->tid;
			known->tree_pid = user->tree_pid;
			known->flags = 0;
		} else {
			user->pid = known->pid;
			user->tid = known->tid;
			user->tree_pid = known->tree_pid;
		}
		return flags;
	}
	if (!user->is_known) {
		user->pid = user->tid = ETW_KERNEL_NETWORK_NOBODY;
		return 0;
	}
	made.pid = user->pid;
	made.tid = user->tid;
	made.tree_pid = user->tree_pid;
	bpf_map_update_elem(&etw_connections, &sk, &made, BPF_ANY);
	return 0;
}

/* Of what happens in an interrupt. */
static __always_inline struct user last_user(__u64 sk)
{
	const struct connection *known = bpf_map_lookup_elem(&etw_connections, &sk);
	struct user user = {.pid = ETW_KERNEL_NETWORK_NOBODY, .tid = ETW_KERNEL_NETWORK_NOBODY};

	if (known) {
		user.pid = known->pid;
		user.tid = known->tid;
		user.tree_pid = known->tree_pid;
		user.is_known = !(known->flags & CONNECTION_IS_NEW);
	}
	return user;
}

static __always_inline int is_user_outside(const struct etw_kernel_control *control,
					   const struct user *user)
{
	return control->only_pid && user->tree_pid != control->only_pid;
}

/* Whether an address of IPv6 is one of IPv4 within it. */
static __always_inline int is_mapped(const __u8 address[16])
{
	const __u32 *words = (const void *)address;

	return !words[0] && !words[1] && words[2] == __builtin_bswap32(0xFFFF);
}

static __always_inline void keep_last_four(__u8 address[16])
{
	__u32 *words = (void *)address;

	words[0] = words[3];
	words[1] = words[2] = words[3] = 0;
}

/* By the peer: an own address that is not bound may be ::, which is 0.0.0.0. */
static __always_inline void choose_version(struct etw_kernel_network *payload)
{
	if (is_mapped(payload->remote)) {
		keep_last_four(payload->remote);
		keep_last_four(payload->local);
		payload->flags &= ~ETW_KERNEL_NETWORK_IPV6;
	}
}

/* Addresses and ports of a socket. */
static __always_inline void read_ends(struct etw_kernel_network *payload,
				      const struct sock_common *common, const int is_direct)
{
	__u16 own = FROM(is_direct, common, skc_num);

	payload->remote_port = FROM(is_direct, common, skc_dport);
	payload->local_port = __builtin_bswap16(own);
	if (FROM(is_direct, common, skc_family) == AF_INET) {
		*(__u32 *)payload->remote = FROM(is_direct, common, skc_daddr);
		*(__u32 *)payload->local = FROM(is_direct, common, skc_rcv_saddr);
		return;
	}
	payload->flags |= ETW_KERNEL_NETWORK_IPV6;
	BPF_CORE_READ_INTO(&payload->remote, common, skc_v6_daddr);
	BPF_CORE_READ_INTO(&payload->local, common, skc_v6_rcv_saddr);
}

/* A connection that has ended gave its port back, and still says which one it was. */
static __always_inline void read_socket_ends(struct etw_kernel_network *payload,
					     const struct sock *sk, const int is_direct)
{
	read_ends(payload, &sk->__sk_common, is_direct);
	if (!payload->local_port)
		payload->local_port = BPF_CORE_READ((const struct inet_sock *)sk, inet_sport);
}

/* What both sides agreed on. */
static __always_inline void read_options(struct etw_kernel_network *payload, const struct sock *sk)
{
	const struct tcp_sock *tcp = (const void *)sk;

	payload->mss = BPF_CORE_READ(tcp, mss_cache);
	payload->window = BPF_CORE_READ(tcp, rcv_wnd);
	if (BPF_CORE_READ_BITFIELD_PROBED(tcp, rx_opt.sack_ok))
		payload->flags |= ETW_KERNEL_NETWORK_SACK;
	if (BPF_CORE_READ_BITFIELD_PROBED(tcp, rx_opt.tstamp_ok))
		payload->flags |= ETW_KERNEL_NETWORK_TIMESTAMPS;
	if (!BPF_CORE_READ_BITFIELD_PROBED(tcp, rx_opt.wscale_ok))
		return;
	payload->flags |= ETW_KERNEL_NETWORK_WINDOW_SCALE;
	payload->receive_scale = BPF_CORE_READ_BITFIELD_PROBED(tcp, rx_opt.rcv_wscale);
	payload->send_scale = BPF_CORE_READ_BITFIELD_PROBED(tcp, rx_opt.snd_wscale);
}

static __always_inline __u64 connection_of(const struct sock *sk)
{
	__u64 cookie = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);

	return cookie ? cookie : (__u64)sk;
}

/* @is_udp: 0, or ETW_KERNEL_NETWORK_UDP */
static __always_inline int wants_network_stack(const struct etw_kernel_control *control,
					       __u32 event, __u32 is_udp)
{
	return !!(control->network_stacks & etw_kernel_network_stack_bit(event, is_udp));
}

/* Takes the stack of the thread that runs, where it is wanted. NULL: it is not. */
static __always_inline struct stack *take_callers(void *context,
						  const struct etw_kernel_control *control,
						  __u32 event, __u32 is_udp, __u32 place)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct stack *stack;

	if (!wants_network_stack(control, event, is_udp))
		return NULL;
	/* Threads of the kernel work for whoever used the socket. */
	if (control->only_pid && !(task->flags & PF_KTHREAD) &&
	    !is_inside(control, bpf_task_storage_get(&etw_threads, task, 0, 0)))
		return NULL;
	stack = bpf_map_lookup_elem(&etw_network_stacks, &place);
	if (stack)
		take_stack(context, stack, !(task->flags & PF_KTHREAD));
	return stack;
}

/*
 * etw_send_network() - sends the record of @payload with the stack of @user, or without one where @stack is NULL. A function
 * that others could call, so that the verifier goes through it once and not from each place that calls it.
 */
__noinline int etw_send_network(struct etw_kernel_network *payload, const struct user *user,
				const struct stack *stack)
{
	struct etw_kernel_cpu_record head = {.kind = ETW_KERNEL_NETWORK};

	if (!payload || !user)
		return 0;
	payload->pid = user->pid;
	payload->tid = user->tid;
	head.stack_tid = user->tid;
	head.stack_pid = user->pid;
	if (stack)
		head.stack_flags = ETW_KERNEL_STACK_ASKED;
	choose_version(payload);
	send(&head, payload, sizeof(*payload), stack);
	return 0;
}

/* errno values that the network says, and not who called wrongly or may try again. */
static __always_inline int is_network_error(__s64 error)
{
	return error == 1 || error == 13 || error == 71 || error == 90 || error == 92 ||
	       (error >= 99 && error <= 105 && error != 103) || (error >= 110 && error <= 113);
}

#endif
