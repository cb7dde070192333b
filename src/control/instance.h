/* SPDX-License-Identifier: MIT */
/*
 * Which host a controller's call goes to: kernel sessions, root and group etwlog go to the system's,
 * everyone else to their own. A session is looked up in one's own first.
 */
#ifndef ETW_CONTROL_INSTANCE_H
#define ETW_CONTROL_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "ipc/runtime.h"

/*
 * etw_control_start_order() - the instances to start a session in: the first that is there takes it.
 *
 * @is_kernel: etw_system_logger_is(); it belongs to the system's host
 * @ret_may_start: whether this process may start that instance's host when there is none
 *
 * Returns how many, 1 or 2. A session of the kernel has one place only.
 */
size_t etw_control_start_order(bool is_kernel, enum etw_instance ret[2], bool ret_may_start[2]);

/* etw_control_lookup_order() - the instances to look a session up in. Returns how many, 1 or 2. */
size_t etw_control_lookup_order(enum etw_instance ret[2]);

#endif
