/* SPDX-License-Identifier: MIT */
/*
 * The session host: one thread, the *loop*, that talks to every process, and what it owns. A session's own
 * thread and the jobs (daemon/jobs.h) hand things to the loop through its inbox; all else in here belongs
 * to the loop. Nothing in the loop waits for a peer.
 * Source: docs/design/recording.md "Who is who", "Conversation".
 */
#ifndef ETW_DAEMON_HOST_H
#define ETW_DAEMON_HOST_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/clock.h"
#include "daemon/grants.h"
#include "daemon/inbox.h"
#include "daemon/keeper_store.h"
#include "daemon/memory.h"
#include "daemon/pids.h"
#include "daemon/registry.h"
#include "ipc/connection.h"
#include "session/session.h"
#include "wire/discovery_page.h"
#include "wire/message.h"

#define ETWD_SESSIONS_MAX           64
#define ETWD_SYSTEM_SESSION_ID_LAST 63
#define ETWD_USER_SESSION_ID_FIRST  0x100

/* What main() found out; outlives every host. */
struct etwd_options {
	char directory[PATH_MAX]; /* of the instance */
	bool is_system;
	bool is_foreground;
	bool is_socket_foreign; /* systemd's: must go on listening when the host leaves */
	int listener;           /* owned by main() */
	uint32_t idle_ms;
	struct wire_discovery_page *page;
};

struct etwd_peer;
struct etwd_session;
struct etwd_wait;

struct etwd_host {
	const struct etwd_options *options;
	struct etwd_keeper_store store;
	struct etwd_memory memory;
	struct etwd_registry registry;
	struct etwd_grants grants;
	struct etwd_pids pids;
	struct etwd_inbox inbox;
	struct etwd_clock clock;
	struct etw_session_host session_host;
	uint64_t incarnation;
	int epoll_fd, signal_fd; /* owned */

	pthread_mutex_t
		peers_lock; /* who changes the list, or reads it in another thread, holds it */
	struct etwd_peer *peers;
	const struct etwd_peer_callbacks *peer_callbacks;
	unsigned peer_count, peers_max;
	unsigned parked_count; /* sockets that cannot be closed: daemon/peer.c */
	uint64_t next_peer_serial;
	uint64_t accept_again_ms; /* when descriptors ran out; 0: accepting */
	bool has_doomed_peers;

	struct etwd_session *sessions[ETWD_SESSIONS_MAX];
	uint32_t last_session_id;
	struct etwd_wait *waits;
	uint32_t next_request; /* of messages from here that want an answer */
	/*
	 * Processes that wait for a host need a moment to connect to a new one. Until then who enables a
	 * provider and waits for its callbacks waits for theirs, too.
	 */
	uint64_t settle_ms;

	uint32_t group;         /* of WIRE_CONTROL_GROUP; UINT32_MAX: there is none */
	uint64_t idle_since_ms; /* 0: in use */
	bool is_leaving;        /* told to: no new sessions, those that run are stopped */
	uint64_t leave_by_ms;

	struct etw_ipc_message incoming;
	uint8_t room[WIRE_MESSAGE_BYTES_MAX]; /* for the message that is being made */
};

/* etwd_host_main() - a host's life. @socket: to the keeper, taken. Returns the exit status. */
int etwd_host_main(const struct etwd_options *options, int socket);

#endif
