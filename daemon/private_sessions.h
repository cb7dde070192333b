/* SPDX-License-Identifier: MIT */
/*
 * Private sessions that another process controls: each process that has registered the provider makes one of its own, with
 * its own rights; the host carries what the controller says to all of them, and to those that come later, and puts their
 * answers together. A session of root's is in every process, any other in those of its user alone: nobody makes another
 * user's process write a file.
 * Source: docs/design/recording.md "Private sessions".
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_PRIVATE_SESSIONS_H
#define ETW_DAEMON_PRIVATE_SESSIONS_H

#include "daemon/client.h"
#include "daemon/descriptors.h"
#include "daemon/handover.h"
#include "daemon/private_table.h"

#define ETWD_PRIVATE_WAIT_MS 10000 /* for the processes' answers */

/* The parts of the host that these sessions touch. All borrowed. */
struct etwd_private_parts {
	struct etwd_peers *peers;
	struct etwd_private_table *table;
	struct etwd_providers *providers;
	struct etwd_handover *handover;
	struct etwd_waits *waits;
	const struct etwd_descriptors *security;
};

/*
 * etwd_private_start() - START of a private session without PRIVATE_IN_PROC: in every process that has registered the
 * provider. That the peer may start it was checked.
 *
 * Returns 0: the peer is answered when the processes have answered; -EINVAL; those of etwd_private_table_add().
 */
int etwd_private_start(const struct etwd_private_parts *parts, struct etwd_peer *peer,
		       const struct wire_session_config *config, uint32_t request);

/*
 * etwd_private_control() - CONTROL, of such a session.
 *
 * Returns 0: as above; -ENOENT: there is none, or none that the peer may control; -EBUSY: it is stopping; -EINVAL: a code
 * that these sessions do not have, or a file without its whole path; -EACCES: another user than the session's names a
 * file; -ENOMEM.
 */
int etwd_private_control(const struct etwd_private_parts *parts, struct etwd_peer *peer,
			 const struct wire_control *body, uint32_t request);

/* etwd_private_enable() - the handler of ENABLE_PROVIDER for such handles. Returns 0 or -EPROTO. */
int etwd_private_enable(const struct etwd_private_parts *parts, struct etwd_client *client,
			const struct etw_ipc_message *message);

/* etwd_private_is_handle() - whether a handle is that of such a session. */
static inline bool etwd_private_is_handle(uint64_t handle)
{
	return handle >= WIRE_OUTSIDE_SESSION_ID_FIRST && handle <= WIRE_OUTSIDE_SESSION_ID_LAST;
}

/* etwd_private_meet() - sessions may want what a process has registered just now. */
void etwd_private_meet(const struct etwd_private_parts *parts, struct etwd_client *client);

/* etwd_private_answered() - the handler of PRIVATE_DONE. Returns 0 or -EPROTO. */
int etwd_private_answered(const struct etwd_private_parts *parts, struct etwd_client *client,
			  const struct etw_ipc_message *message);

#endif
