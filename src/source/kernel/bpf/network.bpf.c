/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * TCP and UDP. What a socket sends and receives is told by the kernel's own tracepoints of lengths (Linux 6.5); who the peer
 * of a datagram is stands in the caller's memory alone, and where the tracepoints are missing so does everything: the ends
 * of system calls tell it.
 */
#include "network.h"
#include "network_calls.h"

/* Whether there are tracepoints of lengths. The host sets it. */
const volatile __u32 etw_tells_lengths = 1;

static __always_inline const struct etw_kernel_control *find_wanted(void)
{
	const struct etw_kernel_control *control = find_control();

	return control && is_wanted(control, ETW_KERNEL_NETWORK) ? control : NULL;
}

/* Nobody told that the connection was accepted, as of io_uring: its first use does. */
static __always_inline void tell_late_accept(const struct sock *sk, const struct user *user,
					     const int is_direct)
{
	struct etw_kernel_network payload = {.event = ETW_KERNEL_NETWORK_ACCEPT};

	payload.connection = connection_of(sk);
	read_socket_ends(&payload, sk, is_direct);
	read_options(&payload, sk);
	etw_send_network(&payload, user, NULL);
}

/* A connection sent or received. @stack: NULL: none is wanted */
static __always_inline void tell_transfer(const struct etw_kernel_control *control,
					  const struct sock *sk, __u32 event, __u32 byte_count,
					  const struct stack *stack, const int is_direct)
{
	struct etw_kernel_network payload = {.event = event, .byte_count = byte_count};
	int is_kernels = is_direct ? BPF_CORE_READ_BITFIELD(sk, sk_kern_sock)
				   : BPF_CORE_READ_BITFIELD_PROBED(sk, sk_kern_sock);
	struct user user = find_user(control, is_kernels);
	__u32 flags = use_connection((__u64)sk, &user);
	const struct tcp_sock *tcp = (const void *)sk;

	if (is_user_outside(control, &user))
		return;
	if (flags & CONNECTION_IS_NEW)
		tell_late_accept(sk, &user, is_direct);
	payload.connection = connection_of(sk);
	read_socket_ends(&payload, sk, is_direct);
	if (FROM(is_direct, sk, sk_protocol) == IPPROTO_TCP)
		payload.sequence = event == ETW_KERNEL_NETWORK_SEND
					   ? BPF_CORE_READ(tcp, write_seq)
					   : BPF_CORE_READ(tcp, copied_seq);
	etw_send_network(&payload, &user, stack);
}

/* The address of a datagram's peer, as a program gave it or got it. */
static __always_inline void read_peer(struct etw_kernel_network *payload, __u64 at)
{
	struct {
		__u16 family, port;
		__u32 address; /* of IPv6 the flow */
		__u8 address6[16];
	} peer = {};

	/* The shorter one may end where the memory does. */
	if (!at || bpf_probe_read_user(&peer, 16, (const void *)at))
		return;
	if (peer.family == AF_INET) {
		payload->remote_port = peer.port;
		if (payload->flags & ETW_KERNEL_NETWORK_IPV6)
			keep_last_four(payload->local);
		payload->flags &= ~ETW_KERNEL_NETWORK_IPV6;
		__builtin_memset(payload->remote, 0, sizeof(payload->remote));
		*(__u32 *)payload->remote = peer.address;
	} else if (peer.family == AF_INET6 &&
		   !bpf_probe_read_user(&peer, sizeof(peer), (const void *)at)) {
		payload->remote_port = peer.port;
		payload->flags |= ETW_KERNEL_NETWORK_IPV6;
		__builtin_memcpy(payload->remote, peer.address6, sizeof(payload->remote));
	}
}

static __always_inline struct user find_datagram_user(const struct etw_kernel_control *control,
						      int is_kernels)
{
	struct user user = find_user(control, is_kernels);

	if (!user.is_known)
		user.pid = user.tid = ETW_KERNEL_NETWORK_NOBODY;
	return user;
}

/* What the network said of a datagram; the one that failed need not be the one that this call sent. */
static __always_inline void tell_failure(const struct etw_kernel_control *control,
					 const struct sock *sk, const struct user *user,
					 __u32 error, __u32 flags)
{
	struct etw_kernel_network payload = {
		.event = ETW_KERNEL_NETWORK_FAIL, .error = error, .flags = flags};

	if (is_user_outside(control, user))
		return;
	payload.connection = connection_of(sk);
	read_socket_ends(&payload, sk, 0);
	etw_send_network(&payload, user, NULL);
}

/* Whether the end of the call that runs tells of its datagrams, which it knows the peers of. */
static __always_inline int is_told_later(const struct sock *sk, __u32 event)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread;

	if (task->flags & (PF_KTHREAD | PF_IO_WORKER) ||
	    (event == ETW_KERNEL_NETWORK_RECEIVE && sk->__sk_common.skc_dport))
		return 0;
	if (!names_peer(find_kind(task, (const void *)bpf_task_pt_regs(task))))
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!thread)
		return 0;
	thread->network_sock = (__u64)sk;
	return 1;
}

static __always_inline int tell_length(void *context, struct sock *sk, __s32 result, __u32 event,
				       __u32 place)
{
	const struct etw_kernel_control *control = find_wanted();
	struct etw_kernel_network payload = {.event = event, .flags = ETW_KERNEL_NETWORK_UDP};
	struct user user;
	__u32 protocol;

	if (!control || !is_internet(sk->__sk_common.skc_family))
		return 0;
	protocol = sk->sk_protocol;
	if (protocol != IPPROTO_UDP && (!is_tcp(protocol) || result <= 0))
		return 0;
	/* Whoever has no cookie gets one: the end of the call reads it. */
	(void)bpf_get_socket_cookie(sk);
	if (is_tcp(protocol)) {
		tell_transfer(control, sk, event, result,
			      take_callers(context, control, event, 0, place), 1);
		return 0;
	}
	if (result >= 0 && is_told_later(sk, event))
		return 0;
	user = find_datagram_user(control, BPF_CORE_READ_BITFIELD(sk, sk_kern_sock));
	if (result < 0) {
		if (is_network_error(-(__s64)result))
			tell_failure(control, sk, &user, -result, ETW_KERNEL_NETWORK_UDP);
		return 0;
	}
	if (is_user_outside(control, &user))
		return 0;
	payload.byte_count = result;
	payload.connection = connection_of(sk);
	read_socket_ends(&payload, sk, 1);
	etw_send_network(&payload, &user,
			 take_callers(context, control, event, ETW_KERNEL_NETWORK_UDP, place));
	return 0;
}

SEC("tp_btf/sock_send_length")
int etw_sent(__u64 *context)
{
	return tell_length(context, (void *)context[0], context[1], ETW_KERNEL_NETWORK_SEND,
			   STACK_OF_SEND);
}

SEC("tp_btf/sock_recv_length")
int etw_received(__u64 *context)
{
	if ((__u32)context[2] & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	return tell_length(context, (void *)context[0], context[1], ETW_KERNEL_NETWORK_RECEIVE,
			   STACK_OF_RECEIVE);
}

/* Keeps where connect() was called, for the answer, which comes in an interrupt. */
static __always_inline void keep_callers(void *context, const struct etw_kernel_control *control,
					 __u64 sk)
{
	const struct stack *stack = take_callers(context, control, ETW_KERNEL_NETWORK_CONNECT, 0,
						 STACK_OF_STATE);

	if (stack)
		bpf_map_update_elem(&etw_connect_stacks, &sk, stack, BPF_ANY);
}

static __always_inline void tell_answer(const struct etw_kernel_control *control, struct sock *sk,
					__u32 event)
{
	struct etw_kernel_network payload = {.event = event};
	struct user user = last_user((__u64)sk);
	__u64 key = (__u64)sk;
	struct stack *stack = NULL;

	if (event == ETW_KERNEL_NETWORK_CONNECT) {
		read_options(&payload, sk);
		if (wants_network_stack(control, event, 0))
			stack = bpf_map_lookup_elem(&etw_connect_stacks, &key);
	} else {
		payload.error = sk->sk_err;
	}
	if (!is_user_outside(control, &user)) {
		(void)bpf_get_socket_cookie(sk);
		payload.connection = connection_of(sk);
		read_socket_ends(&payload, sk, 1);
		etw_send_network(&payload, &user, stack);
	}
	if (stack)
		bpf_map_delete_elem(&etw_connect_stacks, &key);
}

static __always_inline void tell_disconnect(const struct etw_kernel_control *control,
					    struct sock *sk)
{
	struct etw_kernel_network payload = {.event = ETW_KERNEL_NETWORK_DISCONNECT};
	const struct connection *known;
	struct user user = last_user((__u64)sk);
	__u64 key = (__u64)sk;

	known = bpf_map_lookup_elem(&etw_connections, &key);
	if (is_user_outside(control, &user) || (known && known->flags & CONNECTION_IS_NEW))
		return;
	(void)bpf_get_socket_cookie(sk);
	payload.connection = connection_of(sk);
	read_socket_ends(&payload, sk, 1);
	etw_send_network(&payload, &user, NULL);
}

/* A part of a connection of MPTCP, which is told as one. */
static __always_inline int is_part(const struct sock *sk)
{
	const struct tcp_sock *tcp = (const void *)sk;

	return sk->sk_protocol == IPPROTO_TCP && bpf_core_field_exists(tcp->is_mptcp) &&
	       BPF_CORE_READ_BITFIELD_PROBED(tcp, is_mptcp);
}

static __always_inline int was_connected(__u32 state)
{
	return state == STATE_ESTABLISHED || (state >= STATE_FIN_WAIT1 && state != STATE_CLOSE &&
					      state != STATE_LISTEN && state != STATE_NEW_SYN_RECV);
}

SEC("tp_btf/inet_sock_set_state")
int etw_socket_state(__u64 *context)
{
	const struct etw_kernel_control *control = find_wanted();
	struct sock *sk = (void *)context[0];
	__u32 before = context[1], now = context[2], flags;
	struct connection fresh = {.pid = ETW_KERNEL_NETWORK_NOBODY,
				   .tid = ETW_KERNEL_NETWORK_NOBODY,
				   .flags = CONNECTION_IS_NEW};
	struct connection *known;
	__u64 key = (__u64)sk;
	struct user user;

	if (!control || !is_tcp(sk->sk_protocol) || is_part(sk))
		return 0;
	if (now == STATE_SYN_SENT || now == STATE_LISTEN || now == STATE_FIN_WAIT1 ||
	    now == STATE_LAST_ACK) {
		/* In the call of a process: connect(), listen(), close(), shutdown(). */
		user = find_user(control, BPF_CORE_READ_BITFIELD(sk, sk_kern_sock));
		flags = use_connection(key, &user);
		if (now == STATE_SYN_SENT)
			keep_callers(context, control, key);
		else if (flags & CONNECTION_IS_NEW && !is_user_outside(control, &user))
			tell_late_accept(sk, &user, 1);
	} else if (now == STATE_ESTABLISHED && before == STATE_SYN_SENT) {
		tell_answer(control, sk, ETW_KERNEL_NETWORK_CONNECT);
	} else if (now == STATE_ESTABLISHED && before == STATE_SYN_RECV) {
		/* The end of accept() cannot give it one. */
		(void)bpf_get_socket_cookie(sk);
		bpf_map_update_elem(&etw_connections, &key, &fresh, BPF_NOEXIST);
	} else if (now == STATE_CLOSE && before == STATE_SYN_SENT) {
		/* Without an error the end of connect() tells it, or the program gave up. */
		if (!sk->sk_err)
			return 0;
		tell_answer(control, sk, ETW_KERNEL_NETWORK_FAIL);
		known = bpf_map_lookup_elem(&etw_connections, &key);
		if (known)
			known->flags |= CONNECTION_HAS_FAILED;
	} else if (now == STATE_CLOSE && was_connected(before)) {
		tell_disconnect(control, sk);
	}
	return 0;
}

SEC("tp_btf/tcp_destroy_sock")
int etw_forget_socket(__u64 *context)
{
	__u64 key = context[0];

	bpf_map_delete_elem(&etw_connections, &key);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int etw_retransmit(__u64 *context)
{
	const struct etw_kernel_control *control = find_wanted();
	struct etw_kernel_network payload = {.event = ETW_KERNEL_NETWORK_RETRANSMIT};
	struct sock *sk = (void *)context[0];
	struct sk_buff *packet = (void *)context[1];
	const struct tcp_skb_cb *block = (const void *)&packet->cb;
	struct user user;

	if (!control || is_part(sk))
		return 0;
	user = last_user((__u64)sk);
	if (is_user_outside(control, &user))
		return 0;
	(void)bpf_get_socket_cookie(sk);
	payload.connection = connection_of(sk);
	read_socket_ends(&payload, sk, 1);
	payload.byte_count = packet->len;
	payload.sequence = BPF_CORE_READ(block, seq);
	etw_send_network(&payload, &user, NULL);
	return 0;
}

/* The listening socket answers once more to who wants to connect. */
SEC("tp_btf/tcp_retransmit_synack")
int etw_retransmit_answer(__u64 *context)
{
	const struct etw_kernel_control *control = find_wanted();
	struct etw_kernel_network payload = {.event = ETW_KERNEL_NETWORK_RETRANSMIT};
	const struct request_sock *request = (const void *)context[1];
	struct user user;

	if (!control)
		return 0;
	user = last_user(context[0]);
	if (is_user_outside(control, &user))
		return 0;
	read_ends(&payload, &request->__req_common, 0);
	etw_send_network(&payload, &user, NULL);
	return 0;
}

/*
 * The steps of the end of a call are functions that the verifier looks at once. They take numbers, and find the call and its
 * stack where the program put them.
 */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct call);
} etw_ending_call SEC(".maps");

static __always_inline struct call *ending_call(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&etw_ending_call, &key);
}

/* @has_stack: whether the program took it */
static __always_inline const struct stack *stack_of_call(__u32 has_stack)
{
	__u32 place = STACK_OF_CALL;

	return has_stack ? bpf_map_lookup_elem(&etw_network_stacks, &place) : NULL;
}

__noinline int tell_accept(__u64 sk_at, __u32 has_stack)
{
	const struct etw_kernel_control *control = find_wanted();
	struct etw_kernel_network payload = {.event = ETW_KERNEL_NETWORK_ACCEPT};
	const struct sock *sk = (const void *)sk_at;
	struct user user;

	if (!control || !is_tcp(BPF_CORE_READ(sk, sk_protocol)))
		return 0;
	user = find_user(control, 0);
	(void)use_connection(sk_at, &user);
	if (is_user_outside(control, &user))
		return 0;
	payload.connection = connection_of(sk);
	read_socket_ends(&payload, sk, 0);
	if (BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP)
		read_options(&payload, sk);
	etw_send_network(&payload, &user, stack_of_call(has_stack));
	return 0;
}

/* A call of connect() failed before anything was sent: no state of the socket told it. */
__noinline int tell_refusal(__u64 sk_at, __u32 error)
{
	const struct etw_kernel_control *control = find_wanted();
	const struct sock *sk = (const void *)sk_at;
	struct user user;

	if (!control || !is_tcp(BPF_CORE_READ(sk, sk_protocol)))
		return 0;
	user = find_user(control, 0);
	if (!(use_connection(sk_at, &user) & CONNECTION_HAS_FAILED))
		tell_failure(control, sk, &user, error, 0);
	return 0;
}

/* The datagrams of one call. */
struct datagrams {
	struct etw_kernel_network payload;
	struct user user;
	__u32 result;
	__u32 has_stack;
};

static long tell_datagram(__u32 number, struct datagrams *datagrams)
{
	const struct call *call = ending_call();
	struct etw_kernel_network payload = datagrams->payload;
	struct message message = {};

	if (!call)
		return 1;
	read_message(call, number, datagrams->result, &message);
	payload.byte_count = message.byte_count;
	read_peer(&payload, message.peer);
	etw_send_network(&payload, &datagrams->user, stack_of_call(datagrams->has_stack));
	return 0;
}

__noinline int tell_datagrams(__u64 sk_at, __u32 event, __u32 count, __u32 result, __u32 has_stack)
{
	const struct etw_kernel_control *control = find_wanted();
	struct datagrams datagrams = {.result = result, .has_stack = has_stack};
	const struct sock *sk = (const void *)sk_at;

	if (!control)
		return 0;
	datagrams.user = find_datagram_user(control, 0);
	if (is_user_outside(control, &datagrams.user))
		return 0;
	datagrams.payload.event = event;
	datagrams.payload.flags = ETW_KERNEL_NETWORK_UDP;
	datagrams.payload.connection = connection_of(sk);
	read_socket_ends(&datagrams.payload, sk, 0);
	bpf_loop(count, tell_datagram, &datagrams, 0);
	return 0;
}

__noinline int tell_failed_datagram(__u64 sk_at, __u32 error)
{
	const struct etw_kernel_control *control = find_wanted();
	struct user user;

	if (!control)
		return 0;
	user = find_datagram_user(control, 0);
	tell_failure(control, (const void *)sk_at, &user, error, ETW_KERNEL_NETWORK_UDP);
	return 0;
}

/* Of all messages of a call that a connection sent or got. */
static long add_length(__u32 number, __u64 *sum)
{
	const struct call *call = ending_call();
	struct message message = {};

	if (!call)
		return 1;
	read_message(call, number, 0, &message);
	*sum += message.byte_count;
	return 0;
}

__noinline int tell_call_transfer(__u64 sk_at, __u32 event, __u32 result, __u32 has_stack)
{
	const struct etw_kernel_control *control = find_wanted();
	const struct call *call = ending_call();
	__u64 byte_count = 0;

	if (!control || !call)
		return 0;
	if (has_messages(call->kind))
		bpf_loop(result, add_length, &byte_count, 0);
	else
		byte_count = result;
	tell_transfer(control, (const void *)sk_at, event, byte_count, stack_of_call(has_stack), 0);
	return 0;
}

/* The socket of a call's descriptor; NULL: it is none of the internet's. */
static __always_inline const struct sock *find_internet(const struct task_struct *task, __u32 fd)
{
	const struct sock *sk = find_socket(task, fd);

	return sk && is_internet(BPF_CORE_READ(sk, __sk_common.skc_family)) ? sk : NULL;
}

/* What the call that ends transferred. */
static __always_inline void tell_call(void *context, const struct etw_kernel_control *control,
				      const struct sock *sk, const struct call *call, __s64 result)
{
	__u32 is_udp = BPF_CORE_READ(sk, sk_protocol) == IPPROTO_UDP ? ETW_KERNEL_NETWORK_UDP : 0;
	__u32 event = is_receive(call->kind) || call->kind == CALL_SPLICE
			      ? ETW_KERNEL_NETWORK_RECEIVE
			      : ETW_KERNEL_NETWORK_SEND;
	__u32 has_stack;

	if (result < 0) {
		if (is_udp && is_network_error(-result))
			tell_failed_datagram((__u64)sk, -result);
		return;
	}
	if (!is_udp && (!result || !is_tcp(BPF_CORE_READ(sk, sk_protocol))))
		return;
	has_stack = take_callers(context, control, event, is_udp, STACK_OF_CALL) != NULL;
	if (is_udp)
		tell_datagrams((__u64)sk, event, has_messages(call->kind) ? result : 1, result,
			       has_stack);
	else
		tell_call_transfer((__u64)sk, event, result, has_stack);
}

SEC("tp_btf/sys_exit")
int etw_end_network_call(__u64 *context)
{
	const struct etw_kernel_control *control = find_wanted();
	struct pt_regs *regs = (void *)context[0];
	struct task_struct *task;
	const struct sock *sk = NULL;
	__s64 result = context[1];
	struct thread *thread;
	struct call *call;
	__u32 kind;

	if (!control)
		return 0;
	/* Every system call of the machine passes here. */
	task = bpf_get_current_task_btf();
	kind = find_kind(task, regs);
	if (kind == CALL_NONE || (etw_tells_lengths && kind >= CALL_READ && kind != CALL_SPLICE))
		return 0;
	if (etw_tells_lengths && names_peer(kind)) {
		thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
		if (!thread || !thread->network_sock)
			return 0;
		sk = (void *)thread->network_sock;
		thread->network_sock = 0;
		if (result < 0)
			return 0;
	}
	call = ending_call();
	if (!call)
		return 0;
	call->kind = kind;
	read_call(task, regs, call);
	if (!sk)
		sk = find_internet(task, kind == CALL_ACCEPT ? result : call->arguments[0]);
	/* Where nothing tells lengths, what a pipe gives to a socket. */
	if (!sk && kind == CALL_SPLICE && !etw_tells_lengths) {
		call->kind = CALL_WRITE;
		sk = find_internet(task, call->arguments[2]);
	}
	if (!sk)
		return 0;
	if (kind == CALL_ACCEPT) {
		if (result >= 0)
			tell_accept((__u64)sk,
				    take_callers(context, control, ETW_KERNEL_NETWORK_ACCEPT, 0,
						 STACK_OF_CALL) != NULL);
	} else if (kind == CALL_CONNECT) {
		if (is_network_error(-result))
			tell_refusal((__u64)sk, -result);
	} else if (!is_look(call) && (kind != CALL_SPLICE || result > 0)) {
		tell_call(context, control, sk, call, result);
	}
	return 0;
}

/* Sockets that are there when the programs are attached belong to who has them open. */
SEC("iter/task_file")
int etw_walk_sockets(struct bpf_iter__task_file *context)
{
	struct task_struct *task = context->task;
	struct file *file = context->file;
	struct connection made = {};
	struct socket *socket;
	struct thread *thread;
	struct sock *sk;
	__u64 key;

	if (!task || !file)
		return 0;
	socket = bpf_sock_from_file(file);
	sk = socket ? socket->sk : NULL;
	if (!sk || !is_internet(sk->__sk_common.skc_family) || !is_tcp(sk->sk_protocol))
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	made.pid = task->tgid;
	made.tid = task->pid;
	made.tree_pid = thread ? thread->tree_pid : 0;
	key = (__u64)sk;
	bpf_map_update_elem(&etw_connections, &key, &made, BPF_NOEXIST);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
