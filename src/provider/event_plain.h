/* SPDX-License-Identifier: MIT */
/*
 * The usual write: one session, payload alone. It is inline, so that what it needs stays in registers from the
 * caller's arguments to the commit. Whatever is not so simple it leaves to etw_provider_write().
 */
#ifndef ETW_PROVIDER_EVENT_PLAIN_H
#define ETW_PROVIDER_EVENT_PLAIN_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sched_point.h"
#include "provider/enable.h"
#include "provider/event.h"
#include "provider/event_layout.h"
#include "provider/fork.h"
#include "provider/ring_sets.h"
#include "provider/thread.h"

/* The only session that may want the event, as the gate said. */
struct etw_event_target {
	const struct etw_registration *registration;
	const struct etw_enable_slot *slot;
	uint64_t gate;
};

/*
 * Returns 1: somebody may want the event; 0: nobody does; -EAGAIN: not so simple. Leads to no ring yet, so that
 * the thread need not be inside.
 */
static inline int etw_event_find_target(uint64_t handle, const EVENT_DESCRIPTOR *descriptor,
					struct etw_event_target *ret)
{
	const struct etw_enable_query query = {
		.keyword = descriptor->Keyword,
		.level = descriptor->Level,
	};
	const struct etw_registration *registration = etw_handle_registration(handle);
	const struct etw_enable_slot *slot;
	uint32_t slots;
	uint64_t gate;

	if (UNLIKELY(!registration))
		return -EAGAIN;
	gate = load_acquire(&registration->gate); /* pairs with etw_enable_set() */
	slots = etw_gate_slots(gate);
	if (UNLIKELY(!etw_handle_is_of(handle, gate) || !slots || slots & (slots - 1)))
		return -EAGAIN;
	slot = &etw_enable_slots(registration, gate)[(unsigned)__builtin_ctz(slots)];
	if (!etw_enable_is_wanted(slot, &query))
		return LIKELY(load_relaxed(&registration->gate) == gate) ? 0 : -EAGAIN;
	ret->registration = registration;
	ret->slot = slot;
	ret->gate = gate;
	return 1;
}

/*
 * The target's ring, for a thread that is inside. Returns 0; -EAGAIN where the event is not so simple, or the
 * gate has turned since. Order: A2 in provider/thread.h.
 */
static inline int etw_event_find_ring(const struct etw_event_target *target,
				      const struct etw_ring_mapping **ret,
				      etw_provider_words *ret_provider)
{
	const struct etw_registration *registration = target->registration;

	*ret = load_acquire(&target->slot->ring);
	etw_enable_load_provider(registration, ret_provider);
	if (UNLIKELY(load_acquire(&registration->general) ||
		     load_relaxed(&registration->gate) != target->gate))
		return -EAGAIN;
	return 0;
}

/* Returns -EAGAIN where a descriptor is more than payload. */
static inline int etw_event_measure(const EVENT_DATA_DESCRIPTOR *data, uint32_t data_count,
				    uint32_t *ret_bytes)
{
	uint64_t bytes = sizeof(struct wire_event_header);
	unsigned types = 0;

	for (uint32_t i = 0; i < data_count; i++) {
		bytes += data[i].Size;
		types |= data[i].Type;
	}
	if (UNLIKELY(types || bytes > ETW_EVENT_BYTES_MAX))
		return -EAGAIN;
	*ret_bytes = (uint32_t)bytes;
	return 0;
}

/* etw_provider_write() with the arguments of etw_provider_write_plain(), and where that is to return to. */
static inline int etw_event_write_otherwise(uint64_t handle, const EVENT_DESCRIPTOR *descriptor,
					    const EVENT_DATA_DESCRIPTOR *data, uint32_t data_count,
					    const GUID *activity, uintptr_t caller)
{
	return etw_provider_write(handle, &(struct etw_event_request){
						  .descriptor = descriptor,
						  .data = data,
						  .data_count = data_count,
						  .activity = activity,
						  .stack = etw_stack_pointer(),
						  .caller = caller,
					  });
}

/*
 * Writes an event of @bytes for a thread that is inside. Returns -EAGAIN: not so simple after all; else as
 * etw_provider_write().
 */
static inline int etw_event_write_inside(const struct etw_event_target *target,
					 const struct etw_thread *thread, uint32_t bytes,
					 const struct etw_event_request *request)
{
	const struct etw_ring_mapping *ring;
	etw_provider_words provider;
	struct etw_ring_span span;
	int r;

	SCHED_POINT("provider.event.entered"); /* the thread is inside, and has no ring yet */
	if (UNLIKELY(etw_event_find_ring(target, &ring, &provider) < 0))
		return -EAGAIN;
	SCHED_POINT("provider.event.found");
	r = etw_ring_mapping_reserve(ring, bytes, &span);
	if (UNLIKELY(r < 0)) /* -ESTALE: the session is over, or has another set now */
		return r == -ESTALE ? -EAGAIN : r;
	SCHED_POINT("provider.event.reserved"); /* a place in the ring, nothing in it */
	etw_event_put_start(span.at, bytes, 0);
	etw_event_put_origin(span.at, thread->thread_id, etw_process_id(ring->link), span.time_raw);
	etw_event_put_provider(span.at, &provider);
	etw_event_put_rest(span.at, request->descriptor, request->activity);
	if (UNLIKELY(!etw_event_copy_fields(request->data, request->data_count,
					    /* is_mixed= */ false, EVENT_DATA_DESCRIPTOR_TYPE_NONE,
					    span.at + sizeof(struct wire_event_header),
					    bytes - sizeof(struct wire_event_header)))) {
		etw_ring_abandon(&span);
		return -EFAULT;
	}
	SCHED_POINT("provider.event.copied");
	etw_ring_commit(&span);
	return 0;
}

/*
 * etw_provider_write_plain() - an event without related activity, flags or header flags.
 *
 * As etw_provider_write(), which does whatever is not so simple. Inline always: what it returns to is the stack's
 * first frame.
 */
static ALWAYS_INLINE int etw_provider_write_plain(uint64_t handle,
						  const EVENT_DESCRIPTOR *descriptor,
						  const EVENT_DATA_DESCRIPTOR *data,
						  uint32_t data_count, const GUID *activity)
{
	const struct etw_event_request request = {
		.descriptor = descriptor,
		.data = data,
		.data_count = data_count,
		.activity = activity,
	};
	struct etw_event_target target;
	struct etw_thread *thread;
	uint32_t bytes;
	int r;

	r = etw_event_find_target(handle, descriptor, &target);
	if (r == 0)
		return 0;
	if (UNLIKELY(r < 0 || etw_event_measure(data, data_count, &bytes) < 0))
		return etw_event_write_otherwise(handle, descriptor, data, data_count, activity,
						 (uintptr_t)__builtin_return_address(0));
	thread = etw_thread_enter();
	if (UNLIKELY(!thread))
		return etw_event_write_otherwise(handle, descriptor, data, data_count, activity,
						 (uintptr_t)__builtin_return_address(0));
	r = etw_event_write_inside(&target, thread, bytes, &request);
	SCHED_POINT("provider.event.leaving");
	etw_thread_leave(thread);
	if (UNLIKELY(r == -EAGAIN))
		return etw_event_write_otherwise(handle, descriptor, data, data_count, activity,
						 (uintptr_t)__builtin_return_address(0));
	return r;
}

#endif
