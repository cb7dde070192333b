/* SPDX-License-Identifier: MIT */
/*
 * The standby: a process that holds what the keeper holds and does nothing until the keeper is gone. Then it is the
 * keeper. It is a fork of the keeper, so it has everything from its first moment; what comes later the
 * keeper tells it before it takes it for done itself.
 * Source: docs/design/recording.md "The standby".
 */
#ifndef ETW_DAEMON_STANDBY_H
#define ETW_DAEMON_STANDBY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/keeper_message.h"

/* Between a standby that lived for a short time, or could not be made, and the next one. */
#define ETWD_STANDBY_PAUSE_MS 1000

/* The keeper's side. */
struct etwd_standby {
	pid_t pid;       /* 0: none */
	int socket;      /* owned: to it; -1: none */
	uint64_t due_ms; /* of the next one; CLOCK_BOOTTIME */
};

/* etwd_standby_init() - none. */
void etwd_standby_init(struct etwd_standby *standby);

/*
 * etwd_standby_start() - forks it.
 *
 * @ret_socket: in the standby: owned, to the keeper; it breaks when that is gone
 *
 * Returns 0; 1 in the standby; or the errno of socketpair, fork, and then there is none until the pause is over.
 */
int etwd_standby_start(struct etwd_standby *standby, uint64_t now_ms, int *ret_socket);

/*
 * etwd_standby_tell() - passes a message on. One that does not take it within a second is ended: the next one
 * has it from the keeper's own memory.
 *
 * @fd: borrowed; -1: none
 */
void etwd_standby_tell(struct etwd_standby *standby, const struct etwd_keeper_message *message,
		       int fd);

/* etwd_standby_check() - notices that it has ended. Returns true when there is none. */
bool etwd_standby_check(struct etwd_standby *standby);

/* etwd_standby_close() - in another process that was forked from the keeper: it is none of its own. */
void etwd_standby_close(struct etwd_standby *standby);

/* etwd_standby_end() - ends it, and waits until it has. */
void etwd_standby_end(struct etwd_standby *standby);

#endif
