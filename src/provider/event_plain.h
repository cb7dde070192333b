/* SPDX-License-Identifier: MIT */
/*
 * The write path's inner parts, and the usual write by itself: one session, payload alone. It is inline, so
 * that what it needs stays in registers from the caller's arguments to the commit. Everything else is
 * etw_provider_write().
 */
#ifndef ETW_PROVIDER_EVENT_PLAIN_H
#define ETW_PROVIDER_EVENT_PLAIN_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "provider/enable.h"
#include "provider/event.h"
#include "provider/fork.h"
#include "provider/thread.h"
#include "ring/writer.h"
#include "wire/etl_event.h"

#define ETW_EVENT_HEADER_TYPE (sizeof(void *) == 8 ? WIRE_HEADER_EVENT64 : WIRE_HEADER_EVENT32)

/* Fields are mostly short; a call of memcpy() would cost more than they do. Words may overlap. */
static inline void etw_event_copy_field(uint8_t *to, const uint8_t *from, size_t bytes)
{
	uint64_t first, last;

	if (LIKELY(bytes >= 8 && bytes <= 16)) {
		memcpy(&first, from, 8);
		memcpy(&last, from + bytes - 8, 8);
		memcpy(to, &first, 8);
		memcpy(to + bytes - 8, &last, 8);
	} else if (bytes > 16) {
		memcpy(to, from, bytes);
	} else if (bytes >= 4) {
		memcpy(&first, from, 4);
		memcpy(&last, from + bytes - 4, 4);
		memcpy(to, &first, 4);
		memcpy(to + bytes - 4, &last, 4);
	} else if (bytes) { /* 1 to 3: the first, the middle and the last are all */
		const uint8_t middle = from[bytes / 2];
		const uint8_t end = from[bytes - 1];

		to[0] = from[0];
		to[bytes / 2] = middle;
		to[bytes - 1] = end;
	}
}

/*
 * Copies the descriptors of a type; all of them, where none has one that means something. @left: what was
 * measured; a program that changes descriptors while they are written gets a wrong event, and nobody else
 * does.
 */
static inline void etw_event_copy_fields(const EVENT_DATA_DESCRIPTOR *data, uint32_t data_count,
					 bool is_mixed, unsigned type, uint8_t *at, size_t left)
{
	for (uint32_t i = 0; i < data_count; i++) {
		size_t bytes = data[i].Size;

		if (is_mixed && data[i].Type != type)
			continue;
		if (UNLIKELY(bytes > left))
			bytes = left;
		etw_event_copy_field(at, (const uint8_t *)(uintptr_t)data[i].Ptr, bytes);
		at += bytes;
		left -= bytes;
	}
}

/* bytes, header_type, header_flag, flags, property: one store. */
static inline void etw_event_put_start(uint8_t *at, uint32_t bytes, uint64_t flags)
{
	etw_store64(at, bytes | (uint64_t)ETW_EVENT_HEADER_TYPE << 16 |
				(uint64_t)WIRE_EVENT_FLAG_TRACE << 24 | flags << 32);
}

/* The part of the header that differs from ring to ring. */
static inline void etw_event_put_origin(const struct etw_ring_span *span,
					const struct etw_ring_mapping *ring, uint32_t thread_id)
{
	etw_store64(span->at + offsetof(struct wire_event_header, thread_id),
		    thread_id | (uint64_t)etw_process_id(ring->link) << 32);
	etw_store64(span->at + offsetof(struct wire_event_header, time_raw),
		    (uint64_t)span->time_raw);
}

/* Copies 16 bytes by two words, as the source was stored: a wider load would have to wait for both. */
static inline void etw_event_copy_words(uint8_t *to, const void *from)
{
	uint64_t words[2];

	memcpy(&words[0], from, 8);
	memcpy(&words[1], (const uint8_t *)from + 8, 8);
	__asm__("" : "+r"(words[0]), "+r"(words[1])); /* the compiler would make it one */
	memcpy(to, &words[0], 8);
	memcpy(to + 8, &words[1], 8);
}

/* From the event descriptor to the activity id. An EVENT_DESCRIPTOR is stored as it is in memory: id to keyword. */
static inline void etw_event_put_rest(uint8_t *at, const EVENT_DESCRIPTOR *descriptor,
				      const GUID *activity)
{
	static_assert(sizeof(EVENT_DESCRIPTOR) == offsetof(struct wire_event_header, kernel_ticks) -
							  offsetof(struct wire_event_header, id),
		      "layout");
	etw_event_copy_words(at + offsetof(struct wire_event_header, id), descriptor);
	etw_store64(at + offsetof(struct wire_event_header, kernel_ticks), 0);
	etw_event_copy_words(at + offsetof(struct wire_event_header, activity), activity);
}

static inline void etw_event_put_provider(uint8_t *at, const etw_provider_words *provider)
{
	memcpy(at + offsetof(struct wire_event_header, provider), provider, sizeof(*provider));
}

static inline int etw_event_reserve(const struct etw_ring_mapping *ring, uint32_t bytes,
				    struct etw_ring_span *ret)
{
	const struct etw_clock_page clock = {load_relaxed(&ring->clock)};

	return etw_ring_reserve(&ring->set, &clock, bytes, ret);
}

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
	if (UNLIKELY(load_acquire(&registration->traits) ||
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

/* etw_provider_write() with the arguments of etw_provider_write_plain(). */
static inline int etw_event_write_otherwise(uint64_t handle, const EVENT_DESCRIPTOR *descriptor,
					    const EVENT_DATA_DESCRIPTOR *data, uint32_t data_count,
					    const GUID *activity)
{
	return etw_provider_write(handle, &(struct etw_event_request){
						  .descriptor = descriptor,
						  .data = data,
						  .data_count = data_count,
						  .activity = activity,
						  .stack = etw_stack_pointer(),
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
	r = etw_event_reserve(ring, bytes, &span);
	if (UNLIKELY(r < 0)) /* -ESTALE: the session is over, or has another set now */
		return r == -ESTALE ? -EAGAIN : r;
	SCHED_POINT("provider.event.reserved"); /* a place in the ring, nothing in it */
	etw_event_put_start(span.at, bytes, 0);
	etw_event_put_origin(&span, ring, thread->thread_id);
	etw_event_put_provider(span.at, &provider);
	etw_event_put_rest(span.at, request->descriptor, request->activity);
	etw_event_copy_fields(request->data, request->data_count, /* is_mixed= */ false,
			      EVENT_DATA_DESCRIPTOR_TYPE_NONE,
			      span.at + sizeof(struct wire_event_header),
			      bytes - sizeof(struct wire_event_header));
	SCHED_POINT("provider.event.copied");
	etw_ring_commit(&span);
	return 0;
}

/*
 * etw_provider_write_plain() - an event without related activity, flags or header flags.
 *
 * As etw_provider_write(), which does whatever is not so simple.
 */
static inline int etw_provider_write_plain(uint64_t handle, const EVENT_DESCRIPTOR *descriptor,
					   const EVENT_DATA_DESCRIPTOR *data, uint32_t data_count,
					   const GUID *activity)
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
		return etw_event_write_otherwise(handle, descriptor, data, data_count, activity);
	thread = etw_thread_enter();
	if (UNLIKELY(!thread))
		return etw_event_write_otherwise(handle, descriptor, data, data_count, activity);
	r = etw_event_write_inside(&target, thread, bytes, &request);
	SCHED_POINT("provider.event.leaving");
	etw_thread_leave(thread);
	if (UNLIKELY(r == -EAGAIN))
		return etw_event_write_otherwise(handle, descriptor, data, data_count, activity);
	return r;
}

#endif
