/* SPDX-License-Identifier: MIT */
/* A session's ring set and what its writers put there, for tests that are writer and host in one. */
#ifndef ETW_TESTS_FAKE_HOST_FAKE_SESSION_H
#define ETW_TESTS_FAKE_HOST_FAKE_SESSION_H

#include <stdint.h>

#include "ring/reader.h"

struct fake_session {
	uint32_t id; /* of the session, and of its ring set */
	struct etw_ring_set_fds fds;
	uint32_t readers; /* processors */
	struct etw_ring_set set;
	struct etw_ring_durable *durables;
	struct etw_ring_reader **at;
};

/* What is to be read: one event, a copy of its bytes. */
struct fake_event {
	uint32_t bytes;
	uint8_t data[65536];
};

/*
 * fake_session_open() - a session of a QPC clock with buffers for every processor.
 *
 * @flags: enum wire_ring_set_flag
 *
 * Returns 0 or what failed. fake_session_close() takes it all down; the writers must be gone or retired.
 */
int fake_session_open(struct fake_session *session, uint32_t id, uint32_t buffer_count,
		      uint32_t buffer_bytes, uint32_t flags);
void fake_session_close(struct fake_session *session);

/*
 * fake_session_take() - takes everything that is committed, processor by processor, in order in each.
 *
 * @visit: called with each event; may be NULL
 *
 * Returns how many there were, or what failed.
 */
typedef void (*fake_session_visit)(void *context, const struct fake_event *event);
int64_t fake_session_take(struct fake_session *session, fake_session_visit visit, void *context);

/* fake_session_lost() - events that found no buffer or were too large, as the writers counted. */
uint64_t fake_session_lost(const struct fake_session *session);

#endif
