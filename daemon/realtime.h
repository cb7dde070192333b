/* SPDX-License-Identifier: MIT */
/*
 * Real-time consumers: SUBSCRIBE, and what a session's thread has for them. One session a connection.
 *
 * Context: owner thread (the host's loop), but for what sessions call.
 */
#ifndef ETW_DAEMON_REALTIME_H
#define ETW_DAEMON_REALTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/inbox.h"
#include "daemon/peer.h"
#include "daemon/sessions.h"

struct etwd_realtime {
	struct etwd_subscription *first; /* owned */
	struct etwd_sessions *sessions;  /* borrowed, as the next two */
	struct etwd_peers *peers;
	struct etwd_inbox *inbox;
};

/* The part of a client: what it reads. Zeroed: nothing. */
struct etwd_consumer {
	struct etwd_subscription *subscription; /* NULL: none */
};

struct etwd_subscription {
	struct etwd_subscription *next;
	struct etwd_realtime *realtime;
	struct etwd_session *session;
	struct etw_subscriber *subscriber; /* the engine's */
	/* These two never change: the session's thread reads them. */
	uint64_t peer_serial;
	struct etwd_consumer *consumer; /* there as long as the peer with this number is */
	bool is_abandoned;              /* the peer is gone */
	uid_t uid;                      /* whose it is */
	uint64_t charged_bytes;         /* of its budget */
	struct wire_batch held; /* batches in one, while the peer does not read; the loop's */
	bool has_held;
};

/*
 * etwd_realtime_subscribe() - handles SUBSCRIBE.
 *
 * @consumer: of @peer's client
 *
 * Returns 0; -EPROTO: the message is not sound.
 */
int etwd_realtime_subscribe(struct etwd_realtime *realtime, struct etwd_consumer *consumer,
			    struct etwd_peer *peer, const struct etw_ipc_message *message);

/* etwd_realtime_gone() - a peer is gone: nobody reads its subscription any more. */
void etwd_realtime_gone(struct etwd_realtime *realtime, struct etwd_consumer *consumer);

/* etwd_realtime_session_ended() - frees the subscriptions of a session that was stopped. */
void etwd_realtime_session_ended(struct etwd_realtime *realtime,
				 const struct etwd_session *session);

#endif
