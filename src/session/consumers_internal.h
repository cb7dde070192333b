/* SPDX-License-Identifier: MIT */
/*
 * What the sources of session/consumers.h share: the places of consumers in the session's state, and who has them. All of it
 * holding the lock of the consumers, or at adoption, when no other thread knows the session.
 */
#ifndef ETW_SESSION_CONSUMERS_INTERNAL_H
#define ETW_SESSION_CONSUMERS_INTERNAL_H

#include "session/consumers.h"

#define ETW_CONSUMERS_MEMORY_NAME "delivery-%u" /* for the keeper; by its place */

/* etw_consumers_entry() - what the state has about a place; valid as long as the state. */
static inline struct etw_state_consumer *etw_consumers_entry(
	const struct etw_session_consumers *consumers, uint32_t place)
{
	return &consumers->context->state.head->consumers[place];
}

/* etw_consumers_add_locked() - the subscriber has its place from now on. @subscriber: taken. */
void etw_consumers_add_locked(struct etw_session_consumers *consumers,
			      struct etw_subscriber *subscriber);

/*
 * etw_consumers_drop_locked() - the subscriber is gone, and its place is free. @subscriber: taken.
 *
 * @unread: pieces as of etw_consumers_free_place_locked()
 */
void etw_consumers_drop_locked(struct etw_session_consumers *consumers,
			       struct etw_subscriber *subscriber, uint64_t unread);

/*
 * etw_consumers_free_place_at_locked() - the place is free from now on; what its consumers missed stays in the account. A
 * host that dies in here leaves the rest to the next one, which counts nothing twice.
 *
 * @unread:  pieces that lay in the memory, and that nobody will get
 * @settled: of this many pieces, the first that went by, it is known who got them; the consumer may have missed those that
 *           followed
 */
void etw_consumers_free_place_at_locked(struct etw_session_consumers *consumers, uint32_t place,
					uint64_t unread, uint64_t settled);

/* etw_consumers_free_place_locked() - the same, where it is known of all pieces that went by. */
void etw_consumers_free_place_locked(struct etw_session_consumers *consumers, uint32_t place,
				     uint64_t unread);

#endif
