/* SPDX-License-Identifier: MIT */
/*
 * The process whose tree alone a session is to record, as a controller names it: whether it may.
 *
 * Context: owner thread (the host's loop); reads procfs.
 */
#ifndef ETW_DAEMON_ONLY_PID_H
#define ETW_DAEMON_ONLY_PID_H

#include "daemon/peer.h"
#include "wire/message.h"

/*
 * etwd_only_pid_check() - root, and whose host it is, may name any process; others one that descends from theirs.
 *
 * Returns 0, also when none is named; -ESRCH: there is no such process; -EACCES: it is none of the peer's; -EXDEV: numbers
 * of processes mean something else to the peer, which is in another pid namespace.
 */
int etwd_only_pid_check(const struct etwd_peer *peer, const struct wire_kernel_request *request);

#endif
