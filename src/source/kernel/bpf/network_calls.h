/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * System calls that use sockets: which there are, their arguments, and what they leave in the caller's memory. Numbers and
 * layouts of 32-bit programs on x86 are others; those of 32-bit programs on arm64 are not known here.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_NETWORK_CALLS_H
#define ETW_SOURCE_KERNEL_BPF_NETWORK_CALLS_H

#include "calls.h"
#include "network_types.h"

enum call_kind {
	CALL_NONE = 0,
	CALL_SEND,          /* sendto: may have an address */
	CALL_SEND_MESSAGE,  /* sendmsg */
	CALL_SEND_MESSAGES, /* sendmmsg */
	CALL_RECEIVE,
	CALL_RECEIVE_MESSAGE,
	CALL_RECEIVE_MESSAGES,
	CALL_ACCEPT,
	CALL_CONNECT,
	CALL_READ,
	CALL_WRITE,
	CALL_SEND_FILE,
	CALL_SPLICE,
};

struct call {
	__u32 kind; /* enum call_kind */
	__u32 is_compat;
	__u64 arguments[CALL_ARGUMENTS];
};

#if defined(__TARGET_ARCH_x86)

static __always_inline __u32 kind_of_native(__u64 number)
{
	switch (number) {
	case 0:  /* read */
	case 19: /* readv */
		return CALL_READ;
	case 1:  /* write */
	case 20: /* writev */
		return CALL_WRITE;
	case 40:
		return CALL_SEND_FILE;
	case 42:
		return CALL_CONNECT;
	case 43:
	case 288: /* accept4 */
		return CALL_ACCEPT;
	case 44:
		return CALL_SEND;
	case 45:
		return CALL_RECEIVE;
	case 46:
		return CALL_SEND_MESSAGE;
	case 47:
		return CALL_RECEIVE_MESSAGE;
	case 275:
		return CALL_SPLICE;
	case 299:
		return CALL_RECEIVE_MESSAGES;
	case 307:
		return CALL_SEND_MESSAGES;
	default:
		return CALL_NONE;
	}
}

static __always_inline __u32 kind_of_compat(__u64 number)
{
	switch (number) {
	case 3:
	case 145: /* readv */
		return CALL_READ;
	case 4:
	case 146: /* writev */
		return CALL_WRITE;
	case 187:
	case 239: /* sendfile64 */
		return CALL_SEND_FILE;
	case 313:
		return CALL_SPLICE;
	case 337:
	case 417: /* recvmmsg_time64 */
		return CALL_RECEIVE_MESSAGES;
	case 345:
		return CALL_SEND_MESSAGES;
	case 362:
		return CALL_CONNECT;
	case 364: /* accept4 */
		return CALL_ACCEPT;
	case 369:
		return CALL_SEND;
	case 370:
		return CALL_SEND_MESSAGE;
	case 371:
		return CALL_RECEIVE;
	case 372:
		return CALL_RECEIVE_MESSAGE;
	default:
		return CALL_NONE;
	}
}

#define SYSCALL_SOCKETCALL 102

static __always_inline __u32 kind_of_socketcall(__u64 number)
{
	switch (number) {
	case 3:
		return CALL_CONNECT;
	case 5:
	case 18:
		return CALL_ACCEPT;
	case 9: /* send: as sendto, and no address behind its arguments */
	case 11:
		return CALL_SEND;
	case 10: /* recv */
	case 12:
		return CALL_RECEIVE;
	case 16:
		return CALL_SEND_MESSAGE;
	case 17:
		return CALL_RECEIVE_MESSAGE;
	case 19:
		return CALL_RECEIVE_MESSAGES;
	case 20:
		return CALL_SEND_MESSAGES;
	default:
		return CALL_NONE;
	}
}

/* They lie in the caller's memory. */
static __always_inline void read_socketcall(const struct pt_regs *regs, struct call *call)
{
	__u64 number = (__u32)regs->bx, at = (__u32)regs->cx;
	__u32 words[6] = {};

	if (bpf_probe_read_user(words, sizeof(words), (const void *)at) &&
	    bpf_probe_read_user(words, 4 * sizeof(words[0]), (const void *)at))
		bpf_probe_read_user(words, 2 * sizeof(words[0]), (const void *)at);
#pragma unroll
	for (int i = 0; i < 6; i++)
		call->arguments[i] = words[i];
	if (number == 9 || number == 10)
		call->arguments[4] = 0;
}

/*
 * kind_of_call() - enum call_kind. The verifier, which looks at a function with this linkage once, is not to follow the caller
 * for each of the kinds.
 *
 * @first: argument of the call
 */
__noinline __u32 kind_of_call(__u32 is_compat, __u64 number, __u32 first)
{
	if (!is_compat)
		return kind_of_native(number);
	return number == SYSCALL_SOCKETCALL ? kind_of_socketcall(first) : kind_of_compat(number);
}

/* The kind alone, for a quick look. */
static __always_inline __u32 find_kind(const struct task_struct *task, const struct pt_regs *regs)
{
	return kind_of_call(is_compat_call(task), number_of(regs), regs->bx);
}

/* All but the kind. */
static __always_inline void read_call(const struct task_struct *task, const struct pt_regs *regs,
				      struct call *call)
{
	call->is_compat = is_compat_call(task);
	if (call->is_compat && number_of(regs) == SYSCALL_SOCKETCALL)
		read_socketcall(regs, call);
	else
		read_arguments(regs, call->is_compat, call->arguments);
}

#elif defined(__TARGET_ARCH_arm64)

static __always_inline __u32 kind_of_native(__u64 number)
{
	switch (number) {
	case 63:
	case 65: /* readv */
		return CALL_READ;
	case 64:
	case 66: /* writev */
		return CALL_WRITE;
	case 71:
		return CALL_SEND_FILE;
	case 76:
		return CALL_SPLICE;
	case 202:
	case 242: /* accept4 */
		return CALL_ACCEPT;
	case 203:
		return CALL_CONNECT;
	case 206:
		return CALL_SEND;
	case 207:
		return CALL_RECEIVE;
	case 211:
		return CALL_SEND_MESSAGE;
	case 212:
		return CALL_RECEIVE_MESSAGE;
	case 243:
		return CALL_RECEIVE_MESSAGES;
	case 269:
		return CALL_SEND_MESSAGES;
	default:
		return CALL_NONE;
	}
}

/* kind_of_call() - enum call_kind. As on x86 a function that the verifier looks at once. */
__noinline __u32 kind_of_call(__u32 is_compat, __u64 number)
{
	return is_compat ? CALL_NONE : kind_of_native(number);
}

static __always_inline __u32 find_kind(const struct task_struct *task, const struct pt_regs *regs)
{
	return kind_of_call(is_compat_call(task), number_of(regs));
}

static __always_inline void read_call(const struct task_struct *task, const struct pt_regs *regs,
				      struct call *call)
{
	(void)task;
	call->is_compat = 0;
	read_arguments(regs, 0, call->arguments);
}

#endif

static __always_inline int is_send(__u32 kind)
{
	return (kind >= CALL_SEND && kind <= CALL_SEND_MESSAGES) || kind == CALL_WRITE ||
	       kind == CALL_SEND_FILE;
}

static __always_inline int is_receive(__u32 kind)
{
	return (kind >= CALL_RECEIVE && kind <= CALL_RECEIVE_MESSAGES) || kind == CALL_READ;
}

/* Whether the call may say who the peer of a datagram is. */
static __always_inline int names_peer(__u32 kind)
{
	return kind >= CALL_SEND && kind <= CALL_RECEIVE_MESSAGES;
}

/* Whether the call may have several messages. */
static __always_inline int has_messages(__u32 kind)
{
	return kind == CALL_SEND_MESSAGES || kind == CALL_RECEIVE_MESSAGES;
}

/* Of one message of a call. */
struct message {
	__u64 peer; /* where its address is in the caller's memory; 0: nowhere */
	__u32 byte_count;
};

#define HEADER_BYTES \
	56 /* struct user_msghdr; what was transferred is behind it, of sendmmsg and its like */
#define COMPAT_HEADER_BYTES 28
#define ENTRY_BYTES         64
#define COMPAT_ENTRY_BYTES  32

/* @number: of the messages of one call; 0 where it has one */
static __always_inline void read_message(const struct call *call, __u32 number, __u32 result,
					 struct message *ret)
{
	__u64 at = call->arguments[1], name = 0;
	__u32 entry = call->is_compat ? COMPAT_ENTRY_BYTES : ENTRY_BYTES;
	__u32 header = call->is_compat ? COMPAT_HEADER_BYTES : HEADER_BYTES, name_bytes = 0;

	ret->byte_count = result;
	ret->peer = 0;
	if (call->kind == CALL_SEND || call->kind == CALL_RECEIVE) {
		ret->peer = call->arguments[4];
		return;
	}
	if (!names_peer(call->kind))
		return;
	at += (__u64)number * entry;
	if (call->is_compat)
		bpf_probe_read_user(&name, sizeof(__u32), (const void *)at);
	else
		bpf_probe_read_user(&name, sizeof(name), (const void *)at);
	bpf_probe_read_user(&name_bytes, sizeof(name_bytes),
			    (const void *)(at + (call->is_compat ? 4 : 8)));
	ret->peer = name_bytes ? name : 0;
	if (has_messages(call->kind))
		bpf_probe_read_user(&ret->byte_count, sizeof(ret->byte_count),
				    (const void *)(at + header));
}

/* Whether the call looks, and does not take. */
static __always_inline int is_look(const struct call *call)
{
	__u64 flags = call->kind == CALL_RECEIVE_MESSAGE ? call->arguments[2]
		      : call->kind == CALL_READ          ? 0
							 : call->arguments[3];

	return is_receive(call->kind) && flags & (MSG_PEEK | MSG_ERRQUEUE);
}

/* NULL: the descriptor is no socket's. What is found is a number to the verifier. */
static __always_inline struct sock *find_socket(const struct task_struct *task, __u32 fd)
{
	const struct files_struct___net *files = (const void *)BPF_CORE_READ(task, files);
	const struct fdtable___net *table = BPF_CORE_READ(files, fdt);
	struct file___net **entries = BPF_CORE_READ(table, fd), *file = NULL;
	const struct socket *socket;

	if (!entries || fd >= BPF_CORE_READ(table, max_fds) ||
	    bpf_probe_read_kernel(&file, sizeof(file), &entries[fd]) || !file ||
	    (BPF_CORE_READ(file, f_inode, i_mode) & MODE_TYPE) != MODE_SOCKET)
		return NULL;
	socket = BPF_CORE_READ(file, private_data);
	return socket ? BPF_CORE_READ(socket, sk) : NULL;
}

#endif
