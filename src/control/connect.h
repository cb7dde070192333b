/* SPDX-License-Identifier: MIT */
/* Getting a connection to the host of a runtime directory, and starting that host where there is none. */
#ifndef ETW_CONTROL_CONNECT_H
#define ETW_CONTROL_CONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include "control/wait.h"
#include "ipc/connection.h"

/*
 * etw_control_connect() - connects to the host of @wait's directory, and says hello.
 *
 * @may_start: start a host when there is none
 * @message:   initialised; what the host answers is received into it
 *
 * Returns 0 with an owned non-blocking socket; -ENOENT and -ECONNREFUSED without a host; otherwise as
 * etw_controller_open().
 */
int etw_control_connect(struct etw_control_wait *wait, bool may_start,
			struct etw_ipc_message *message, int *ret_socket,
			uint64_t *ret_incarnation);

#endif
