/* SPDX-License-Identifier: MIT */
/*
 * Calls of the controller's API to the hosts. A connection is kept between calls, one an instance; calls at
 * the same time have one each, so that a call that waits for a callback never holds up the calls which that
 * callback makes.
 */
#ifndef ETW_API_CONTROL_HOSTS_H
#define ETW_API_CONTROL_HOSTS_H

#include <etw/wintypes.h>

#include "control/control.h"
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
 * etw_hosts_access() - as etw_control_access(), in the instance that would get a session of this user's that is not the
 * kernel's; its host is started if need be.
 */
int etw_hosts_access(const struct wire_access *access, struct etw_control_answer *ret);

/* Is given one part of a list. Returns 0, or what ends the enumeration. */
typedef int etw_hosts_visit(void *context, const struct etw_control_answer *part);

/*
 * etw_hosts_enumerate() - all parts of a list, of every instance. Each is checked before @visit is given it.
 *
 * Returns 0, also when no instance knows of it; -EPROTO: a part is not sound, or the list does not end; -ENOMEM; what
 * @visit returned; errno of talking to a host.
 */
int etw_hosts_enumerate(uint32_t code, const GUID *guid, etw_hosts_visit *visit, void *context);

/*
 * etw_hosts_inform() - as etw_control_inform(), in the first instance that knows the session.
 *
 * With a handle 0 the first instance that is there answers; -ENOENT: none is.
 */
int etw_hosts_inform(const struct wire_inform *inform, struct etw_control_answer *ret);

/*
 * etw_hosts_inform_machine() - as etw_control_inform() without a session, in the instance that records the kernel for this
 * user; its host is started if need be. -EACCES when there is none.
 */
int etw_hosts_inform_machine(const struct wire_inform *inform, struct etw_control_answer *ret);

/*
 * etw_hosts_error() - the Win32 code of what the above returned: sessions are WMI instances, and what is
 * full is a table of the host.
 */
ULONG etw_hosts_error(int result);

#endif
