/* SPDX-License-Identifier: MIT */
/* What a host says, and what follows from it. Private to the module's link. */
#ifndef ETW_PROVIDER_LINK_MESSAGE_H
#define ETW_PROVIDER_LINK_MESSAGE_H

#include "provider/link.h"

/*
 * etw_link_handle() - does what a message says, callbacks included.
 *
 * Returns 0; -EPROTO: the conversation is over. Owner thread (the listener), not holding the lock.
 */
int etw_link_handle(struct etw_link *link, struct etw_ipc_message *message);

/*
 * etw_link_end_states() - disables everything that the present connection has not confirmed, with
 * callbacks, and retires the ring sets that it did not name. Owner thread, holding the lock, which is
 * given up during callbacks.
 */
void etw_link_end_states(struct etw_link *link);

/* etw_link_has_states() - some registration is enabled by this link, or a ring set is mapped. Owner thread, not holding the lock. */
bool etw_link_has_states(const struct etw_link *link);

/* etw_link_answer() - sends the common part alone. Returns 0 or the error of sending. Holding the lock. */
int etw_link_answer(struct etw_link *link, const struct wire_message *head);

/* etw_link_report() - tells the host which of its sessions get nothing from here, and how many events that was so far. */
void etw_link_report(struct etw_link *link);

/* etw_link_answer_undelivered() - sends WIRE_UNDELIVERED. */
int etw_link_answer_undelivered(struct etw_link *link, const struct wire_message *head,
				const struct wire_undelivered *body);

/* etw_link_answer_ring() - sends a message that names a ring set. */
int etw_link_answer_ring(struct etw_link *link, const struct wire_message *head,
			 const struct wire_ring_set_ref *ref);

#endif
