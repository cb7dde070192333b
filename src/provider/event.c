/* SPDX-License-Identifier: MIT */
/*
 * An event is laid out once, in the first ring that has a place for it, and copied to the others. Between
 * reserve and commit nothing can fail.
 */
#include "provider/event.h"

#include <errno.h>
#include <string.h>

#include <evntcons.h>

#include "provider/fork.h"
#include "ring/writer.h"
#include "wire/etl_event.h"

#define HEADER_TYPE (sizeof(void *) == 8 ? WIRE_HEADER_EVENT64 : WIRE_HEADER_EVENT32)

/* What an event consists of. */
struct layout {
	const struct etw_event_request *request;
	const struct etw_enable_view *view;
	uint32_t bytes;
	uint32_t schema_bytes; /* of descriptors of type EVENT_METADATA, 0: no item */
	uint32_t traits_bytes; /* of descriptors of type PROVIDER_METADATA, or the provider's own */
	bool is_traits_own;    /* the registration's traits, not descriptors */
	bool has_items;
	bool is_mixed; /* some descriptors are no payload */
};

struct target {
	const struct etw_ring_mapping *ring;
	struct etw_ring_span span;
};

static inline uint32_t item_bytes(uint32_t data_bytes)
{
	return ALIGN_UP((uint32_t)sizeof(struct wire_extended_item) + data_bytes, 8);
}

/* Sums up descriptors by their type. Sums of 128 sizes of 32 bits fit 64. */
static int measure_mixed(struct layout *layout, uint64_t *ret_payload_bytes)
{
	uint64_t sums[3] = {0};

	layout->is_mixed = true;
	for (uint32_t i = 0; i < layout->request->data_count; i++) {
		const EVENT_DATA_DESCRIPTOR *data = &layout->request->data[i];

		if (data->Type == EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE)
			return -EOPNOTSUPP;
		if (data->Type > EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA)
			return -EINVAL;
		sums[data->Type] += data->Size;
	}
	if (sums[0] + sums[1] + sums[2] > ETW_EVENT_BYTES_MAX)
		return -EOVERFLOW;
	layout->schema_bytes = (uint32_t)sums[EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA];
	layout->traits_bytes = (uint32_t)sums[EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA];
	*ret_payload_bytes = sums[EVENT_DATA_DESCRIPTOR_TYPE_NONE];
	return 0;
}

static uint64_t measure_items(struct layout *layout)
{
	uint64_t bytes = 0;

	if (layout->traits_bytes == 0 && layout->view->traits) {
		layout->traits_bytes = layout->view->traits->bytes;
		layout->is_traits_own = true;
	}
	if (layout->request->related)
		bytes += item_bytes(sizeof(GUID));
	if (layout->traits_bytes)
		bytes += item_bytes(layout->traits_bytes);
	if (layout->schema_bytes)
		bytes += item_bytes(layout->schema_bytes);
	layout->has_items = bytes > 0;
	return bytes;
}

static int measure(struct layout *layout)
{
	const struct etw_event_request *request = layout->request;
	uint64_t bytes = 0;
	unsigned types = 0;

	for (uint32_t i = 0; i < request->data_count; i++) {
		bytes += request->data[i].Size;
		types |= request->data[i].Type;
	}
	if (types && layout->view->is_typed)
		TRY(measure_mixed(layout, &bytes));
	if (layout->is_mixed || request->related || layout->view->traits)
		bytes += measure_items(layout);
	bytes += sizeof(struct wire_event_header);
	if (bytes > ETW_EVENT_BYTES_MAX)
		return -EOVERFLOW;
	layout->bytes = (uint32_t)bytes;
	return 0;
}

/* Fields are mostly short; a call of memcpy() would cost more than they do. Words may overlap. */
static inline void copy_field(uint8_t *to, const uint8_t *from, size_t bytes)
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
static inline void copy_typed(const struct etw_event_request *request, bool is_mixed, unsigned type,
			      uint8_t *at, size_t left)
{
	const EVENT_DATA_DESCRIPTOR *data = request->data;
	const EVENT_DATA_DESCRIPTOR *end = data + request->data_count;

	for (; data < end; data++) {
		size_t bytes = data->Size;

		if (is_mixed && data->Type != type)
			continue;
		if (UNLIKELY(bytes > left))
			bytes = left;
		copy_field(at, (const uint8_t *)(uintptr_t)data->Ptr, bytes);
		at += bytes;
		left -= bytes;
	}
}

static void copy_data(const struct layout *layout, unsigned type, uint8_t *at, size_t left)
{
	copy_typed(layout->request, layout->is_mixed, type, at, left);
}

static inline void copy_plain(const struct etw_event_request *request, uint8_t *at, size_t left)
{
	copy_typed(request, /* is_mixed= */ false, EVENT_DATA_DESCRIPTOR_TYPE_NONE, at, left);
}

static uint8_t *put_item_head(uint8_t *at, uint16_t type, uint32_t data_bytes, bool is_last)
{
	const struct wire_extended_item item = {
		.bytes = le16_of((uint16_t)item_bytes(data_bytes)),
		.type = le16_of(type),
		.linkage = le16_of(is_last ? 0 : WIRE_EXTENDED_LINKAGE),
		.data_bytes = le16_of((uint16_t)data_bytes),
	};

	/* The padding first: it lies under the data's last word. */
	memset(at + item_bytes(data_bytes) - 8, 0, 8);
	memcpy(at, &item, sizeof(item));
	return at + sizeof(item);
}

/* In the order that Windows writes them: related activity, provider traits, schema. */
static uint8_t *put_items(const struct layout *layout, uint8_t *at)
{
	uint8_t *data;

	if (layout->request->related) {
		data = put_item_head(at, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID, sizeof(GUID),
				     !layout->traits_bytes && !layout->schema_bytes);
		memcpy(data, layout->request->related, sizeof(GUID));
		at += item_bytes(sizeof(GUID));
	}
	if (layout->traits_bytes) {
		data = put_item_head(at, EVENT_HEADER_EXT_TYPE_PROV_TRAITS, layout->traits_bytes,
				     !layout->schema_bytes);
		if (layout->is_traits_own)
			memcpy(data, layout->view->traits->data, layout->traits_bytes);
		else
			copy_data(layout, EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA, data,
				  layout->traits_bytes);
		at += item_bytes(layout->traits_bytes);
	}
	if (layout->schema_bytes) {
		data = put_item_head(at, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
				     layout->schema_bytes, /* is_last= */ true);
		copy_data(layout, EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA, data,
			  layout->schema_bytes);
		at += item_bytes(layout->schema_bytes);
	}
	return at;
}

/* bytes, header_type, header_flag, flags, property: one store. */
static inline void put_header_start(uint8_t *at, uint32_t bytes, uint64_t flags)
{
	etw_store64(at, bytes | (uint64_t)HEADER_TYPE << 16 |
				(uint64_t)WIRE_EVENT_FLAG_TRACE << 24 | flags << 32);
}

/* The part of the header that differs from ring to ring. */
static inline void put_header_origin(const struct etw_ring_span *span,
				     const struct etw_ring_mapping *ring, uint32_t thread_id)
{
	etw_store64(span->at + offsetof(struct wire_event_header, thread_id),
		    thread_id | (uint64_t)etw_process_id(ring->link) << 32);
	etw_store64(span->at + offsetof(struct wire_event_header, time_raw),
		    (uint64_t)span->time_raw);
}

/* Copies 16 bytes by two words, as the source was stored: a wider load would have to wait for both. */
static inline void copy_words(uint8_t *to, const void *from)
{
	uint64_t words[2];

	memcpy(&words[0], from, 8);
	memcpy(&words[1], (const uint8_t *)from + 8, 8);
	__asm__("" : "+r"(words[0]), "+r"(words[1])); /* the compiler would make it one */
	memcpy(to, &words[0], 8);
	memcpy(to + 8, &words[1], 8);
}

/* From the provider to the activity id. An EVENT_DESCRIPTOR is stored as it is in memory: id to keyword. */
static inline void put_header_rest(uint8_t *at, const uint64_t provider[2],
				   const struct etw_event_request *request)
{
	static_assert(sizeof(EVENT_DESCRIPTOR) == offsetof(struct wire_event_header, kernel_ticks) -
							  offsetof(struct wire_event_header, id),
		      "layout");
	etw_store64(at + offsetof(struct wire_event_header, provider), provider[0]);
	etw_store64(at + offsetof(struct wire_event_header, provider) + 8, provider[1]);
	copy_words(at + offsetof(struct wire_event_header, id), request->descriptor);
	etw_store64(at + offsetof(struct wire_event_header, kernel_ticks), 0);
	copy_words(at + offsetof(struct wire_event_header, activity), request->activity);
}

static uint64_t header_flags(const struct layout *layout)
{
	return layout->request->header_flags | (layout->has_items ? WIRE_EVENT_EXTENDED_INFO : 0u);
}

static void put_event(const struct layout *layout, const struct target *target, uint32_t thread_id)
{
	uint8_t *start = target->span.at;
	uint8_t *at = start + sizeof(struct wire_event_header);

	put_header_start(start, layout->bytes, header_flags(layout));
	put_header_origin(&target->span, target->ring, thread_id);
	put_header_rest(start, layout->view->provider, layout->request);
	if (layout->has_items)
		at = put_items(layout, at);
	copy_data(layout, EVENT_DATA_DESCRIPTOR_TYPE_NONE, at,
		  layout->bytes - (size_t)(at - start));
}

static inline bool is_independent(const struct target *target)
{
	return target->ring->set.flags & WIRE_RING_INDEPENDENT;
}

static inline int reserve(const struct etw_ring_mapping *ring, uint32_t bytes,
			  struct etw_ring_span *ret)
{
	const struct etw_clock_page clock = {load_relaxed(&ring->clock)};

	return etw_ring_reserve(&ring->set, &clock, bytes, ret);
}

/* Leaves in @targets those whose sessions do not care what the others did. Returns how many. */
static unsigned abandon_dependent(const struct layout *layout, struct target *targets,
				  unsigned count)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		if (is_independent(&targets[i])) {
			targets[kept++] = targets[i];
			continue;
		}
		put_header_start(targets[i].span.at, layout->bytes, header_flags(layout));
		etw_ring_abandon(&targets[i].span);
	}
	return kept;
}

/* Returns the first refusal; those that took the event are in @targets in any case. */
static int reserve_all(const struct layout *layout, struct target *targets, unsigned *ret_count)
{
	const struct etw_enable_view *view = layout->view;
	bool is_refused = false;
	int first_error = 0;
	unsigned count = 0;

	for (unsigned i = 0; i < view->ring_count; i++) {
		int r;

		targets[count].ring = view->rings[i];
		r = reserve(view->rings[i], layout->bytes, &targets[count].span);
		if (LIKELY(r == 0)) {
			count++;
			continue;
		}
		if (r == -ESTALE) /* the session is over */
			continue;
		if (first_error == 0)
			first_error = r;
		if (!is_independent(&targets[count]))
			is_refused = true;
	}
	*ret_count = is_refused ? abandon_dependent(layout, targets, count) : count;
	return first_error;
}

static int write_several(const struct layout *layout, uint32_t thread_id)
{
	struct target targets[ETW_PROVIDER_SLOTS];
	unsigned count;
	int r;

	r = reserve_all(layout, targets, &count);
	if (UNLIKELY(count == 0))
		return r;
	SCHED_POINT("provider.event.reserved");
	put_event(layout, &targets[0], thread_id);
	for (unsigned i = 1; i < count; i++) {
		memcpy(targets[i].span.at, targets[0].span.at, layout->bytes);
		put_header_origin(&targets[i].span, targets[i].ring, thread_id);
	}
	SCHED_POINT("provider.event.copied");
	for (unsigned i = 0; i < count; i++)
		etw_ring_commit(&targets[i].span);
	return r;
}

/* Any event, to any number of sessions. */
static __attribute__((noinline)) int write_any(uint64_t handle,
					       const struct etw_event_request *request)
{
	const struct etw_enable_query query = {
		.keyword = request->descriptor->Keyword,
		.level = request->descriptor->Level,
		.is_in_private = request->is_in_private,
	};
	struct etw_enable_view view;
	struct layout layout = {.request = request, .view = &view};

	TRY(etw_enable_collect(handle, &query, &view));
	if (view.ring_count == 0)
		return 0;
	TRY(measure(&layout));
	return write_several(&layout, etw_thread_id());
}

/* The only ring that may want the event. Returns 0, *@ret NULL: it does not; -EAGAIN: not so simple. */
static inline int find_only_ring(uint64_t handle, const struct etw_event_request *request,
				 const struct etw_ring_mapping **ret, uint64_t ret_provider[2])
{
	const struct etw_enable_query query = {
		.keyword = request->descriptor->Keyword,
		.level = request->descriptor->Level,
		.is_in_private = request->is_in_private,
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
	slot = &etw_enable_slots(registration, gate)[__builtin_ctz(slots)];
	*ret = etw_enable_is_wanted(slot, &query) ? load_acquire(&slot->ring) : NULL;
	ret_provider[0] = load_acquire(&registration->provider[0]);
	ret_provider[1] = load_acquire(&registration->provider[1]);
	if (UNLIKELY(load_acquire(&registration->traits) ||
		     load_relaxed(&registration->gate) != gate))
		return -EAGAIN;
	return 0;
}

/* Returns -EAGAIN where a descriptor is more than payload. */
static inline int measure_plain(const struct etw_event_request *request, uint32_t *ret_bytes)
{
	uint64_t bytes = sizeof(struct wire_event_header);
	unsigned types = 0;

	for (uint32_t i = 0; i < request->data_count; i++) {
		bytes += request->data[i].Size;
		types |= request->data[i].Type;
	}
	if (UNLIKELY(types || bytes > ETW_EVENT_BYTES_MAX))
		return -EAGAIN;
	*ret_bytes = (uint32_t)bytes;
	return 0;
}

/* The usual case by itself, so that what it needs stays in registers: one session, no items. */
int etw_provider_write(uint64_t handle, const struct etw_event_request *request)
{
	const struct etw_ring_mapping *ring;
	struct etw_ring_span span;
	uint64_t provider[2];
	uint32_t bytes, thread_id;
	int r;

	if (UNLIKELY(request->related || find_only_ring(handle, request, &ring, provider) < 0 ||
		     measure_plain(request, &bytes) < 0))
		return write_any(handle, request);
	if (!ring)
		return 0;
	thread_id = etw_thread_id();
	r = reserve(ring, bytes, &span);
	if (UNLIKELY(r < 0))
		return r == -ESTALE ? 0 : r;    /* -ESTALE: the session is over */
	SCHED_POINT("provider.event.reserved"); /* a place in the ring, nothing in it */
	put_header_start(span.at, bytes, request->header_flags);
	put_header_origin(&span, ring, thread_id);
	put_header_rest(span.at, provider, request);
	copy_plain(request, span.at + sizeof(struct wire_event_header),
		   bytes - sizeof(struct wire_event_header));
	SCHED_POINT("provider.event.copied");
	etw_ring_commit(&span);
	return 0;
}
