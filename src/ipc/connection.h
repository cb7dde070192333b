/* SPDX-License-Identifier: MIT */
/*
 * One end of a conversation: datagrams with descriptors over a SOCK_SEQPACKET socket. Every descriptor
 * that arrives is close-on-exec and owned by the message it came with.
 */
#ifndef ETW_IPC_CONNECTION_H
#define ETW_IPC_CONNECTION_H

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
	struct etw_bytes datagram;     /* into `room` */
	int fds[WIRE_MESSAGE_FDS_MAX]; /* -1: none; owned: who takes one leaves -1 */
	uint8_t room[WIRE_MESSAGE_BYTES_MAX];
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
