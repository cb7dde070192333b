/* SPDX-License-Identifier: MIT */
/*
 * A process at the other end of a connection. What it is sent goes out at once or waits in a queue of
 * bounded length; a peer that lets its queue overflow is disconnected. A peer is never freed while
 * something may still hold it: it is doomed, and goes at the end of the loop's round.
 *
 * What peers want, and what is kept for them, is not known here (daemon/client.h). Context: owner thread (the host's
 * loop).
 */
#ifndef ETW_DAEMON_PEER_H
#define ETW_DAEMON_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/budget.h"
#include "daemon/parked.h"
#include "daemon/pids.h"
#include "ipc/connection.h"
#include "wire/message.h"

#define ETWD_QUEUE_MESSAGES_MAX 8192
#define ETWD_QUEUE_BYTES_MAX    (4 * 1024 * 1024)
#define ETWD_HELLO_TIMEOUT_MS   10000
#define ETWD_SWEEP_PEERS_MAX    256  /* freed in a round of the loop */
#define ETWD_SWEEP_PIECES_MAX   2048 /* of what they hold, released in a round */
#define ETWD_PEER_BUCKETS       1024

struct etwd_packet {
	struct etwd_packet *next;
	size_t bytes;
	int fds[WIRE_MESSAGE_FDS_MAX]; /* owned */
	unsigned fd_count;
	uint8_t body[];
};

struct etwd_peers;

struct etwd_peer {
	struct etwd_peers *peers;
	struct etwd_peer *next, **at;
	struct etwd_peer *next_of_serial; /* in the table */
	struct etwd_peer *next_silent,
		**at_silent; /* who said nothing yet; @at_silent NULL: not among them */
	struct etwd_peer *next_doomed;
	uint64_t serial; /* never used again */
	int fd;          /* owned */
	struct etw_peer who;
	bool is_privileged; /* may control every session of this instance */
	bool is_trusted;    /* root, or whose host it is: served before all others */
	bool is_guarded;    /* descriptors may lie in its queue: etw_ipc_guard() */
	bool is_doomed, is_writing;
	uint32_t role; /* 0: no HELLO yet */
	uint64_t hello_by_ms;
	struct etwd_packet *first, **last;
	size_t queued_bytes;
	unsigned queued_count;
};

/* What happens to peers, for whoever keeps something for them. One for all peers. */
struct etwd_peer_callbacks {
	/* Of what a struct etwd_peer is the first member; the rest of it is zero when a peer comes. */
	size_t bytes;
	/* A message. Returns 0, or -EPROTO: the peer does not keep to the protocol. */
	int (*handle)(struct etwd_peer *peer, struct etw_ipc_message *message);
	/*
	 * It is disconnected: what there may be many of is released, *@left pieces at most, which are counted
	 * down. Returns true when nothing of it is left.
	 */
	bool (*release)(struct etwd_peer *peer, size_t *left);
	/* Then it is out of the list: undo what else it held. */
	void (*gone)(struct etwd_peer *peer);
};

/* All of them, and how they come. */
struct etwd_peers {
	struct etwd_budget *budget; /* borrowed */
	struct etwd_pids *pids;     /* borrowed */
	const struct etwd_peer_callbacks *callbacks;
	void *context;  /* of the callbacks */
	uint32_t group; /* who is in it may control every session; UINT32_MAX: there is none */
	int listener;   /* borrowed; in epoll_fd with &listener as its data */
	int epoll_fd;   /* borrowed: of the trusted ones, with the peer as data */
	int others_fd;  /* owned: of all others; itself in epoll_fd, with &others_fd */

	struct etwd_peer *first;
	struct etwd_peer *by_serial[ETWD_PEER_BUCKETS];
	struct etwd_peer *silent, **last_silent; /* no HELLO yet, in the order of their coming */
	struct etwd_peer *doomed;
	unsigned count;
	unsigned controller_count; /* privileged ones that are controllers, or may become some */
	struct etwd_parked parked;
	uint64_t last_serial;
	uint64_t accept_again_ms; /* when descriptors ran out; 0: accepting */

	struct etw_ipc_message incoming;
	uint8_t outgoing[WIRE_MESSAGE_BYTES_MAX]; /* the message that is being made */
};

/*
 * etwd_peers_init() - none.
 *
 * @budget, @pids, @callbacks: borrowed
 * @context: for the callbacks, in peers->context
 */
void etwd_peers_init(struct etwd_peers *peers, struct etwd_budget *budget, struct etwd_pids *pids,
		     const struct etwd_peer_callbacks *callbacks, void *context);

/*
 * etwd_peers_open() - lets the loop hear of peers.
 *
 * @epoll_fd: the loop's, borrowed; for &peers->listener it calls etwd_peers_accept(), for &peers->others_fd
 *            etwd_peers_ready(), for a peer etwd_peer_ready()
 * @listener: borrowed
 *
 * Returns 0; errno of epoll_create1, epoll_ctl.
 */
int etwd_peers_open(struct etwd_peers *peers, int epoll_fd, int listener);

/* etwd_peers_done() - dooms and frees all. */
void etwd_peers_done(struct etwd_peers *peers);

/* etwd_peers_accept() - takes the connections that wait. */
void etwd_peers_accept(struct etwd_peers *peers);

/* etwd_peers_check_accept() - accepts again behind a pause, when it is over. Returns its end; 0: there is none. */
uint64_t etwd_peers_check_accept(struct etwd_peers *peers, uint64_t now_ms);

/*
 * etwd_peers_add() - takes a connection that was accepted.
 *
 * @fd: taken
 * @who: who is at its other end
 *
 * Returns 0; -ETOOMANYREFS, -EUSERS: too many, which the other end is told; -ENOMEM; errno of epoll_ctl.
 */
int etwd_peers_add(struct etwd_peers *peers, int fd, const struct etw_peer *who,
		   struct etwd_peer **ret);

/* etwd_peers_ready() - handles what epoll has for peers that are not trusted. */
void etwd_peers_ready(struct etwd_peers *peers);

/*
 * etwd_peers_sweep() - frees the doomed ones, and what they held: so much at a time that the loop goes on.
 *
 * Returns true when there is more to do.
 */
bool etwd_peers_sweep(struct etwd_peers *peers);

/* etwd_peer_greeted() - it has said HELLO, in this role. */
void etwd_peer_greeted(struct etwd_peer *peer, uint32_t role);

/* etwd_peers_check_hello() - dooms those that connected and say nothing. Returns the next time to look. */
uint64_t etwd_peers_check_hello(struct etwd_peers *peers, uint64_t now_ms);

/* etwd_peer_find() - by serial number; NULL: it is gone. */
struct etwd_peer *etwd_peer_find(struct etwd_peers *peers, uint64_t serial);

/* etwd_peer_ready() - epoll has something for it. */
void etwd_peer_ready(struct etwd_peer *peer, uint32_t events);

/* etwd_peer_doom() - disconnects it soon. @why: a clause for the log; NULL: it left by itself. */
void etwd_peer_doom(struct etwd_peer *peer, const char *why);

/*
 * etwd_peer_send() - sends @bytes bytes of peer->peers->outgoing, or queues them.
 *
 * @fd: borrowed; -1: none
 */
void etwd_peer_send(struct etwd_peer *peer, size_t bytes, int fd);

/*
 * etwd_peer_send_fds() - the same with several descriptors.
 *
 * @fds: borrowed; at most WIRE_MESSAGE_FDS_MAX
 */
void etwd_peer_send_fds(struct etwd_peer *peer, size_t bytes, const int *fds, unsigned fd_count);

/* etwd_peer_answer() - a message of @type with a status and nothing else. */
void etwd_peer_answer(struct etwd_peer *peer, uint32_t type, uint32_t request, int status);

/*
 * etwd_peer_refuse() - tells the log that a peer did not get something.
 *
 * @what: what it wanted
 */
void etwd_peer_refuse(const struct etwd_peer *peer, const char *what, int status);

/* etwd_peer_limit() - a sentence about what etwd_budget_take() returned. */
const char *etwd_peer_limit(int status);

#endif
