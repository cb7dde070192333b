/* SPDX-License-Identifier: MIT */
/*
 * How far apart the samples are of sessions that have named no interval: of all of them at once, as Windows has it for the
 * machine. It lies in a file of the runtime directory, so that it holds until the machine is started anew, whether a host runs
 * or not.
 *
 * Context: owner thread (the host's loop); the sessions' threads read `ft`.
 */
#ifndef ETW_DAEMON_PROFILE_INTERVAL_H
#define ETW_DAEMON_PROFILE_INTERVAL_H

#include <stdint.h>

#include "daemon/session_end.h"

#define ETWD_PROFILE_INTERVAL_FILE "profile-interval"

struct etwd_profile_interval {
	const char *directory; /* borrowed; of the file */
	uint32_t ft;           /* 100 ns; 0: nobody has set it; atomic */
};

/* etwd_profile_interval_open() - reads what was set before; what is no interval is none. */
void etwd_profile_interval_open(struct etwd_profile_interval *interval, const char *directory);

/*
 * etwd_profile_interval_handle() - TRACE_PROFILE_INTERVAL of no session, asked for or set; answers with INFORMATION.
 *
 * To set it takes root or whose host it is: -EACCES. -EMSGSIZE: bytes of the wrong number; -EOPNOTSUPP: another source than
 * the clock; -EINVAL: out of range; the errno of writing the file.
 */
void etwd_profile_interval_handle(struct etwd_profile_interval *interval,
				  const struct etwd_session_parts *parts, struct etwd_peer *peer,
				  const struct wire_inform *body, uint32_t request);

#endif
