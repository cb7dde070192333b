/* SPDX-License-Identifier: MIT */
/* Real-time consumers: SUBSCRIBE, and what a session's thread has for them. One session a connection. */
#ifndef ETW_DAEMON_REALTIME_H
#define ETW_DAEMON_REALTIME_H

#include "daemon/client.h"
#include "daemon/host.h"

struct etwd_subscription {
	struct etwd_subscription *next; /* of the session */
	struct etwd_host *host;
	struct etwd_session *session;
	struct etw_subscriber *subscriber; /* the engine's */
	struct etwd_peer *peer;            /* NULL: gone; the loop's */
	uint64_t peer_serial;              /* for the session's thread; never changes */
	struct wire_batch held; /* batches in one, while the peer does not read; the loop's */
	bool has_held;
};

/* Handler of SUBSCRIBE (daemon/dispatch.h). */
int etwd_realtime_subscribe(struct etwd_peer *peer, const struct etw_ipc_message *message);

/* etwd_realtime_peer_gone() - nobody reads this subscription any more. */
void etwd_realtime_peer_gone(struct etwd_peer *peer);

/* etwd_realtime_session_ended() - frees the subscriptions of a session that was stopped. */
void etwd_realtime_session_ended(struct etwd_session *session);

#endif
