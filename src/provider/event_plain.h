/* SPDX-License-Identifier: MIT */
/*
 * The usual write: one session, payload alone. It is inline, so that what it needs stays in registers from the
 * caller's arguments to the commit, and calls nothing. Whatever is not so simple it leaves to others.
 */
#ifndef ETW_PROVIDER_EVENT_PLAIN_H
#define ETW_PROVIDER_EVENT_PLAIN_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "provider/enable.h"
#include "provider/event.h"
#include "provider/event_layout.h"
#include "provider/fork.h"
#include "provider/ring_sets.h"
#include "provider/thread.h"

/* The wish of the only session that has the provider enabled, as the gate said. */
struct etw_event_target {
	const struct etw_registration *registration;
	const struct etw_enable_slot *slot;
	uint64_t gate;
};

/*
 * @place: of @handle
 *
 * Returns 1: somebody may want the event; 0: nobody does; -EAGAIN: not so simple. Leads to no ring yet, so that
 * the thread need not be inside.
 */
static ALWAYS_INLINE int etw_event_find_target(const struct etw_registration *place,
					       uint64_t handle, const EVENT_DESCRIPTOR *descriptor,
					       struct etw_event_target *ret)
{
	const uint64_t gate = load_acquire(&place->gate); /* pairs with etw_enable_set() */
	const struct etw_enable_plain *plain = &place->plain[gate & 1];

	/* Of another generation, and where no registration begins, is another handle. 0 is none, and stands for none. */
	if (UNLIKELY(load_acquire(&plain->handle) != handle || !handle))
		return -EAGAIN;
	ret->slot = &plain->slot;
	if (!etw_enable_passes(ret->slot, descriptor->Level, descriptor->Keyword))
		return LIKELY(load_relaxed(&place->gate) == gate) ? 0 : -EAGAIN;
	ret->registration = place;
	ret->gate = gate;
	return 1;
}

/*
 * The target's ring, for a thread that is inside. Returns false where the event is not so simple, or the gate has
 * turned since. Order: A2 in provider/thread.h.
 */
static ALWAYS_INLINE bool etw_event_find_ring(const struct etw_event_target *target,
					      const struct etw_ring_mapping **ret,
					      etw_provider_words *ret_provider)
{
	const struct etw_registration *registration = target->registration;

	*ret = load_acquire(&target->slot->ring);
	etw_enable_load_provider(registration, ret_provider);
	return LIKELY(load_acquire(&registration->general) == 0 &&
		      load_relaxed(&registration->gate) == target->gate);
}

/*
 * The sum of the sizes, and above 32 bits of what else is in the descriptors, types above all: more than any event has
 * where a descriptor is more than payload. One that is made to overflow gives a wrong sum, and etw_event_copy_payload()
 * goes by the sum.
 */
static ALWAYS_INLINE uint64_t etw_event_sum_up(const EVENT_DATA_DESCRIPTOR *data,
					       uint32_t data_count)
{
	uint64_t sum = 0;

	static_assert(offsetof(EVENT_DATA_DESCRIPTOR, Size) == 8 &&
			      sizeof(EVENT_DATA_DESCRIPTOR) == 16,
		      "layout");
	for (uint32_t i = 0; i < data_count; i++)
		sum += etw_load64((const uint8_t *)&data[i].Size);
	return sum;
}

/*
 * Copies all fields, none of which is larger than ETW_EVENT_PIECES_MAX. @left: what was summed up; a program that changes
 * descriptors while they are written gets a wrong event, and nobody else does. Returns false where a descriptor names bytes
 * that cannot be there.
 */
static ALWAYS_INLINE bool etw_event_copy_payload(const EVENT_DATA_DESCRIPTOR *data,
						 uint32_t data_count, uint8_t *at, size_t left)
{
	for (uint32_t i = 0; i < data_count; i++) {
		const uint8_t *from = (const uint8_t *)(uintptr_t)data[i].Ptr;
		size_t bytes = data[i].Size;

		if (UNLIKELY(bytes > left))
			bytes = left;
		/* An empty one may have any address. */
		if (UNLIKELY(data[i].Ptr < ETW_EVENT_ADDRESS_MIN) && bytes)
			return false;
		if (LIKELY(bytes <= 16))
			etw_event_copy_short(at, from, bytes);
		else
			etw_event_copy_pieces(at, from, bytes);
		at += bytes;
		left -= bytes;
	}
	return true;
}

/*
 * Writes an event of @bytes for a thread that is inside. Returns -EAGAIN: not so simple after all; else as
 * etw_provider_write().
 */
static ALWAYS_INLINE int etw_event_write_inside(const struct etw_event_target *target,
						const struct etw_thread *thread, uint32_t bytes,
						const EVENT_DESCRIPTOR *descriptor,
						const EVENT_DATA_DESCRIPTOR *data,
						uint32_t data_count, const GUID *activity)
{
	const struct etw_ring_mapping *ring;
	etw_provider_words provider;
	struct etw_ring_span span;

	SCHED_POINT("provider.event.entered"); /* the thread is inside, and has no ring yet */
	if (UNLIKELY(!etw_event_find_ring(target, &ring, &provider)))
		return -EAGAIN;
	SCHED_POINT("provider.event.found");
	if (UNLIKELY(!etw_ring_mapping_reserve_direct(ring, (bytes + 7) / 8, &span)))
		return -EAGAIN;
	SCHED_POINT("provider.event.reserved"); /* a place in the ring, nothing in it */
	etw_event_put_start(span.at, bytes, 0);
	etw_event_put_origin(span.at, thread->thread_id, etw_process_id(ring->link), span.time_raw);
	etw_event_put_provider(span.at, &provider);
	etw_event_put_rest(span.at, descriptor, activity);
	if (UNLIKELY(!etw_event_copy_payload(data, data_count,
					     span.at + sizeof(struct wire_event_header),
					     bytes - sizeof(struct wire_event_header)))) {
		etw_ring_abandon(&span);
		return -EAGAIN;
	}
	SCHED_POINT("provider.event.copied");
	etw_ring_commit(&span);
	return 0;
}

/*
 * etw_provider_write_plain() - an event without related activity, flags or header flags.
 *
 * @place: etw_handle_place() of @handle
 *
 * As etw_provider_write(); -EAGAIN: not so simple, and nothing has happened.
 */
static ALWAYS_INLINE int etw_provider_write_plain(const struct etw_registration *place,
						  uint64_t handle,
						  const EVENT_DESCRIPTOR *descriptor,
						  const EVENT_DATA_DESCRIPTOR *data,
						  uint32_t data_count, const GUID *activity)
{
	struct etw_event_target target;
	struct etw_thread *thread;
	uint64_t sum;
	int r;

	r = etw_event_find_target(place, handle, descriptor, &target);
	if (r <= 0)
		return r;
	sum = etw_event_sum_up(data, data_count);
	if (UNLIKELY(sum > ETW_EVENT_PIECES_MAX))
		return -EAGAIN;
	thread = etw_thread_enter();
	if (UNLIKELY(!thread))
		return -EAGAIN;
	r = etw_event_write_inside(&target, thread,
				   (uint32_t)sum + (uint32_t)sizeof(struct wire_event_header),
				   descriptor, data, data_count, activity);
	SCHED_POINT("provider.event.leaving");
	etw_thread_leave(thread);
	return r;
}

#endif
