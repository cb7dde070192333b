/* SPDX-License-Identifier: MIT */
/*
 * Who may do what: a peer's uid and groups as SIDs, and what the descriptor of a session or provider says of them. Root
 * and the uid whose host it is may do everything.
 * Source: docs/format/security.md "Who somebody is", "What is checked where".
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_ACCESS_H
#define ETW_DAEMON_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <guiddef.h>

#include "daemon/descriptors.h"
#include "daemon/peer.h"
#include "wire/message.h"

/* A peer's SIDs, made once for several questions about it. */
struct etwd_token {
	struct wire_sid *sids; /* owned */
	size_t count;
	bool is_trusted;
};

/* etwd_token_init() - returns 0; -ENOMEM; -EACCES: the groups cannot be read. etwd_token_done() ends it in any case. */
int etwd_token_init(struct etwd_token *token, const struct etwd_peer *peer);
void etwd_token_done(struct etwd_token *token);

/*
 * etwd_token_check() - as etwd_access_check(), of a peer whose token is there already.
 *
 * @token: of @peer
 */
int etwd_token_check(const struct etwd_token *token, const struct etwd_descriptors *security,
		     const struct etwd_peer *peer, const GUID *guid, uint32_t rights,
		     const char *what);

/* etwd_token_rights() - all that the peer may do with a session or provider. */
uint32_t etwd_token_rights(const struct etwd_token *token, const struct etwd_descriptors *security,
			   const GUID *guid);

/*
 * etwd_access_rights() - all that a peer may do with a session or provider: WMIGUID_* and TRACELOG_*. None, when there is
 * no memory to find out, or the peer's groups cannot be read.
 */
uint32_t etwd_access_rights(const struct etwd_descriptors *security, const struct etwd_peer *peer,
			    const GUID *guid);

/*
 * etwd_access_check() - whether a peer has all of these rights. What the SACL asks for goes to the log.
 *
 * @what: what it wants to do, for the log
 *
 * Returns 0; -EACCES, also when the peer's groups cannot be read; -ENOMEM.
 */
int etwd_access_check(const struct etwd_descriptors *security, const struct etwd_peer *peer,
		      const GUID *guid, uint32_t rights, const char *what);

/*
 * etwd_access_mode_rights() - what a session of this configuration takes, to start as to control: TRACELOG_CREATE_REALTIME,
 * TRACELOG_CREATE_ONDISK.
 */
uint32_t etwd_access_mode_rights(const struct wire_session_config *config);

/* etwd_access_may_start() - whether a peer may start such a session. Returns as etwd_access_check(). */
int etwd_access_may_start(const struct etwd_descriptors *security, const struct etwd_peer *peer,
			  const struct wire_session_config *config);

#endif
