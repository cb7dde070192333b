/* SPDX-License-Identifier: MIT */
/* EventAccessControl, EventAccessQuery, EventAccessRemove: a controller's ACCESS. */
#ifndef ETW_DAEMON_ACCESS_REQUESTS_H
#define ETW_DAEMON_ACCESS_REQUESTS_H

#include "daemon/descriptors.h"
#include "daemon/peer.h"

/*
 * etwd_access_request_handle() - does what is asked and answers with DESCRIPTOR.
 *
 * Root and the host's own uid alone change descriptors: -EACCES. A descriptor is shown to them, to the group that
 * controls this instance, and to whom it grants WMIGUID_READ_DESCRIPTION or READ_CONTROL.
 *
 * Returns 0, or -EPROTO when the body is not sound.
 */
int etwd_access_request_handle(struct etwd_descriptors *security, struct etwd_peer *peer,
			       const struct etw_ipc_message *message);

#endif
