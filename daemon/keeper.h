/* SPDX-License-Identifier: MIT */
/*
 * The keeper: the host's parent. It holds descriptors by name, starts a new host when one dies, and does
 * nothing else: it parses nothing that a stranger sends.
 * Source: docs/design/recording.md "The keeper".
 */
#ifndef ETW_DAEMON_KEEPER_H
#define ETW_DAEMON_KEEPER_H

#include <stdbool.h>

struct etwd_keeper_callbacks {
	void *context;
	/* A host's life, in its own process; the exit status. @socket: owned by the host. */
	int (*run_host)(void *context, int socket);
	/* The first host accepts connections; or there will be none (@status is not 0). Once. */
	void (*report_ready)(void *context, int status);
	/* No host is left, and the last one could not clean up. */
	void (*clean_up)(void *context);
};

/*
 * etwd_keeper_run() - keeps hosts running until one ends by itself.
 *
 * SIGTERM and SIGINT go on to the host. A host that dies of SIGKILL (somebody's, or for lack of memory)
 * is always replaced once it had been ready; other deaths are limited. Returns the exit status for the keeper;
 * in the host's process it does not return. Context: a process with one thread.
 */
int etwd_keeper_run(const struct etwd_keeper_callbacks *callbacks);

#endif
