/* SPDX-License-Identifier: MIT */
#include "provider/classic_event.h"

#include <errno.h>

#include "base/sched_point.h"
#include "provider/fork.h"
#include "provider/loggers.h"
#include "provider/thread.h"

/* For a thread that is inside. Returns as etw_classic_write(). */
static int reserve(uint32_t logger_id, uint32_t bytes, const struct etw_ring_mapping **ret_ring,
		   struct etw_ring_span *ret)
{
	const struct etw_ring_mapping *ring = etw_loggers_find(logger_id);
	int r;

	while (ring) {
		const struct etw_ring_mapping *seen = ring;

		*ret_ring = ring;
		r = etw_ring_mapping_reserve(ring, bytes, ret);
		if (LIKELY(r != -ESTALE))
			return r;
		/* Its session is over, or has other rings, of which the listener may have heard meanwhile. */
		ring = etw_loggers_find(logger_id);
		if (ring == seen) {
			r = etw_ring_refuse(&ring->set);
			return r < 0 ? r : -EBADF;
		}
	}
	return -EBADF;
}

int etw_classic_write(uint32_t logger_id, uint32_t bytes, etw_classic_fill fill, void *context)
{
	struct etw_thread *thread;
	const struct etw_ring_mapping *ring;
	struct etw_classic_place place;
	struct etw_ring_span span;
	struct etw_entry entry;
	int r;

	/* Before the first registration there is not even what a thread enters by, and no logger. */
	if (UNLIKELY(!etw_fork_page))
		return -EBADF;
	thread = etw_thread_enter();
	if (LIKELY(thread)) {
		place.thread_id = thread->thread_id;
	} else {
		etw_thread_enter_slow(etw_stack_pointer(), &entry);
		place.thread_id = entry.thread_id;
	}
	SCHED_POINT("provider.classic_event.entered");
	r = reserve(logger_id, bytes, &ring, &span);
	if (LIKELY(r == 0)) {
		SCHED_POINT("provider.classic_event.reserved");
		place.at = span.at;
		place.time_raw = span.time_raw;
		place.process_id = etw_process_id(ring->link);
		fill(&place, context);
		SCHED_POINT("provider.classic_event.copied");
		etw_ring_commit(&span);
	}
	if (LIKELY(thread))
		etw_thread_leave(thread);
	else
		etw_thread_leave_slow(&entry);
	return r;
}
