/* SPDX-License-Identifier: MIT */
/*
 * One end of a conversation: datagrams over a SOCK_SEQPACKET socket. Descriptors go one way, from the host
 * to its peers: each that arrives there is close-on-exec and owned by the message it came with.
 *
 * The host must not even close a descriptor that a peer sent: whoever drops the last reference to a file
 * runs what its file system or its protocol does then, and a server of FUSE, a dead NFS server or a TCP
 * socket with SO_LINGER can make that last for as long as the sender likes. So a host's sockets refuse
 * them where the kernel can (Linux 6.16), and else leave a datagram with descriptors where it lies.
 */
#ifndef ETW_IPC_CONNECTION_H
#define ETW_IPC_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/message.h"

/* Who is at the other end, as the kernel says. */
struct etw_peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/* A message that arrived. */
struct etw_ipc_message {
	struct wire_message head;
	struct etw_bytes datagram;     /* into `bytes` */
	int fds[WIRE_MESSAGE_FDS_MAX]; /* -1: none; owned: who takes one leaves -1 */
	bool is_cut; /* descriptors came that this process has no numbers for: all of them are closed */
	uint8_t bytes[WIRE_MESSAGE_BYTES_MAX];
};

/* etw_ipc_message_init() - before the first receive. etw_ipc_message_done() closes what was not taken. */
void etw_ipc_message_init(struct etw_ipc_message *message);
void etw_ipc_message_done(struct etw_ipc_message *message);

/*
 * etw_ipc_send() - sends one datagram.
 *
 * @fds: borrowed
 *
 * Never raises SIGPIPE. Returns 0; -EAGAIN when the socket is non-blocking and full; -EPIPE when the peer
 * is gone; other errno of sendmsg.
 */
int etw_ipc_send(int socket, const uint8_t *bytes, size_t byte_count, const int *fds,
		 unsigned fd_count);

/*
 * etw_ipc_receive() - takes one datagram; closes what @message still held.
 *
 * Returns 0; -EAGAIN on an empty non-blocking socket; -EPIPE when the peer is gone; -EPROTO for a
 * datagram that is no message; other errno of recvmsg.
 */
int etw_ipc_receive(int socket, struct etw_ipc_message *message);

/*
 * etw_ipc_refuse_fds() - for a host's listener, before listen(): datagrams with descriptors fail with EPERM
 * at the sender. Sockets that are accepted inherit it. Returns 0; -ENOPROTOOPT before Linux 6.16; other
 * errno of setsockopt.
 */
int etw_ipc_refuse_fds(int listener);

/*
 * etw_ipc_guard() - makes an accepted socket ready for etw_ipc_receive_bare().
 *
 * Returns whether it is *guarded*: descriptors may lie in its queue, because the kernel cannot refuse them or
 * because the peer connected before the listener did. A guarded socket may be closed only after
 * etw_ipc_is_closable().
 */
bool etw_ipc_guard(int socket);

/*
 * etw_ipc_receive_bare() - etw_ipc_receive() for a host: takes no descriptor, and closes none.
 *
 * @is_guarded: what etw_ipc_guard() said
 *
 * Also returns -EPROTO for a datagram with descriptors, which stays in the queue.
 */
int etw_ipc_receive_bare(int socket, bool is_guarded, struct etw_ipc_message *message);

/*
 * etw_ipc_is_closable() - ends both directions of a guarded socket and empties its queue.
 *
 * Returns false when descriptors lie in the queue, or too much does to look through it at once: closing the
 * socket would close them.
 */
bool etw_ipc_is_closable(int socket);

/* etw_ipc_peer() - credentials of the other end. Returns 0 or negative errno. */
int etw_ipc_peer(int socket, struct etw_peer *ret);

/*
 * etw_ipc_enlarge() - makes the send buffer hold several of the largest messages, as far as the machine
 * allows. One of them always fits: Linux' default of 208 KiB is more than WIRE_MESSAGE_BYTES_MAX.
 */
void etw_ipc_enlarge(int socket);

/*
 * etw_ipc_accept() - for a host: takes the next connection.
 *
 * Returns 0 with an owned non-blocking socket, enlarged; -EAGAIN when none waits; -EMFILE and other errno
 * of accept.
 */
int etw_ipc_accept(int listener, int *ret_socket);

#endif
