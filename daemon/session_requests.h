/* SPDX-License-Identifier: MIT */
/*
 * What controllers ask of sessions, after a look at who may: START, CONTROL, LIST, STATISTICS_QUERY and LEASE. The
 * handlers return 0, or -EPROTO when the message is not sound.
 */
#ifndef ETW_DAEMON_SESSION_REQUESTS_H
#define ETW_DAEMON_SESSION_REQUESTS_H

#include "daemon/session_end.h"

int etwd_session_handle_start(const struct etwd_session_parts *parts, struct etwd_peer *peer,
			      const struct etw_ipc_message *message);
int etwd_session_handle_control(const struct etwd_session_parts *parts, struct etwd_peer *peer,
				const struct etw_ipc_message *message);
int etwd_session_handle_list(const struct etwd_session_parts *parts, struct etwd_peer *peer,
			     const struct etw_ipc_message *message);
int etwd_session_handle_statistics(const struct etwd_session_parts *parts, struct etwd_peer *peer,
				   const struct etw_ipc_message *message);
int etwd_session_handle_lease(const struct etwd_session_parts *parts, struct etwd_peer *peer,
			      const struct etw_ipc_message *message);

#endif
