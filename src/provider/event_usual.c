/* SPDX-License-Identifier: MIT */
#include "provider/event_usual.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <evntcons.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "provider/enable.h"
#include "provider/event_layout.h"
#include "provider/event_plain.h"
#include "provider/fork.h"
#include "provider/ring_sets.h"
#include "provider/thread.h"

/* Of more sessions the general path takes care. */
#define RINGS_MAX 8

/* The registration as it was at one moment: where the event goes to. */
struct view {
	const struct etw_registration *place;
	uint64_t gate;
	etw_provider_words provider;
	const struct etw_ring_mapping *rings[RINGS_MAX];
	unsigned ring_count;
};

/* What the event consists of. */
struct parts {
	const EVENT_DATA_DESCRIPTOR *data; /* payload alone */
	uint32_t data_count;
	uint32_t bytes; /* of all */
	const uint8_t *traits, *schema;
	uint32_t traits_bytes, schema_bytes; /* 0: none */
	uint64_t flags;                      /* of the header */
};

/* A session that has enabled both a provider and its group has two slots, and gets an event that both want once. */
static ALWAYS_INLINE bool has_ring(const struct etw_ring_mapping *const *rings, unsigned count,
				   const struct etw_ring_mapping *ring)
{
	for (unsigned i = 0; i < count; i++) {
		if (rings[i] == ring)
			return true;
	}
	return false;
}

/*
 * @allowed: what of enum etw_general the caller can do
 *
 * Returns false where it is not so simple. For a thread that is inside. Order: A2 in provider/thread.h.
 */
static ALWAYS_INLINE bool find_rings(const struct etw_registration *place, uint64_t handle,
				     const EVENT_DESCRIPTOR *descriptor, uint32_t allowed,
				     struct view *ret)
{
	const uint64_t gate = load_acquire(&place->gate); /* pairs with etw_enable_set() */
	/* Above ETW_GATE_SLOTS_ALL: of another generation. */
	uint32_t bits = (uint32_t)(gate >> 32) - etw_handle_closed_gate(handle);
	const struct etw_enable_slot *slots = etw_enable_slots(place, gate);
	unsigned count = 0;

	if (UNLIKELY(load_relaxed(&place->line) != etw_handle_line(handle) ||
		     bits > ETW_GATE_SLOTS_ALL))
		return false;
	for (; bits; bits &= bits - 1) {
		const struct etw_enable_slot *slot = &slots[(unsigned)__builtin_ctz(bits)];
		const struct etw_ring_mapping *ring;

		if (!etw_enable_passes(slot, descriptor->Level, descriptor->Keyword))
			continue;
		ring = load_acquire(&slot->ring);
		if (UNLIKELY(has_ring(ret->rings, count, ring)))
			continue;
		if (UNLIKELY(count == RINGS_MAX))
			return false;
		ret->rings[count++] = ring;
	}
	etw_enable_load_provider(place, &ret->provider);
	ret->place = place;
	ret->gate = gate;
	ret->ring_count = count;
	return LIKELY((load_acquire(&place->general) & ~allowed) == 0 &&
		      load_relaxed(&place->gate) == gate);
}

static ALWAYS_INLINE void use_traits(const struct etw_registration *place, struct parts *parts)
{
	const struct etw_traits *traits = load_acquire(&place->traits);

	if (traits) {
		parts->traits = traits->data;
		parts->traits_bytes = traits->bytes;
	}
}

/* An empty one may have any address; who can say what is wrong looks closer. */
static ALWAYS_INLINE bool has_low_address(const struct etw_event_request *request)
{
	uint64_t lowest = UINT64_MAX;

	for (uint32_t i = 0; i < request->data_count; i++)
		lowest = request->data[i].Ptr < lowest ? request->data[i].Ptr : lowest;
	return lowest < ETW_EVENT_ADDRESS_MIN;
}

/* Returns false where it is not so simple; what is too large is left to who can say so. */
static ALWAYS_INLINE bool measure(const struct etw_registration *place,
				  const struct etw_event_request *request, struct parts *ret)
{
	const EVENT_DATA_DESCRIPTOR *data = request->data;
	uint32_t count = request->data_count;
	uint64_t sum, bytes;

	*ret = (struct parts){.flags = request->header_flags};
	if (UNLIKELY(has_low_address(request)))
		return false;
	if (etw_event_is_described(data, count)) {
		if (UNLIKELY(!load_acquire(&place->is_typed) ||
			     (data[0].Size | data[1].Size) > ETW_EVENT_BYTES_MAX))
			return false;
		ret->traits = (const uint8_t *)(uintptr_t)data[0].Ptr;
		ret->traits_bytes = data[0].Size;
		ret->schema = (const uint8_t *)(uintptr_t)data[1].Ptr;
		ret->schema_bytes = data[1].Size;
		data += 2;
		count -= 2;
	}
	/* The provider's own, where the event has none. */
	if (ret->traits_bytes == 0)
		use_traits(place, ret);
	ret->data = data;
	ret->data_count = count;
	sum = etw_event_sum_up(data, count);
	if (UNLIKELY(sum > ETW_EVENT_BYTES_MAX))
		return false;
	bytes = sizeof(struct wire_event_header) + sum;
	if (request->related)
		bytes += etw_event_item_bytes(sizeof(GUID));
	if (ret->traits_bytes)
		bytes += etw_event_item_bytes(ret->traits_bytes);
	if (ret->schema_bytes)
		bytes += etw_event_item_bytes(ret->schema_bytes);
	if (request->related || ret->traits_bytes || ret->schema_bytes)
		ret->flags |= WIRE_EVENT_EXTENDED_INFO;
	ret->bytes = (uint32_t)bytes;
	return LIKELY(bytes <= ETW_EVENT_BYTES_MAX);
}

/* Returns where the next item lies. */
static ALWAYS_INLINE uint8_t *put_item(uint8_t *at, uint16_t type, const uint8_t *data,
				       uint32_t data_bytes, bool is_last)
{
	etw_event_put_item_head(at, type, data_bytes, is_last);
	etw_event_copy_field(at + sizeof(struct wire_extended_item), data, data_bytes);
	return at + etw_event_item_bytes(data_bytes);
}

/* In the order that Windows writes them: related activity, provider traits, schema. */
static ALWAYS_INLINE uint8_t *put_items(const struct parts *parts, const GUID *related, uint8_t *at)
{
	if (related)
		at = put_item(at, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID,
			      (const uint8_t *)related, sizeof(GUID),
			      !parts->traits_bytes && !parts->schema_bytes);
	if (parts->traits_bytes)
		at = put_item(at, EVENT_HEADER_EXT_TYPE_PROV_TRAITS, parts->traits,
			      parts->traits_bytes, !parts->schema_bytes);
	if (parts->schema_bytes)
		at = put_item(at, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, parts->schema,
			      parts->schema_bytes, /* is_last= */ true);
	return at;
}

static ALWAYS_INLINE void put_event(const struct parts *parts, const struct view *view,
				    const struct etw_event_request *request,
				    const struct etw_thread *thread, unsigned link,
				    const struct etw_ring_span *span)
{
	uint8_t *at = span->at + sizeof(struct wire_event_header);

	etw_event_put_start(span->at, parts->bytes, parts->flags);
	etw_event_put_origin(span->at, thread->thread_id, etw_process_id(link), span->time_raw);
	etw_event_put_provider(span->at, &view->provider);
	etw_event_put_rest(span->at, request->descriptor, request->activity);
	if (parts->flags & WIRE_EVENT_EXTENDED_INFO)
		at = put_items(parts, request->related, at);
	/* measure() has looked at the addresses. */
	(void)etw_event_copy_fields(parts->data, parts->data_count, /* is_mixed= */ false,
				    EVENT_DATA_DESCRIPTOR_TYPE_NONE, at,
				    parts->bytes - (size_t)(at - span->at));
}

/* Apart, so that the caller's span may stay in registers. Returns as etw_ring_reserve(). */
static __attribute__((noinline)) int reserve_slow(const struct etw_ring_mapping *ring,
						  uint32_t bytes, struct etw_ring_span *ret)
{
	return etw_ring_mapping_reserve(ring, bytes, ret);
}

/* Returns as etw_provider_write(); -EAGAIN: not so simple. */
static ALWAYS_INLINE int write_one(const struct parts *parts, const struct view *view,
				   const struct etw_event_request *request,
				   const struct etw_thread *thread)
{
	const struct etw_ring_mapping *ring = view->rings[0];
	struct etw_ring_span span;

	if (UNLIKELY(!etw_ring_mapping_reserve_direct(ring, (parts->bytes + 7) / 8, &span))) {
		struct etw_ring_span slow = {0};
		const int r = reserve_slow(ring, parts->bytes, &slow);

		if (r < 0) /* -ESTALE: the session is over, or has another set now */
			return r == -ESTALE ? -EAGAIN : r;
		span = slow;
	}
	SCHED_POINT("provider.event.reserved");
	put_event(parts, view, request, thread, ring->link, &span);
	SCHED_POINT("provider.event.copied");
	etw_ring_commit(&span);
	return 0;
}

/* Gives the places up again: the event is written anew by the general path, and is not lost for having been here. */
static __attribute__((noinline)) int abandon(uint32_t bytes, uint64_t flags,
					     const struct etw_ring_span *spans, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		etw_event_put_start(spans[i].at, bytes, flags);
		etw_ring_abandon(&spans[i]);
	}
	return -EAGAIN;
}

/*
 * A place in each ring, of one and the same time: that is read after all places were looked at, and before the first is
 * claimed. Returns 0, or -EAGAIN where a ring has no place at once: what it takes to get one, and what a refusal means for
 * the other sessions, the general path knows.
 */
static ALWAYS_INLINE int claim_all(const struct view *view, uint32_t bytes, uint64_t flags,
				   struct etw_ring_span *ret)
{
	const struct etw_clock_page clock = {load_relaxed(&view->rings[0]->clock)};
	const uint32_t units = (bytes + 7) / 8;
	const uint32_t cpu = etw_cpu_number_fast();
	struct etw_ring_offer offers[RINGS_MAX];
	int64_t time_raw;

	for (unsigned i = 0; i < view->ring_count; i++) {
		const struct etw_ring_mapping *ring = view->rings[i];

		if (UNLIKELY(cpu >= ring->set.direct_count ||
			     load_relaxed(&ring->clock) != clock.page ||
			     etw_ring_look(&ring->set, etw_ring_at(&ring->set, cpu), units,
					   &offers[i]) < 0))
			return -EAGAIN;
	}
	time_raw = etw_clock_now(&clock, ETW_CLOCK_QPC);
	for (unsigned i = 0; i < view->ring_count; i++) {
		if (UNLIKELY(!etw_ring_claim(&offers[i], units, time_raw, &ret[i])))
			return abandon(bytes, flags, ret, i);
	}
	return 0;
}

static __attribute__((noinline)) int write_several(const struct parts *parts,
						   const struct view *view,
						   const struct etw_event_request *request,
						   const struct etw_thread *thread)
{
	struct etw_ring_span spans[RINGS_MAX];

	if (UNLIKELY(claim_all(view, parts->bytes, parts->flags, spans) < 0))
		return -EAGAIN;
	SCHED_POINT("provider.event.reserved");
	for (unsigned i = 0; i < view->ring_count; i++)
		put_event(parts, view, request, thread, view->rings[i]->link, &spans[i]);
	SCHED_POINT("provider.event.copied");
	for (unsigned i = 0; i < view->ring_count; i++)
		etw_ring_commit(&spans[i]);
	return 0;
}

/* For a thread that is inside. Returns as etw_provider_write(); -EAGAIN: not so simple. */
static ALWAYS_INLINE int write_inside(uint64_t handle, const struct etw_event_request *request,
				      const struct etw_thread *thread)
{
	struct parts parts;
	struct view view;

	SCHED_POINT("provider.event.entered");
	if (UNLIKELY(!find_rings(etw_handle_place(handle), handle, request->descriptor,
				 ETW_GENERAL_TRAITS, &view)))
		return -EAGAIN;
	if (view.ring_count == 0)
		return 0;
	if (UNLIKELY(!measure(view.place, request, &parts)))
		return -EAGAIN;
	SCHED_POINT("provider.event.found");
	if (view.ring_count == 1)
		return write_one(&parts, &view, request, thread);
	return write_several(&parts, &view, request, thread);
}

static __attribute__((noinline)) int write_otherwise(uint64_t handle,
						     const struct etw_event_request *request)
{
	struct etw_event_request same = *request;

	same.stack = etw_stack_pointer();
	return etw_provider_write(handle, &same);
}

int etw_provider_write_usual(uint64_t handle, const struct etw_event_request *request)
{
	struct etw_thread *thread;
	int r;

	if (UNLIKELY(request->is_in_private || request->excluded))
		return write_otherwise(handle, request);
	/* Before the first registration there is not even what a thread enters by. */
	if (UNLIKELY(!etw_fork_page))
		return -EBADF;
	thread = etw_thread_enter();
	if (UNLIKELY(!thread))
		return write_otherwise(handle, request);
	r = write_inside(handle, request, thread);
	SCHED_POINT("provider.event.leaving");
	etw_thread_leave(thread);
	return LIKELY(r != -EAGAIN) ? r : write_otherwise(handle, request);
}

/* For a thread that is inside. Returns 0, or -EAGAIN. */
static ALWAYS_INLINE int write_payload_inside(const struct etw_registration *place, uint64_t handle,
					      const struct etw_thread *thread, uint32_t bytes,
					      const struct etw_event_request *request)
{
	struct etw_ring_span spans[RINGS_MAX];
	struct view view;

	SCHED_POINT("provider.event.entered");
	if (UNLIKELY(!find_rings(place, handle, request->descriptor, 0, &view)))
		return -EAGAIN;
	if (view.ring_count == 0)
		return 0;
	SCHED_POINT("provider.event.found");
	if (UNLIKELY(claim_all(&view, bytes, 0, spans) < 0))
		return -EAGAIN;
	SCHED_POINT("provider.event.reserved");
	for (unsigned i = 0; i < view.ring_count; i++) {
		const struct etw_ring_span *span = &spans[i];

		etw_event_put_start(span->at, bytes, 0);
		etw_event_put_origin(span->at, thread->thread_id,
				     etw_process_id(view.rings[i]->link), span->time_raw);
		etw_event_put_provider(span->at, &view.provider);
		etw_event_put_rest(span->at, request->descriptor, request->activity);
		if (UNLIKELY(!etw_event_copy_payload(request->data, request->data_count,
						     span->at + sizeof(struct wire_event_header),
						     bytes - sizeof(struct wire_event_header))))
			return abandon(bytes, 0, spans, view.ring_count);
	}
	SCHED_POINT("provider.event.copied");
	for (unsigned i = 0; i < view.ring_count; i++)
		etw_ring_commit(&spans[i]);
	return 0;
}

int etw_provider_write_payload(const struct etw_registration *place, uint64_t handle,
			       const EVENT_DESCRIPTOR *descriptor,
			       const EVENT_DATA_DESCRIPTOR *data, uint32_t data_count,
			       const GUID *activity)
{
	const struct etw_event_request request = {
		.descriptor = descriptor,
		.data = data,
		.data_count = data_count,
		.activity = activity,
	};
	const uint64_t sum = etw_event_sum_up(data, data_count);
	struct etw_thread *thread;
	int r;

	if (UNLIKELY(sum > ETW_EVENT_PIECES_MAX))
		return -EAGAIN;
	/* Before the first registration there is not even what a thread enters by. */
	if (UNLIKELY(!etw_fork_page))
		return -EBADF;
	thread = etw_thread_enter();
	if (UNLIKELY(!thread))
		return -EAGAIN;
	r = write_payload_inside(place, handle, thread,
				 (uint32_t)sum + (uint32_t)sizeof(struct wire_event_header),
				 &request);
	SCHED_POINT("provider.event.leaving");
	etw_thread_leave(thread);
	return r;
}
