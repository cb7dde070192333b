/* SPDX-License-Identifier: MIT */
/* What a tool says of a host of sessions that does not answer, does not start, or has gone. */
#ifndef ETW_TOOLS_ETW_HOST_WAIT_H
#define ETW_TOOLS_ETW_HOST_WAIT_H

#include <stdbool.h>

#include "ipc/runtime.h"

/* host_wait_tell() - for struct etw_control_waiting: on standard error, whom the tool waits for. */
void host_wait_tell(void *context, const char *directory);

/* host_timeout_check() - warns of an $ETW_HOST_TIMEOUT_MS that is no number. Once, by a command that asks hosts. */
void host_timeout_check(void);

/*
 * host_error_tell() - why a host cannot be talked to, in one sentence on standard error.
 *
 * @error: a negative errno of src/control/control.h, not -ENOEXEC
 *
 * A host that could not start, or a keeper that gave up, has left its reason in the runtime directory: where it
 * fits the error, it is told.
 */
void host_error_tell(enum etw_instance instance, int error);

/*
 * host_failure_tell() - where no host is there: the reason that the last one left, if it left any.
 *
 * Returns whether there was one. Hosts that leave in order leave none.
 */
bool host_failure_tell(enum etw_instance instance);

#endif
