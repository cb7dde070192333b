/* SPDX-License-Identifier: MIT */
/*
 * AutoLoggers: sessions that the host starts by itself, from the files of configuration of its instance, before it accepts
 * connections. What became of each is written back (autologger/status.h).
 *
 * A session that a controller has stopped stays stopped until the machine is booted again; one that ended in another way
 * (its host was told to leave, or could not be saved) is started by the next host.
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_AUTOLOGGERS_H
#define ETW_DAEMON_AUTOLOGGERS_H

#include <stdbool.h>

#include "daemon/session_start.h"

struct etwd_autologger;

struct etwd_autologgers {
	struct etwd_autologger *first;          /* owned */
	char *config_folder, *state_folder;     /* owned; NULL: the instance has none */
	const struct etwd_session_parts *parts; /* borrowed */
};

/*
 * etwd_autologgers_start() - reads the files, and starts those sessions that are to run and do not yet. Called once the
 * sessions of the last host were adopted: those of them that a file names are taken over.
 *
 * A file that is not sound, and a session that cannot be started, is a line in the log and a status; the host goes on.
 */
void etwd_autologgers_start(struct etwd_autologgers *autologgers, bool is_system,
			    const struct etwd_session_parts *parts);

/* etwd_autologgers_done() - frees everything; no session of them may be there any more. */
void etwd_autologgers_done(struct etwd_autologgers *autologgers);

#endif
