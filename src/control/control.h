/* SPDX-License-Identifier: MIT */
/*
 * The controller's side: one connection to a host, kept for the process and made anew when the host was
 * replaced. Starts the host when a call needs one. Both the API and the tools call this.
 */
#ifndef ETW_CONTROL_CONTROL_H
#define ETW_CONTROL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/runtime.h"
#include "wire/message.h"

struct etw_controller;

/*
 * etw_controller_open() - talks to the host of an instance.
 *
 * @is_starting: start the host when there is none (the program etwd: $ETW_ETWD, else beside the
 *               executable, else beside libetw, else in the compiled-in libexec folder, else in PATH)
 *
 * Returns 0 with an owned controller; -ENOENT without a host; -ENOEXEC when etwd is not to be found;
 * errno of connecting.
 */
int etw_controller_open(enum etw_instance instance, bool is_starting, struct etw_controller **ret);

/* etw_controller_close() - takes NULL. Leases of this controller end. */
void etw_controller_close(struct etw_controller *controller);
void etw_controller_closep(struct etw_controller **controller);

/*
 * etw_control_start() - StartTrace. Returns 0; -EEXIST: name or guid is in use; -EINVAL; -ENOSPC: too
 * many sessions; -EACCES; errno of making the file; -EPIPE when the host went away.
 */
int etw_control_start(struct etw_controller *controller, const struct wire_session_config *config,
		      struct wire_session_info *ret);

/* etw_control() - ControlTrace. As above, and -ENOENT: no such session; -EBUSY: already stopping. */
int etw_control(struct etw_controller *controller, const struct wire_control *control,
		struct wire_session_info *ret);

/* etw_control_enable() - EnableTraceEx2. Also -ETIMEDOUT: a callback did not return in time. */
int etw_control_enable(struct etw_controller *controller,
		       const struct wire_enable_provider *enable);

/* etw_control_list() - the running sessions that this user may see. */
int etw_control_list(struct etw_controller *controller, struct wire_sessions *ret);

/* etw_control_lease() - ties a session to this controller's life. */
int etw_control_lease(struct etw_controller *controller, uint64_t handle);

#endif
