/* SPDX-License-Identifier: MIT */
/*
 * Calls of the controller's API to the hosts. A connection is kept between calls, one an instance; calls at
 * the same time have one each, so that a call that waits for a callback never holds up the calls which that
 * callback makes.
 */
#ifndef ETW_API_CONTROL_HOSTS_H
#define ETW_API_CONTROL_HOSTS_H

#include <etw/wintypes.h>

#include "wire/message.h"

/*
 * etw_hosts_start() - starts a session where it belongs, and the host too if need be.
 *
 * Returns as etw_control_start(); -EACCES when only the system's host could take it and there is none.
 */
int etw_hosts_start(const struct wire_session_config *config, struct wire_session_info *ret);

/* etw_hosts_control() - as etw_control(), in the first instance that knows the session. */
int etw_hosts_control(const struct wire_control *control, struct wire_session_info *ret);

/* etw_hosts_enable() - as etw_control_enable(), in the first instance that knows the session. */
int etw_hosts_enable(const struct wire_enable_provider *enable);

/*
 * etw_hosts_list() - the sessions of every instance; those of one's own first.
 *
 * @ret: room for @room handles
 *
 * Returns 0 with the number of all sessions, which may exceed @room; errno of talking to a host.
 */
int etw_hosts_list(uint64_t *ret, size_t room, size_t *ret_count);

/*
 * etw_hosts_error() - the Win32 code of what the above returned: sessions are WMI instances, and what is
 * full is a table of the host.
 */
ULONG etw_hosts_error(int result);

#endif
