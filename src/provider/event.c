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
};

struct target {
	const struct etw_ring_mapping *ring;
	struct etw_ring_span span;
};

static inline uint32_t item_bytes(uint32_t data_bytes)
{
	return ALIGN_UP((uint32_t)sizeof(struct wire_extended_item) + data_bytes, 8);
}

static inline unsigned type_of(const struct layout *layout, uint32_t i)
{
	return layout->view->is_typed ? layout->request->data[i].Type : 0;
}

/* Sums up descriptors by their type. Sums of 128 sizes of 32 bits fit 64. */
static int measure_data(struct layout *layout, uint64_t sums[3])
{
	for (uint32_t i = 0; i < layout->request->data_count; i++) {
		const unsigned type = type_of(layout, i);

		if (UNLIKELY(type > EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA))
			return type == EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE ? -EOPNOTSUPP
										     : -EINVAL;
		sums[type] += layout->request->data[i].Size;
	}
	return 0;
}

static int measure(struct layout *layout)
{
	uint64_t sums[3] = {0};
	uint64_t bytes = sizeof(struct wire_event_header);

	TRY(measure_data(layout, sums));
	if (UNLIKELY(sums[0] + sums[1] + sums[2] > ETW_EVENT_BYTES_MAX))
		return -EOVERFLOW;
	layout->schema_bytes = (uint32_t)sums[EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA];
	layout->traits_bytes = (uint32_t)sums[EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA];
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
	layout->has_items = bytes > sizeof(struct wire_event_header);
	bytes += sums[EVENT_DATA_DESCRIPTOR_TYPE_NONE];
	if (UNLIKELY(bytes > ETW_EVENT_BYTES_MAX))
		return -EOVERFLOW;
	layout->bytes = (uint32_t)bytes;
	return 0;
}

/* Fields are mostly as long as a register; a call of memcpy() would cost more than they do. */
static inline void copy_field(uint8_t *to, const void *from, size_t bytes)
{
	switch (bytes) {
	case 1:
		memcpy(to, from, 1);
		break;
	case 2:
		memcpy(to, from, 2);
		break;
	case 4:
		memcpy(to, from, 4);
		break;
	case 8:
		memcpy(to, from, 8);
		break;
	case 16:
		memcpy(to, from, 16);
		break;
	default:
		memcpy(to, from, bytes);
	}
}

/*
 * Copies all descriptors of a type. @left: what was measured; a program that changes descriptors while
 * they are written gets a wrong event, and nobody else does.
 */
static uint8_t *copy_data(const struct layout *layout, unsigned type, uint8_t *at, size_t left)
{
	const EVENT_DATA_DESCRIPTOR *data = layout->request->data;

	for (uint32_t i = 0; i < layout->request->data_count; i++) {
		size_t bytes = data[i].Size;

		if (type_of(layout, i) != type)
			continue;
		if (UNLIKELY(bytes > left))
			bytes = left;
		copy_field(at, (const void *)(uintptr_t)data[i].Ptr, bytes);
		at += bytes;
		left -= bytes;
	}
	return at;
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
			(void)copy_data(layout, EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA, data,
					layout->traits_bytes);
		at += item_bytes(layout->traits_bytes);
	}
	if (layout->schema_bytes) {
		data = put_item_head(at, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
				     layout->schema_bytes, /* is_last= */ true);
		(void)copy_data(layout, EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA, data,
				layout->schema_bytes);
		at += item_bytes(layout->schema_bytes);
	}
	return at;
}

static inline void put_header_start(const struct layout *layout, uint8_t *at)
{
	const uint64_t flags = layout->request->header_flags |
			       (layout->has_items ? WIRE_EVENT_EXTENDED_INFO : 0u);

	/* bytes, header_type, header_flag, flags, property: one store. */
	etw_store64(at, layout->bytes | (uint64_t)HEADER_TYPE << 16 |
				(uint64_t)WIRE_EVENT_FLAG_TRACE << 24 | flags << 32);
}

/* The part of the header that differs from ring to ring. */
static inline void put_header_origin(const struct target *target, uint32_t thread_id)
{
	struct wire_event_header *header = (struct wire_event_header *)(void *)target->span.at;

	header->thread_id = le32_of(thread_id);
	header->process_id = le32_of(etw_process_id(target->ring->link));
	header->time_raw = le64_of((uint64_t)target->span.time_raw);
}

static void put_event(const struct layout *layout, const struct target *target, uint32_t thread_id)
{
	struct wire_event_header *header = (struct wire_event_header *)(void *)target->span.at;
	uint8_t *at = target->span.at + sizeof(*header);

	put_header_start(layout, target->span.at);
	put_header_origin(target, thread_id);
	memcpy(header->provider, layout->view->provider, sizeof(header->provider));
	/* An EVENT_DESCRIPTOR is stored as it is in memory: id to keyword. */
	static_assert(sizeof(EVENT_DESCRIPTOR) == offsetof(struct wire_event_header, kernel_ticks) -
							  offsetof(struct wire_event_header, id),
		      "layout");
	memcpy(&header->id, layout->request->descriptor, sizeof(EVENT_DESCRIPTOR));
	header->kernel_ticks = le32_of(0);
	header->user_ticks = le32_of(0);
	memcpy(header->activity, layout->request->activity, sizeof(header->activity));
	if (UNLIKELY(layout->has_items))
		at = put_items(layout, at);
	(void)copy_data(layout, EVENT_DATA_DESCRIPTOR_TYPE_NONE, at,
			layout->bytes - (size_t)(at - target->span.at));
}

static inline bool is_independent(const struct target *target)
{
	return target->ring->set.flags & WIRE_RING_INDEPENDENT;
}

static inline int reserve(const struct layout *layout, struct target *target)
{
	const struct etw_clock_page clock = {load_relaxed(&target->ring->clock)};

	return etw_ring_reserve(&target->ring->set, &clock, layout->bytes, &target->span);
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
		put_header_start(layout, targets[i].span.at);
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
		r = reserve(layout, &targets[count]);
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

int etw_provider_write(uint64_t handle, const struct etw_event_request *request)
{
	const struct etw_enable_query query = {
		.keyword = request->descriptor->Keyword,
		.level = request->descriptor->Level,
		.is_in_private = request->is_in_private,
	};
	struct target targets[ETW_PROVIDER_SLOTS];
	struct etw_enable_view view;
	struct layout layout = {.request = request, .view = &view};
	uint32_t thread_id;
	unsigned count;
	int r;

	TRY(etw_enable_collect(handle, &query, &view));
	if (view.ring_count == 0)
		return 0;
	TRY(measure(&layout));
	thread_id = etw_thread_id();
	r = reserve_all(&layout, targets, &count);
	if (UNLIKELY(count == 0))
		return r;
	SCHED_POINT("provider.event.reserved"); /* places in all rings, nothing in them */
	put_event(&layout, &targets[0], thread_id);
	for (unsigned i = 1; i < count; i++) {
		memcpy(targets[i].span.at, targets[0].span.at, layout.bytes);
		put_header_origin(&targets[i], thread_id);
	}
	SCHED_POINT("provider.event.copied");
	for (unsigned i = 0; i < count; i++)
		etw_ring_commit(&targets[i].span);
	return r;
}
