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

/* From so many sessions on it is cheaper to store each piece of an event in all rings before the next is looked at. */
#define TOGETHER_MIN 4

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
	const uint32_t general = load_acquire(&place->general);
	unsigned count = 0;

	if (UNLIKELY(load_relaxed(&place->line) != etw_handle_line(handle) ||
		     bits > ETW_GATE_SLOTS_ALL || general & ~(allowed | ETW_GENERAL_TWICE)))
		return false;
	for (; bits; bits &= bits - 1) {
		const struct etw_enable_slot *slot = &slots[(unsigned)__builtin_ctz(bits)];
		const struct etw_ring_mapping *ring;

		if (!etw_enable_passes(slot, descriptor->Level, descriptor->Keyword))
			continue;
		ring = load_acquire(&slot->ring);
		if (UNLIKELY(general & ETW_GENERAL_TWICE) && has_ring(ret->rings, count, ring))
			continue;
		if (UNLIKELY(count == RINGS_MAX))
			return false;
		ret->rings[count++] = ring;
	}
	etw_enable_load_provider(place, &ret->provider);
	ret->place = place;
	ret->gate = gate;
	ret->ring_count = count;
	return LIKELY(load_relaxed(&place->gate) == gate);
}

static ALWAYS_INLINE void use_traits(const struct etw_registration *place, struct parts *parts)
{
	const struct etw_traits *traits = load_acquire(&place->traits);

	if (traits) {
		parts->traits = traits->data;
		parts->traits_bytes = traits->bytes;
	}
}

/* Returns false where it is not so simple; what is too large is left to who can say so. */
static ALWAYS_INLINE bool measure(const struct etw_registration *place,
				  const struct etw_event_request *request, struct parts *ret)
{
	const EVENT_DATA_DESCRIPTOR *data = request->data;
	uint32_t count = request->data_count;
	uint64_t sum, bytes;

	*ret = (struct parts){.flags = request->header_flags};
	if (etw_event_is_described(data, count)) {
		if (UNLIKELY(!load_acquire(&place->is_typed) ||
			     (data[0].Size | data[1].Size) > ETW_EVENT_BYTES_MAX ||
			     data[0].Ptr < ETW_EVENT_ADDRESS_MIN ||
			     data[1].Ptr < ETW_EVENT_ADDRESS_MIN))
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

/* Returns false where a descriptor names bytes that cannot be there. */
static ALWAYS_INLINE bool put_event(const struct parts *parts, const struct view *view,
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
	return etw_event_copy_fields(parts->data, parts->data_count, /* is_mixed= */ false,
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
	if (UNLIKELY(!put_event(parts, view, request, thread, ring->link, &span))) {
		etw_ring_abandon(&span);
		return -EAGAIN;
	}
	SCHED_POINT("provider.event.copied");
	etw_ring_commit(&span);
	return 0;
}

/* The places of one event in the rings of several sessions, which get the same bytes but for few. */
struct places {
	struct etw_ring_offer offers[RINGS_MAX];
	int64_t time_raw;
	unsigned count;
};

static ALWAYS_INLINE struct etw_ring_span span_of(const struct places *places, unsigned i)
{
	return (struct etw_ring_span){
		.at = places->offers[i].at,
		.mark = places->offers[i].mark,
		.time_raw = places->time_raw,
	};
}

/* Gives the first places up again: the event is written anew by the general path, and is not lost for having been here. */
static __attribute__((noinline)) int abandon(uint32_t bytes, uint64_t flags,
					     const struct places *places, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const struct etw_ring_span span = span_of(places, i);

		etw_event_put_start(span.at, bytes, flags);
		etw_ring_abandon(&span);
	}
	return -EAGAIN;
}

/*
 * A place in each ring, of one and the same time: that is read after all places were looked at, and before the first is
 * claimed. Returns 0, or -EAGAIN where a ring has no place at once: what it takes to get one, and what a refusal means for
 * the other sessions, the general path knows.
 */
static ALWAYS_INLINE int claim_all(const struct view *view, uint32_t bytes, uint64_t flags,
				   struct places *ret)
{
	const struct wire_clock_page *page = load_relaxed(&view->rings[0]->clock);
	const uint32_t units = (bytes + 7) / 8;
	const uint32_t cpu = etw_cpu_number_fast();

	for (unsigned i = 0; i < view->ring_count; i++) {
		const struct etw_ring_mapping *ring = view->rings[i];

		if (UNLIKELY(cpu >= ring->set.direct_count || load_relaxed(&ring->clock) != page ||
			     etw_ring_look(&ring->set, etw_ring_at(&ring->set, cpu), units,
					   &ret->offers[i]) < 0))
			return -EAGAIN;
	}
	ret->time_raw = etw_clock_now(&(struct etw_clock_page){page}, ETW_CLOCK_QPC);
	for (unsigned i = 0; i < view->ring_count; i++) {
		if (UNLIKELY(!etw_ring_take(&ret->offers[i], units)))
			return abandon(bytes, flags, ret, i);
	}
	ret->count = view->ring_count;
	return 0;
}

/*
 * The same bytes to all places, at @at of each: what is loaded once is stored in all of them. So what is to be found out of a
 * field, its size above all, is found out once; and nothing is read back that was just written, which is slow.
 */
static ALWAYS_INLINE void put_word(const struct places *places, uint32_t at, uint64_t word)
{
	for (unsigned i = 0; i < places->count; i++)
		etw_store64(places->offers[i].at + at, word);
}

static ALWAYS_INLINE void put_16(const struct places *places, uint32_t at, const void *from)
{
	etw_event_words words;

	memcpy(&words, from, sizeof(words));
	for (unsigned i = 0; i < places->count; i++)
		memcpy(places->offers[i].at + at, &words, sizeof(words));
}

/* More than 16 bytes. The last piece may lie over the one before. */
static ALWAYS_INLINE void put_pieces(const struct places *places, uint32_t at, const uint8_t *from,
				     uint32_t bytes)
{
	for (uint32_t done = 0; done + 16 < bytes; done += 16)
		put_16(places, at + done, from + done);
	put_16(places, at + bytes - 16, from + bytes - 16);
}

static __attribute__((noinline)) void put_field_each(const struct places *places, uint32_t at,
						     const uint8_t *from, uint32_t bytes)
{
	for (unsigned i = 0; i < places->count; i++)
		etw_event_copy_field(places->offers[i].at + at, from, bytes);
}

static ALWAYS_INLINE void put_field(const struct places *places, uint32_t at, const uint8_t *from,
				    uint32_t bytes)
{
	if (bytes == 8) {
		put_word(places, at, etw_load64(from));
	} else if (bytes > 8 && bytes <= 16) {
		put_word(places, at, etw_load64(from));
		put_word(places, at + bytes - 8, etw_load64(from + bytes - 8));
	} else if (bytes > 16 && bytes <= ETW_EVENT_PIECES_MAX) {
		put_pieces(places, at, from, bytes);
	} else {
		put_field_each(places, at, from, bytes);
	}
}

/* Returns where the next item is to be. */
static ALWAYS_INLINE uint32_t put_item_all(const struct places *places, uint32_t at, uint16_t type,
					   const uint8_t *data, uint32_t data_bytes, bool is_last)
{
	const uint32_t bytes = etw_event_item_bytes(data_bytes);

	/* The padding first: it lies under the data's last word. */
	put_word(places, at + bytes - 8, 0);
	put_word(places, at, etw_event_item_head(type, data_bytes, is_last));
	put_field(places, at + (uint32_t)sizeof(struct wire_extended_item), data, data_bytes);
	return at + bytes;
}

static ALWAYS_INLINE uint32_t put_items_all(const struct places *places, const struct parts *parts,
					    const GUID *related, uint32_t at)
{
	if (related)
		at = put_item_all(places, at, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID,
				  (const uint8_t *)related, sizeof(GUID),
				  !parts->traits_bytes && !parts->schema_bytes);
	if (parts->traits_bytes)
		at = put_item_all(places, at, EVENT_HEADER_EXT_TYPE_PROV_TRAITS, parts->traits,
				  parts->traits_bytes, !parts->schema_bytes);
	if (parts->schema_bytes)
		at = put_item_all(places, at, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, parts->schema,
				  parts->schema_bytes, /* is_last= */ true);
	return at;
}

/* As etw_event_copy_payload(), to @at of all places. */
static ALWAYS_INLINE bool put_payload_all(const struct places *places, const struct parts *parts,
					  uint32_t at)
{
	for (uint32_t i = 0; i < parts->data_count; i++) {
		const EVENT_DATA_DESCRIPTOR *data = &parts->data[i];
		uint32_t bytes = data->Size;

		if (UNLIKELY(bytes > parts->bytes - at))
			bytes = parts->bytes - at;
		/* An empty one may have any address. */
		if (UNLIKELY(data->Ptr < ETW_EVENT_ADDRESS_MIN) && bytes)
			return false;
		put_field(places, at, (const uint8_t *)(uintptr_t)data->Ptr, bytes);
		at += bytes;
	}
	return true;
}

static ALWAYS_INLINE void put_headers(const struct places *places, const struct parts *parts,
				      const struct view *view,
				      const struct etw_event_request *request,
				      const struct etw_thread *thread)
{
	for (unsigned i = 0; i < places->count; i++) {
		uint8_t *at = places->offers[i].at;

		etw_event_put_start(at, parts->bytes, parts->flags);
		etw_event_put_origin(at, thread->thread_id, etw_process_id(view->rings[i]->link),
				     places->time_raw);
		etw_event_put_provider(at, &view->provider);
		etw_event_put_rest(at, request->descriptor, request->activity);
	}
}

static ALWAYS_INLINE void commit_all(const struct places *places)
{
	for (unsigned i = 0; i < places->count; i++) {
		const struct etw_ring_span span = span_of(places, i);

		etw_ring_commit(&span);
	}
}

/* Of several sessions, and with items. Apart from the events of one session, which need less of a frame. */
static __attribute__((noinline)) int write_several(const struct parts *parts,
						   const struct view *view,
						   const struct etw_event_request *request,
						   const struct etw_thread *thread)
{
	uint32_t at = sizeof(struct wire_event_header);
	bool is_put = true;
	struct places places;

	if (UNLIKELY(claim_all(view, parts->bytes, parts->flags, &places) < 0))
		return -EAGAIN;
	SCHED_POINT("provider.event.reserved");
	if (places.count < TOGETHER_MIN) {
		for (unsigned i = 0; i < places.count; i++) {
			const struct etw_ring_span span = span_of(&places, i);

			is_put &= put_event(parts, view, request, thread, view->rings[i]->link,
					    &span);
		}
	} else {
		put_headers(&places, parts, view, request, thread);
		if (parts->flags & WIRE_EVENT_EXTENDED_INFO)
			at = put_items_all(&places, parts, request->related, at);
		is_put = put_payload_all(&places, parts, at);
	}
	if (UNLIKELY(!is_put))
		return abandon(parts->bytes, parts->flags, &places, places.count);
	SCHED_POINT("provider.event.copied");
	commit_all(&places);
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

__attribute__((noinline)) int etw_provider_write_unusual(uint64_t handle,
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
		return etw_provider_write_unusual(handle, request);
	/* Before the first registration there is not even what a thread enters by. */
	if (UNLIKELY(!etw_fork_page))
		return -EBADF;
	thread = etw_thread_enter();
	if (UNLIKELY(!thread))
		return etw_provider_write_unusual(handle, request);
	r = write_inside(handle, request, thread);
	SCHED_POINT("provider.event.leaving");
	etw_thread_leave(thread);
	return LIKELY(r != -EAGAIN) ? r : etw_provider_write_unusual(handle, request);
}

/* For a thread that is inside. Returns 0, or -EAGAIN. */
static ALWAYS_INLINE int write_payload_inside(uint64_t handle, const struct parts *parts,
					      const struct etw_event_request *request,
					      const struct etw_thread *thread)
{
	struct places places;
	struct view view;

	SCHED_POINT("provider.event.entered");
	if (UNLIKELY(!find_rings(etw_handle_place(handle), handle, request->descriptor, 0, &view)))
		return -EAGAIN;
	if (view.ring_count == 0)
		return 0;
	SCHED_POINT("provider.event.found");
	if (UNLIKELY(claim_all(&view, parts->bytes, 0, &places) < 0))
		return -EAGAIN;
	SCHED_POINT("provider.event.reserved");
	put_headers(&places, parts, &view, request, thread);
	if (UNLIKELY(!put_payload_all(&places, parts, sizeof(struct wire_event_header))))
		return abandon(parts->bytes, 0, &places, places.count);
	SCHED_POINT("provider.event.copied");
	commit_all(&places);
	return 0;
}

int etw_provider_write_payload(uint64_t handle, const EVENT_DESCRIPTOR *descriptor,
			       const EVENT_DATA_DESCRIPTOR *data, uint32_t data_count,
			       const GUID *activity)
{
	const struct etw_event_request request = {.descriptor = descriptor, .activity = activity};
	const uint64_t sum = etw_event_sum_up(data, data_count);
	const struct parts parts = {
		.data = data,
		.data_count = data_count,
		.bytes = (uint32_t)sum + (uint32_t)sizeof(struct wire_event_header),
	};
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
	r = write_payload_inside(handle, &parts, &request, thread);
	SCHED_POINT("provider.event.leaving");
	etw_thread_leave(thread);
	return r;
}
