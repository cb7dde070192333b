/* SPDX-License-Identifier: MIT */
/* What a controller asks a host for. Both the API and the tools call this; which host: control/controller.h. */
#ifndef ETW_CONTROL_CONTROL_H
#define ETW_CONTROL_CONTROL_H

#include "control/controller.h"
#include "wire/message.h"

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

/*
 * etw_control_statistics() - a session's numbers by cause and by processor. As etw_control().
 *
 * @first_cpu: of those that *@ret is to tell of; it tells of WIRE_STATISTICS_CPUS at most
 */
int etw_control_statistics(struct etw_controller *controller, uint64_t handle, uint32_t first_cpu,
			   struct wire_statistics *ret);

/* etw_control_list() - the running sessions that this user may see. */
int etw_control_list(struct etw_controller *controller, struct wire_sessions *ret);

/* An answer of bytes; large, for the heap. */
struct etw_control_answer {
	uint64_t next;  /* of an enumeration: cursor of its next part; 0: none */
	uint32_t count; /* of an enumeration: what is in it */
	size_t byte_count;
	uint8_t bytes[WIRE_RUN_BYTES_MAX];
};

/*
 * etw_control_access() - EventAccessControl, EventAccessQuery, EventAccessRemove. Starts a host where there is none, as
 * etw_control_start() does.
 *
 * @ret: the descriptor, of a query
 *
 * Also -EACCES; -EINVAL: no such operation or right; -ENOENT: of a removal, there is no descriptor; -ENOSPC: too many;
 * errno of keeping it.
 */
int etw_control_access(struct etw_controller *controller, const struct wire_access *access,
		       struct etw_control_answer *ret);

/* etw_control_enumerate() - one part of a list. Also -ENOENT: no such provider. */
int etw_control_enumerate(struct etw_controller *controller, const struct wire_enumerate *enumerate,
			  struct etw_control_answer *ret);

/*
 * etw_control_inform() - TraceSetInformation, TraceQueryInformation.
 *
 * Also -ENOENT: no such session; -EACCES; -EINVAL; -EMSGSIZE: bytes of the wrong number; -EOPNOTSUPP; -ENOSPC.
 */
int etw_control_inform(struct etw_controller *controller, const struct wire_inform *inform,
		       struct etw_control_answer *ret);

#endif
