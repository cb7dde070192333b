/* SPDX-License-Identifier: MIT */
/*
 * The keeper: the host's parent. It holds descriptors by name, starts a new host when one dies, and does
 * nothing else: it parses nothing that a stranger sends. When it is gone its standby (daemon/standby.h) goes on in its
 * place, with the host that there is or with the next one.
 * Source: docs/design/recording.md "The keeper".
 */
#ifndef ETW_DAEMON_KEEPER_H
#define ETW_DAEMON_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct etwd_keeper_callbacks {
	void *context;
	/* A host's life, in its own process; the exit status. @socket: owned by the host. */
	int (*run_host)(void *context, int socket);
	/* The first host accepts connections; or there will be none (@status is not 0). Once. */
	void (*report_ready)(void *context, int status);
	/* No host is left, and the last one could not clean up. */
	void (*clean_up)(void *context);
	/* Why there is no host just now, as an errno and a sentence; 0 and NULL: there is one. */
	void (*explain)(void *context, int error, const char *sentence);
	/* Which processes there are now; @standby: 0: none. May be NULL. */
	void (*tell_pids)(void *context, pid_t keeper, pid_t standby, pid_t host);
	/* A host that was ready and lived at least so long did not live for a short time. */
	uint32_t steady_ms;
};

/*
 * etwd_keeper_run() - keeps hosts running until one ends by itself.
 *
 * SIGTERM and SIGINT go on to the host. A host that dies is replaced: at once, but the next ones after
 * pauses of 10 ms, 20 ms ... 5 s while hosts in a row live for a short time only. The keeper gives up after
 * ETWD_SHORT_LIVES_MAX of these, whatever they died of; while no host was ever ready, after the first one, or
 * after ETWD_FIRST_LIVES_MAX that SIGKILL ended; and after five deaths in a minute that are not SIGKILL's.
 * Returns the exit status for the keeper, also in a standby that has become it; in the host's process it does
 * not return. Context: a process with one
 * thread.
 */
#define ETWD_SHORT_LIVES_MAX 20
#define ETWD_FIRST_LIVES_MAX 5
int etwd_keeper_run(const struct etwd_keeper_callbacks *callbacks);

#endif
