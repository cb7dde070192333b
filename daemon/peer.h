/* SPDX-License-Identifier: MIT */
/*
 * A process at the other end of a connection. What it is sent goes out at once or waits in a queue of
 * bounded length; a peer that lets its queue overflow is disconnected. A peer is never freed while
 * something may still hold it: it is doomed, and goes at the end of the loop's round.
 */
#ifndef ETW_DAEMON_PEER_H
#define ETW_DAEMON_PEER_H

#include "daemon/host.h"

#define ETWD_QUEUE_MESSAGES_MAX      8192
#define ETWD_QUEUE_BYTES_MAX         (4 * 1024 * 1024)
#define ETWD_HELLO_TIMEOUT_MS        10000
#define ETWD_SWEEP_PEERS_MAX         256  /* freed in a round of the loop */
#define ETWD_SWEEP_REGISTRATIONS_MAX 2048 /* of theirs, ended in a round */

struct etwd_packet {
	struct etwd_packet *next;
	size_t bytes;
	int fds[WIRE_MESSAGE_FDS_MAX]; /* owned */
	unsigned fd_count;
	uint8_t body[];
};

/* A ring set that this peer was told of. */
struct etwd_peer_ring {
	uint32_t session_id;
	uint32_t ring_set;
	bool is_retiring; /* RING_RETIRE was sent */
};

struct etwd_subscription;

struct etwd_peer {
	struct etwd_host *host;
	struct etwd_peer *next, **at;
	struct etwd_peer *next_of_serial; /* in the host's table */
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

	uint64_t late_ms; /* so long it could not connect, as it says; 0: it did not say so */
	int late_status;

	struct etwd_registrations registrations;
	struct etwd_peer_ring *rings; /* owned */
	size_t ring_count;
	struct etwd_answers answers;
	struct etwd_subscription *subscription; /* its session's; NULL: none */
};

/* What happens to peers. The host has one of these for all of them. */
struct etwd_peer_callbacks {
	/* A message. Returns 0, or -EPROTO: the peer does not keep to the protocol. */
	int (*handle)(struct etwd_peer *peer, struct etw_ipc_message *message);
	/* It is disconnected, and out of the list: undo what it held. */
	void (*gone)(struct etwd_peer *peer);
};

/* etwd_peers_init() - none. etwd_peers_done() - dooms and frees all. */
void etwd_peers_init(struct etwd_host *host);
void etwd_peers_done(struct etwd_host *host);

/* etwd_peers_accept() - takes the connections that wait. */
void etwd_peers_accept(struct etwd_host *host);

/*
 * etwd_peers_add() - takes a connection that was accepted.
 *
 * @fd: taken
 * @who: who is at its other end
 *
 * Returns 0; -ETOOMANYREFS, -EUSERS: too many, which the other end is told; -ENOMEM; errno of epoll_ctl.
 */
int etwd_peers_add(struct etwd_host *host, int fd, const struct etw_peer *who,
		   struct etwd_peer **ret);

/* etwd_peers_ready() - handles what epoll has for peers that are not trusted. */
void etwd_peers_ready(struct etwd_host *host);

/*
 * etwd_peers_sweep() - frees the doomed ones, and ends what they had registered: so much at a time that the
 * loop goes on.
 *
 * Returns true when there is more to do.
 */
bool etwd_peers_sweep(struct etwd_host *host);

/* etwd_peer_greeted() - it has said HELLO, in this role. */
void etwd_peer_greeted(struct etwd_peer *peer, uint32_t role);

/* etwd_peers_check_hello() - dooms those that connected and say nothing. Returns the next time to look. */
uint64_t etwd_peers_check_hello(struct etwd_host *host, uint64_t now_ms);

/* etwd_peer_find() - by serial number; NULL: it is gone. */
struct etwd_peer *etwd_peer_find(struct etwd_host *host, uint64_t serial);

/* etwd_peer_ready() - epoll has something for it. */
void etwd_peer_ready(struct etwd_peer *peer, uint32_t events);

/* etwd_peer_doom() - disconnects it soon. @why: a clause for the log; NULL: it left by itself. */
void etwd_peer_doom(struct etwd_peer *peer, const char *why);

/*
 * etwd_peer_send() - sends @bytes bytes of host->room, or queues them.
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
