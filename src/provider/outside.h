/* SPDX-License-Identifier: MIT */
/*
 * Private sessions that controllers in other processes have in this one: what a host says of them. The sessions are those
 * of src/private, which is above this and says here who handles the messages.
 *
 * A conversation with a host has a *round*: what the host does not name in it, once it has told the first state of all
 * registrations, it does not have any more, and the session is ended.
 */
#ifndef ETW_PROVIDER_OUTSIDE_H
#define ETW_PROVIDER_OUTSIDE_H

#include "provider/link.h"

struct etw_outside_handler {
	/* Each returns 0 or a negative errno, the host's answer. The listener, not holding the lock. */
	int (*start)(unsigned link, uint32_t round, const struct wire_session_info *wanted,
		     struct wire_session_info *ret);
	int (*control)(unsigned link, const struct wire_control *control,
		       struct wire_session_info *ret);
	/* @is_news: false: told to a process that may know it: nothing is done where the session wants it already */
	int (*enable)(unsigned link, const struct wire_enable_provider *enable, bool is_news);
	/* Ends the sessions of a host but those of @round; 0: all. Does not wait. Holding the lock. */
	void (*end)(unsigned link, uint32_t round);
};

/* etw_outside_set_handler() - @handler: borrowed for good. Without one a host is answered -EOPNOTSUPP. */
void etw_outside_set_handler(const struct etw_outside_handler *handler);

/* etw_outside_handle() - as etw_link_handle(), of messages of this kind. */
int etw_outside_handle(struct etw_link *link, const struct etw_ipc_message *message);

/* etw_outside_end() - the host has said all that it has; or nobody is left. Holding the lock. */
void etw_outside_end(struct etw_link *link);

#endif
