/* SPDX-License-Identifier: MIT */
/*
 * The controller's side: one connection to a host, kept for the process and made anew when the host was
 * replaced. Starts the host when a call needs one. What it is asked for: control/control.h.
 */
#ifndef ETW_CONTROL_CONTROLLER_H
#define ETW_CONTROL_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "control/wait.h"
#include "ipc/runtime.h"

struct etw_controller;

/*
 * etw_controller_open() - talks to the host of an instance.
 *
 * @is_starting: start the host when there is none (the program etwd: $ETW_ETWD, else beside the
 *               executable, else beside libetw, else in the compiled-in libexec folder, else in PATH)
 *
 * @waiting: borrowed for the controller's life; NULL: calls wait for the usual time, and nobody hears of it
 *
 * The system's host is started by root alone. Starting one is for etw_control_start() as well; whatever else
 * is asked never starts a host. A controller may be used by several threads at once, and in
 * a child of fork(), where it makes a connection of its own, without the parent's leases.
 * Returns 0 with an owned controller; -ENOENT without a host; -ENOEXEC when etwd is not to be found or
 * cannot run; -ECHILD when it was killed while it started; the errno that kept it from starting, as -ENOMEM,
 * -EMFILE, -EFBIG, -ENOSPC, with -ENOTDIR for -ENOENT; -ETIMEDOUT when a host says nothing at all for the
 * patience; -ECANCELED when @waiting says so; -ECONNRESET when one hangs up, or
 * leaves as soon as it is there, again and again; errno of connecting.
 */
int etw_controller_open(enum etw_instance instance, bool is_starting,
			const struct etw_control_waiting *waiting, struct etw_controller **ret);

/*
 * etw_controller_incarnation() - of the host that was talked to last: another number is another host. 0: none
 * so far.
 */
uint64_t etw_controller_incarnation(struct etw_controller *controller);

/* etw_controller_close() - takes NULL. Leases of this controller end. No call may be going on. */
void etw_controller_close(struct etw_controller *controller);
void etw_controller_closep(struct etw_controller **controller);

#endif
