/* SPDX-License-Identifier: MIT */
/*
 * INFORM: those classes of TraceQueryInformation and TraceSetInformation that a host answers. What they set lies in the
 * session (struct etwd_session_settings) and is handed over to the next host.
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_INFORMATION_H
#define ETW_DAEMON_INFORMATION_H

#include <stdint.h>

#include "daemon/session_end.h"

/*
 * etwd_information_handle() - does what is asked and answers with INFORMATION.
 *
 * To ask takes ETWD_ACT_QUERY, to set ETWD_ACT_CONTROL; who has states captured also needs TRACELOG_GUID_ENABLE of each
 * provider. -EMSGSIZE: bytes of the wrong number; -EINVAL: too often, or too many providers;
 * -EOPNOTSUPP: a class or setting that is not built.
 *
 * Returns 0, or -EPROTO when the body is not sound.
 */
int etwd_information_handle(const struct etwd_enable_parts *parts, struct etwd_peer *peer,
			    const struct etw_ipc_message *message);

/* etwd_information_check() - captures the states that are due. Returns when the next ones are; 0: never. */
uint64_t etwd_information_check(const struct etwd_session_parts *parts, uint64_t now_ms);

#endif
