/* SPDX-License-Identifier: MIT */
/*
 * The usual write: one session, payload alone or with the description of TraceLogging. It is inline, so that what it needs
 * stays in registers from the caller's arguments to the commit, and calls nothing. Whatever is not so simple it leaves to
 * others.
 */
#ifndef ETW_PROVIDER_EVENT_PLAIN_H
#define ETW_PROVIDER_EVENT_PLAIN_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evntcons.h>

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

/* What TraceLogging has in front of the payload, neither empty; traits NULL: nothing. */
struct etw_event_description {
	const uint8_t *traits, *schema;
	uint32_t traits_bytes, schema_bytes;
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
 * The target's ring, for a thread that is inside. @allowed: what of enum etw_general the caller can do. Returns false where
 * the event is not so simple, or the gate has turned since. Order: A2 in provider/thread.h.
 */
static ALWAYS_INLINE bool etw_event_find_ring(const struct etw_event_target *target,
					      uint32_t allowed, const struct etw_ring_mapping **ret,
					      etw_provider_words *ret_provider)
{
	const struct etw_registration *registration = target->registration;

	*ret = load_acquire(&target->slot->ring);
	etw_enable_load_provider(registration, ret_provider);
	return LIKELY((load_acquire(&registration->general) & ~allowed) == 0 &&
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
	for (; data_count; data_count--, data++) { /* no end is computed: data may be NULL */
		const uint8_t *from = (const uint8_t *)(uintptr_t)data->Ptr;
		size_t bytes = data->Size;

		if (LIKELY(bytes == 8 && left >= 8 && data->Ptr >= ETW_EVENT_ADDRESS_MIN)) {
			etw_store64(at, etw_load64(from));
			at += 8;
			left -= 8;
			continue;
		}
		if (UNLIKELY(bytes > left))
			bytes = left;
		/* An empty one may have any address. */
		if (UNLIKELY(data->Ptr < ETW_EVENT_ADDRESS_MIN) && bytes)
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

/* Of at least one byte, at most ETW_EVENT_PIECES_MAX. Returns where the next item lies. */
static ALWAYS_INLINE uint8_t *etw_event_put_described(uint8_t *at, uint16_t type,
						      const uint8_t *data, uint32_t data_bytes,
						      bool is_last)
{
	uint8_t *to = at + sizeof(struct wire_extended_item);

	etw_event_put_item_head(at, type, data_bytes, is_last);
	if (LIKELY(data_bytes > 16))
		etw_event_copy_pieces(to, data, data_bytes);
	else
		etw_event_copy_short(to, data, data_bytes);
	return at + etw_event_item_bytes(data_bytes);
}

static ALWAYS_INLINE uint8_t *etw_event_put_description(
	uint8_t *at, const struct etw_event_description *description)
{
	at = etw_event_put_described(at, EVENT_HEADER_EXT_TYPE_PROV_TRAITS, description->traits,
				     description->traits_bytes, /* is_last= */ false);
	return etw_event_put_described(at, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
				       description->schema, description->schema_bytes,
				       /* is_last= */ true);
}

/* An event as it is to be laid out; in registers, where its function is inlined. */
struct etw_event_plain {
	const EVENT_DESCRIPTOR *descriptor;
	const EVENT_DATA_DESCRIPTOR *data; /* of payload alone */
	const GUID *activity;
	struct etw_event_description description;
	uint32_t data_count;
	uint32_t bytes;
};

/*
 * Writes an event for a thread that is inside. Returns -EAGAIN: not so simple after all; else as etw_provider_write().
 */
static ALWAYS_INLINE int etw_event_write_inside(const struct etw_event_target *target,
						const struct etw_thread *thread,
						const struct etw_event_plain *event)
{
	const bool is_described = event->description.traits;
	const struct etw_ring_mapping *ring;
	etw_provider_words provider;
	struct etw_ring_span span;
	uint8_t *at;

	SCHED_POINT("provider.event.entered"); /* the thread is inside, and has no ring yet */
	if (UNLIKELY(!etw_event_find_ring(target, is_described ? ETW_GENERAL_TRAITS : 0, &ring,
					  &provider)))
		return -EAGAIN;
	SCHED_POINT("provider.event.found");
	if (UNLIKELY(!etw_ring_mapping_reserve_direct(ring, (event->bytes + 7) / 8, &span)))
		return -EAGAIN;
	SCHED_POINT("provider.event.reserved"); /* a place in the ring, nothing in it */
	etw_event_put_start(span.at, event->bytes, is_described ? WIRE_EVENT_EXTENDED_INFO : 0);
	etw_event_put_origin(span.at, thread->thread_id, etw_process_id(ring->link), span.time_raw);
	etw_event_put_provider(span.at, &provider);
	etw_event_put_rest(span.at, event->descriptor, event->activity);
	at = span.at + sizeof(struct wire_event_header);
	if (is_described)
		at = etw_event_put_description(at, &event->description);
	if (UNLIKELY(!etw_event_copy_payload(event->data, event->data_count, at,
					     event->bytes - (size_t)(at - span.at)))) {
		etw_ring_abandon(&span);
		return -EAGAIN;
	}
	SCHED_POINT("provider.event.copied");
	etw_ring_commit(&span);
	return 0;
}

static ALWAYS_INLINE int etw_event_write_to(const struct etw_event_target *target,
					    const struct etw_event_plain *event)
{
	struct etw_thread *thread = etw_thread_enter();
	int r;

	if (UNLIKELY(!thread))
		return -EAGAIN;
	r = etw_event_write_inside(target, thread, event);
	SCHED_POINT("provider.event.leaving");
	etw_thread_leave(thread);
	return r;
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
	struct etw_event_plain event = {
		.descriptor = descriptor,
		.data = data,
		.data_count = data_count,
		.activity = activity,
	};
	struct etw_event_target target;
	uint64_t sum;
	int r;

	r = etw_event_find_target(place, handle, descriptor, &target);
	if (r <= 0)
		return r;
	sum = etw_event_sum_up(data, data_count);
	if (UNLIKELY(sum > ETW_EVENT_PIECES_MAX))
		return -EAGAIN;
	event.bytes = (uint32_t)sum + (uint32_t)sizeof(struct wire_event_header);
	return etw_event_write_to(&target, &event);
}

/* As TraceLogging hands them over: the provider's traits, the event's schema, the payload. */
static ALWAYS_INLINE bool etw_event_is_described(const EVENT_DATA_DESCRIPTOR *data,
						 uint32_t data_count)
{
	return data_count >= 2 && data[0].Type == EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA &&
	       data[1].Type == EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
}

/* Returns false where it is not so simple. */
static ALWAYS_INLINE bool etw_event_measure_described(const EVENT_DATA_DESCRIPTOR *data,
						      uint32_t data_count,
						      struct etw_event_plain *ret)
{
	const struct etw_event_description description = {
		.traits = (const uint8_t *)(uintptr_t)data[0].Ptr,
		.traits_bytes = data[0].Size,
		.schema = (const uint8_t *)(uintptr_t)data[1].Ptr,
		.schema_bytes = data[1].Size,
	};
	const uint64_t sum = etw_event_sum_up(data + 2, data_count - 2);

	if (UNLIKELY(description.traits_bytes - 1 >= ETW_EVENT_PIECES_MAX ||
		     description.schema_bytes - 1 >= ETW_EVENT_PIECES_MAX ||
		     sum > ETW_EVENT_PIECES_MAX || data[0].Ptr < ETW_EVENT_ADDRESS_MIN ||
		     data[1].Ptr < ETW_EVENT_ADDRESS_MIN))
		return false;
	ret->description = description;
	ret->data = data + 2;
	ret->data_count = data_count - 2;
	ret->bytes = (uint32_t)sum + (uint32_t)sizeof(struct wire_event_header) +
		     etw_event_item_bytes(description.traits_bytes) +
		     etw_event_item_bytes(description.schema_bytes);
	return true;
}

/*
 * etw_provider_write_described() - the same for an event of TraceLogging: etw_event_is_described().
 */
static ALWAYS_INLINE int etw_provider_write_described(const struct etw_registration *place,
						      uint64_t handle,
						      const EVENT_DESCRIPTOR *descriptor,
						      const EVENT_DATA_DESCRIPTOR *data,
						      uint32_t data_count, const GUID *activity)
{
	struct etw_event_plain event = {.descriptor = descriptor, .activity = activity};
	struct etw_event_target target;
	int r;

	r = etw_event_find_target(place, handle, descriptor, &target);
	if (r <= 0)
		return r;
	if (UNLIKELY(!etw_event_measure_described(data, data_count, &event) ||
		     !load_acquire(&place->is_typed)))
		return -EAGAIN;
	return etw_event_write_to(&target, &event);
}

#endif
