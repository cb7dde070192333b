/* SPDX-License-Identifier: MIT */
/*
 * What the host and its keeper say to each other over their socketpair (SOCK_SEQPACKET). Both are the
 * same program, one forked from the other, so that the struct itself is what is sent.
 */
#ifndef ETW_DAEMON_KEEPER_MESSAGE_H
#define ETW_DAEMON_KEEPER_MESSAGE_H

#include <stdint.h>

#define ETWD_KEPT_NAME_BYTES 128  /* with the NUL */
#define ETWD_KEPT_MAX        8192 /* descriptors */

enum etwd_keeper_op {
	ETWD_KEEPER_KEEP = 1,   /* host -> keeper, with a descriptor: replaces one of that name */
	ETWD_KEEPER_FORGET = 2, /* host -> keeper */
	ETWD_KEEPER_READY = 3,  /* host -> keeper: it accepts connections */
	ETWD_KEEPER_GIVEN = 4,  /* keeper -> new host, with a descriptor */
	ETWD_KEEPER_GIVEN_ALL = 5, /* keeper -> new host: that was everything */
	ETWD_KEEPER_FAILED = 6,    /* host -> keeper: why it ends at once; the name is a sentence */
	ETWD_KEEPER_LEAVING = 7,   /* host -> keeper: it ends because nobody needs it */
	/* keeper -> standby, which gets the first three and the last two as well */
	ETWD_KEEPER_HOST = 8, /* with the keeper's end of a new host's socket; number: its pid */
	ETWD_KEEPER_HOST_PID = 9, /* before it, with the pidfd of that host, where there is one */
	ETWD_KEEPER_HANDED = 10,  /* the host has got everything */
	ETWD_KEEPER_REFUSED =
		11, /* keeper -> host: it could not keep this, and has none of the name */
};

struct etwd_keeper_message {
	uint32_t op;
	int32_t number;                  /* FAILED: a positive errno; HOST: a pid */
	char name[ETWD_KEPT_NAME_BYTES]; /* NUL-terminated */
};

/*
 * etwd_keeper_send() - sends one message.
 *
 * @fd: borrowed; -1: none
 *
 * Returns 0 or the errno of sendmsg; never raises SIGPIPE.
 */
int etwd_keeper_send(int socket, uint32_t op, const char *name, int fd);

/*
 * etwd_keeper_try() - the same without waiting: also -EAGAIN when the socket has no room, and -ETOOMANYREFS when too
 * many descriptors are on their way.
 */
int etwd_keeper_try(int socket, uint32_t op, const char *name, int fd);

/* etwd_keeper_pass_on() - sends a message as it was received, without waiting. Returns as etwd_keeper_try(). */
int etwd_keeper_pass_on(int socket, const struct etwd_keeper_message *message, int fd);

/*
 * etwd_keeper_send_failure() - tells the keeper why this host cannot serve; the sentence is cut where it is too
 * long. Does not wait. Returns 0 or the errno of sendmsg.
 */
int etwd_keeper_send_failure(int socket, int error, const char *sentence);

/*
 * etwd_keeper_receive() - takes one message.
 *
 * @flags:  of recvmsg
 * @ret_fd: owned; -1: none came with it
 *
 * Returns 0; -EPIPE at the end; -EPROTO for what is no message; -EMFILE when its descriptor could not be
 * taken, and then *@ret is the message; the errno of recvmsg.
 */
int etwd_keeper_receive(int socket, int flags, struct etwd_keeper_message *ret, int *ret_fd);

/*
 * etwd_keeper_look() - the next message, which stays: etwd_keeper_receive() with MSG_PEEK, without waiting.
 * etwd_keeper_drop() takes it away. Who dies between the two leaves it to whoever has the socket too.
 */
int etwd_keeper_look(int socket, struct etwd_keeper_message *ret, int *ret_fd);
void etwd_keeper_drop(int socket);

#endif
