/* SPDX-License-Identifier: MIT */
/*
 * Registering and enabling: what processes and controllers say about providers, and what processes are told.
 * The state that is told is whole each time, so that a message can replace any other.
 */
#ifndef ETW_DAEMON_ENABLE_H
#define ETW_DAEMON_ENABLE_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/client.h"
#include "daemon/grants.h"
#include "daemon/handover.h"
#include "daemon/sessions.h"

/* The parts of the host that enabling touches. All borrowed. */
struct etwd_enable_parts {
	struct etwd_peers *peers;
	struct etwd_providers *providers;
	struct etwd_grants *grants;
	struct etwd_sessions *sessions;
	struct etwd_handover *handover;
	struct etwd_ring_holders *ring_holders;
	struct etwd_waits *waits;
	const struct etw_session_host *environment; /* whose sources own providers; NULL: none do */
};

/* Handlers of REGISTER, TRAITS, UNDELIVERED, UNREGISTER and ENABLE_PROVIDER: 0, or -EPROTO when the body is not sound. */
int etwd_enable_register(const struct etwd_enable_parts *parts, struct etwd_client *client,
			 const struct etw_ipc_message *message);
int etwd_enable_traits(const struct etwd_enable_parts *parts, struct etwd_client *client,
		       const struct etw_ipc_message *message);
int etwd_enable_undelivered(const struct etwd_enable_parts *parts, struct etwd_client *client,
			    const struct etw_ipc_message *message);
int etwd_enable_unregister(const struct etwd_enable_parts *parts, struct etwd_client *client,
			   const struct etw_ipc_message *message);
int etwd_enable_provider(const struct etwd_enable_parts *parts, struct etwd_client *client,
			 const struct etw_ipc_message *message);

/*
 * etwd_enable_own() - enables a provider in a session for the host itself; nobody waits for callbacks.
 *
 * Returns 0; what is refused as it would be to a controller: -EINVAL, -EOPNOTSUPP, -ENOSPC, -ENOMEM.
 */
int etwd_enable_own(const struct etwd_enable_parts *parts, const struct etwd_session *session,
		    const struct wire_enable_provider *body);

/* etwd_enable_is_source() - whether a source owns a provider: its requests are those of daemon/source_providers.h. */
bool etwd_enable_is_source(const struct etwd_enable_parts *parts, const GUID *provider);

/*
 * etwd_enable_note() - what a session wants of a provider, for lists and the next host; nobody is told.
 *
 * Returns 0; -EINVAL: no such code; -ENOSPC; -ENOMEM.
 */
int etwd_enable_note(const struct etwd_enable_parts *parts, const struct etwd_session *session,
		     const struct wire_enable_provider *body);

/*
 * etwd_enable_withdraw() - takes everything back that a session has enabled, without callbacks yet.
 *
 * @wait: borrowed: counts the processes that are still to answer
 */
void etwd_enable_withdraw(const struct etwd_enable_parts *parts, struct etwd_session *session,
			  struct etwd_wait *wait);

/* etwd_enable_call_back() - has the callbacks run of what etwd_enable_withdraw() took back. */
void etwd_enable_call_back(const struct etwd_enable_parts *parts,
			   const struct etwd_session *session);

/*
 * etwd_enable_capture() - asks a provider for its state, in the level and with the keywords that a session has enabled it
 * with. Nothing where that has not.
 */
void etwd_enable_capture(const struct etwd_enable_parts *parts, const struct etwd_session *session,
			 const GUID *guid);

/*
 * etwd_enable_disallow() - a session keeps these providers from being enabled with their groups from now on, and no others.
 *
 * @guids: the session's from now on; NULL: none
 */
void etwd_enable_disallow(const struct etwd_enable_parts *parts, struct etwd_session *session,
			  GUID *guids, size_t count);

/*
 * etwd_enable_ring_replaced() - processes of a uid are told their new ring set of a session.
 *
 * Returns 0; where none can be made, -ENOENT: no such session, or what etw_session_ring_set() said: then they
 * keep the one that they have.
 */
int etwd_enable_ring_replaced(const struct etwd_enable_parts *parts, uint32_t session_id,
			      uid_t uid);

/*
 * etwd_enable_check() - tells processes anew for whom the host had no descriptors or memory, when it is time. Returns
 * when it is time again; 0: there are none.
 */
#define ETWD_RINGS_AGAIN_MS 2000
uint64_t etwd_enable_check(const struct etwd_enable_parts *parts, uint64_t now_ms);

#endif
