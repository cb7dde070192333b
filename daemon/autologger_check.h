/* SPDX-License-Identifier: MIT */
/*
 * What the host would refuse of its files of configuration, without starting anything: for `etw doctor`. It is settled by
 * what starts sessions (etw_session_check()), so that both come to the same answer.
 */
#ifndef ETWD_AUTOLOGGER_CHECK_H
#define ETWD_AUTOLOGGER_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "session/common/host.h"

/*
 * etwd_autologger_check() - prints a line for each session that the host would try to start and refuse: its name, a tab, and why.
 *
 * @host: what a session would ask; its `kernel` is looked at
 *
 * Files that cannot be read, and sessions that are not to start, are passed over: the reader of the files tells of the first.
 * Returns 0 or the negative errno of reading the folder.
 */
int etwd_autologger_check(bool is_system, const struct etw_session_host *host, FILE *out);

#endif
