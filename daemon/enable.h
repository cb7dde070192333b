/* SPDX-License-Identifier: MIT */
/*
 * Registering and enabling: what processes and controllers say about providers, and what processes are told.
 * The state that is told is whole each time, so that a message can replace any other.
 */
#ifndef ETW_DAEMON_ENABLE_H
#define ETW_DAEMON_ENABLE_H

#include "daemon/client.h"
#include "daemon/host.h"

/* Handlers of REGISTER, UNREGISTER and ENABLE_PROVIDER (daemon/dispatch.h). */
int etwd_enable_register(struct etwd_peer *peer, const struct etw_ipc_message *message);
int etwd_enable_undelivered(struct etwd_peer *peer, const struct etw_ipc_message *message);
int etwd_enable_unregister(struct etwd_peer *peer, const struct etw_ipc_message *message);
int etwd_enable_provider(struct etwd_peer *peer, const struct etw_ipc_message *message);

/*
 * etwd_enable_withdraw() - takes everything back that a session has enabled, without callbacks yet.
 *
 * @wait: borrowed: counts the processes that are still to answer
 */
void etwd_enable_withdraw(struct etwd_session *session, struct etwd_wait *wait);

/* etwd_enable_call_back() - has the callbacks run of what etwd_enable_withdraw() took back. */
void etwd_enable_call_back(struct etwd_session *session);

/*
 * etwd_enable_ring_replaced() - processes of a uid are told their new ring set of a session.
 *
 * Returns 0; where none can be made, -ENOENT: no such session, or what etw_session_ring_set() said: then they
 * keep the one that they have.
 */
int etwd_enable_ring_replaced(struct etwd_host *host, uint32_t session_id, uid_t uid);

#endif
