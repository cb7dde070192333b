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

/* How a controller waits for a host that does not answer. Of a tool, which has one thread. */
struct etw_control_waiting {
	/*
	 * Whether the tool is to end: the call gives up. Asked when the host has been silent for half a second,
	 * often from then on, and at once when @wake_fd is readable.
	 */
	bool (*is_over)(void *context);
	int wake_fd; /* -1: none */
	/* The host has been silent for 2 seconds. Once a call. */
	void (*tell)(void *context, const char *directory);
	void *context;
	uint32_t patience_ms; /* of silence; 0: $ETW_HOST_TIMEOUT_MS, or 30 seconds */
};

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
 * patience; -ECANCELED when @waiting says so; -ECONNRESET when one hangs up again and again; errno of
 * connecting.
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

/*
 * etw_control_start() - StartTrace. Returns 0; -EEXIST: name or guid is in use; -EINVAL, also for a name
 * that is too long or not UTF-8; -EUSERS: too many sessions or leases; -EACCES; errno of making the file;
 * -ECONNREFUSED when no host is there any more; -EPIPE when it went away while it was asked; -EPROTO when it
 * talks nonsense; those of opening but -ENOENT, when it had to be found anew.
 *
 * No call waits longer than the patience for a host that says nothing at all: -ETIMEDOUT, and nobody knows
 * whether the host will do what it was asked. A host that works on something long (a stop that flushes) is
 * asked something else in between; as long as it answers that, the call waits on.
 *
 * When the host was replaced, this and the calls below connect to the new one. What may be repeated is, once.
 * A start, or a stop by name, whose answer was lost is -EPIPE, and nobody knows whether it was done. A stop by
 * handle is repeated, and -EPIPE when the first one had ended the session, whose account is lost then. With
 * -ECONNREFUSED nothing was done. With config->is_leased the session is tied to this controller's life,
 * whenever which of the two or the host dies: a new host waits 5 seconds for the controller's next call, which
 * renews the lease.
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

#endif
