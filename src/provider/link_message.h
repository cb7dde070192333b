/* SPDX-License-Identifier: MIT */
/* What a host says, and what follows from it. */
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

/*
 * etw_link_tell() - the callback of a registration is told what the sessions of a link want, together with those of the
 * others. Holding the lock, which is given up meanwhile.
 *
 * @enable: what it wants now; of its slots a classic provider is told the first that is used
 */
void etw_link_tell(struct etw_registration *registration, unsigned link,
		   const struct wire_enable *enable);

/* etw_link_report() - tells the host which of its sessions get nothing from here, and how many events that was so far. */
void etw_link_report(struct etw_link *link);

#endif
