/* SPDX-License-Identifier: MIT */
/*
 * The write path: one event into the rings of all sessions that want it. No allocation, no lock, no
 * system call, no page fault, but for a session that wants stacks: a thread's first one makes system calls
 * (provider/stack.h). Any thread, signal handlers included.
 */
#ifndef ETW_PROVIDER_EVENT_H
#define ETW_PROVIDER_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include <evntprov.h>

/* One event, as its writer gives it; everything is borrowed for the call. */
struct etw_event_request {
	const EVENT_DESCRIPTOR *descriptor;
	const EVENT_DATA_DESCRIPTOR *data; /* data_count of them, checked by the caller */
	const GUID *activity;
	const GUID *related; /* NULL: none; none of the pointers shares a store with what follows */
	uint64_t
		stack; /* etw_stack_pointer() of a caller that writes events itself; 0: it does not */
	uint32_t data_count;
	uint16_t header_flags;
	bool is_in_private; /* EVENT_WRITE_FLAG_INPRIVATE */
	uint32_t
		excluded; /* slots of sessions that are not to have it: InstanceId of EVENT_FILTER_HEADER */
};

/*
 * etw_provider_write() - writes an event wherever it is wanted.
 *
 * Returns 0, also when nobody wants it; -EBADF: no such registration; -EINVAL: a descriptor of an unknown
 * type; -EOPNOTSUPP: EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE; -EOVERFLOW: more than
 * ETW_EVENT_BYTES_MAX; -EMSGSIZE: larger than a session's buffer; -ENOBUFS: a session has no free buffer, or
 * other rings by now that this process does not know of. With a buffer that is too small or missing the event
 * is in no session but those of EVENT_TRACE_INDEPENDENT_SESSION_MODE that took it; of a session whose rings
 * are not known it is missing alone. Context: any thread, signal-safe.
 */
int etw_provider_write(uint64_t handle, const struct etw_event_request *request);

#endif
