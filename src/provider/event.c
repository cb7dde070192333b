/* SPDX-License-Identifier: MIT */
/*
 * An event is laid out once, in the first ring that has a place for it, and copied to the others. Between
 * reserve and commit nothing can fail.
 */
#include "provider/event.h"

#include <errno.h>
#include <string.h>

#include <evntcons.h>

#include "base/sched_point.h"
#include "provider/enable.h"
#include "provider/event_layout.h"
#include "provider/fork.h"
#include "provider/items.h"
#include "provider/ring_sets.h"
#include "provider/thread.h"

/* What an event consists of. */
struct layout {
	const struct etw_event_request *request;
	const struct etw_registration *registration;
	const struct etw_enable_view *view;
	uint32_t bytes;        /* but for what its sessions ask for */
	uint32_t head_bytes;   /* of them in front of that: header and related activity */
	uint32_t schema_bytes; /* of descriptors of type EVENT_METADATA, 0: no item */
	uint32_t traits_bytes; /* of descriptors of type PROVIDER_METADATA, or the provider's own */
	bool is_traits_own;    /* the registration's traits, not descriptors */
	bool has_items;
	bool is_mixed;          /* some descriptors are no payload */
	struct etw_items items; /* that sessions ask for */
};

struct target {
	const struct etw_ring_mapping *ring;
	struct etw_ring_span span;
	uint32_t wanted; /* ETW_ENABLE_ITEMS that its session asks for */
	uint32_t bytes;  /* of the event there */
};

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
	if (layout->request->related) {
		bytes += etw_item_bytes(sizeof(GUID));
		layout->head_bytes += etw_item_bytes(sizeof(GUID));
	}
	if (layout->traits_bytes)
		bytes += etw_item_bytes(layout->traits_bytes);
	if (layout->schema_bytes)
		bytes += etw_item_bytes(layout->schema_bytes);
	layout->has_items = bytes > 0;
	return bytes;
}

/* Whether a descriptor names bytes where there can be none. An empty one may have any address. */
static bool has_null_data(const struct etw_event_request *request)
{
	for (uint32_t i = 0; i < request->data_count; i++) {
		if (request->data[i].Ptr < ETW_EVENT_ADDRESS_MIN && request->data[i].Size)
			return true;
	}
	return false;
}

static int measure(struct layout *layout)
{
	const struct etw_event_request *request = layout->request;
	uint64_t bytes = 0, lowest = UINT64_MAX;
	unsigned types = 0;

	layout->head_bytes = sizeof(struct wire_event_header);
	for (uint32_t i = 0; i < request->data_count; i++) {
		bytes += request->data[i].Size;
		types |= request->data[i].Type;
		lowest = request->data[i].Ptr < lowest ? request->data[i].Ptr : lowest;
	}
	if (types && layout->view->is_typed)
		TRY(measure_mixed(layout, &bytes));
	if (layout->is_mixed || request->related || layout->view->traits)
		bytes += measure_items(layout);
	bytes += sizeof(struct wire_event_header);
	if (bytes > ETW_EVENT_BYTES_MAX)
		return -EOVERFLOW;
	if (UNLIKELY(lowest < ETW_EVENT_ADDRESS_MIN) && has_null_data(request))
		return -EFAULT;
	layout->bytes = (uint32_t)bytes;
	return 0;
}

static void copy_data(const struct layout *layout, unsigned type, uint8_t *at, size_t left)
{
	/* measure() has looked at the addresses. */
	(void)etw_event_copy_fields(layout->request->data, layout->request->data_count,
				    layout->is_mixed, type, at, left);
}

/* In the order that Windows writes them: related activity, what the session asks for, provider traits, schema. */
static uint8_t *put_items(const struct layout *layout, uint32_t wanted, uint8_t *at)
{
	const bool has_tail = layout->traits_bytes || layout->schema_bytes;
	uint8_t *data;

	if (layout->request->related) {
		data = etw_item_put_head(at, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID, sizeof(GUID),
					 !wanted && !has_tail);
		memcpy(data, layout->request->related, sizeof(GUID));
		at += etw_item_bytes(sizeof(GUID));
	}
	if (UNLIKELY(wanted))
		at = etw_items_put(&layout->items, wanted, /* is_last= */ !has_tail, at);
	if (layout->traits_bytes) {
		data = etw_item_put_head(at, EVENT_HEADER_EXT_TYPE_PROV_TRAITS,
					 layout->traits_bytes, !layout->schema_bytes);
		if (layout->is_traits_own)
			memcpy(data, layout->view->traits->data, layout->traits_bytes);
		else
			copy_data(layout, EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA, data,
				  layout->traits_bytes);
		at += etw_item_bytes(layout->traits_bytes);
	}
	if (layout->schema_bytes) {
		data = etw_item_put_head(at, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
					 layout->schema_bytes, /* is_last= */ true);
		copy_data(layout, EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA, data,
			  layout->schema_bytes);
		at += etw_item_bytes(layout->schema_bytes);
	}
	return at;
}

static void put_start(const struct layout *layout, const struct target *target)
{
	const bool has_items = layout->has_items || target->wanted;

	etw_event_put_start(target->span.at, target->bytes,
			    layout->request->header_flags |
				    (has_items ? WIRE_EVENT_EXTENDED_INFO : 0u));
}

static void put_origin(const struct target *target, uint32_t thread_id)
{
	etw_event_put_origin(target->span.at, thread_id, etw_process_id(target->ring->link),
			     target->span.time_raw);
}

static void put_event(const struct layout *layout, const struct target *target, uint32_t thread_id)
{
	uint8_t *start = target->span.at;
	uint8_t *at = start + sizeof(struct wire_event_header);

	put_start(layout, target);
	put_origin(target, thread_id);
	etw_event_put_provider(start, &layout->view->provider);
	etw_event_put_rest(start, layout->request->descriptor, layout->request->activity);
	if (layout->has_items || target->wanted)
		at = put_items(layout, target->wanted, at);
	copy_data(layout, EVENT_DATA_DESCRIPTOR_TYPE_NONE, at,
		  target->bytes - (size_t)(at - start));
}

/* The event once more, where another session asks for other items: what lies behind these is the same. */
static void put_differently(const struct layout *layout, const struct target *target,
			    const struct target *first, uint32_t thread_id)
{
	const uint32_t tail_bytes = layout->bytes - layout->head_bytes;
	uint8_t *start = target->span.at;

	memcpy(start, first->span.at, sizeof(struct wire_event_header));
	put_start(layout, target);
	put_origin(target, thread_id);
	if (layout->has_items || target->wanted)
		(void)put_items(layout, target->wanted, start + sizeof(struct wire_event_header));
	memcpy(start + target->bytes - tail_bytes, first->span.at + first->bytes - tail_bytes,
	       tail_bytes);
}

static inline bool is_independent(const struct target *target)
{
	return target->ring->set.flags & WIRE_RING_INDEPENDENT;
}

static void abandon(const struct layout *layout, const struct target *target)
{
	put_start(layout, target);
	etw_ring_abandon(&target->span);
}

/* Leaves in @targets those whose sessions do not care what the others did. Returns how many. */
static unsigned abandon_dependent(const struct layout *layout, struct target *targets,
				  unsigned count)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		if (is_independent(&targets[i]))
			targets[kept++] = targets[i];
		else
			abandon(layout, &targets[i]);
	}
	return kept;
}

/* The listener has been told something since. */
static bool is_outdated(const struct layout *layout)
{
	return load_acquire(&layout->registration->gate) != layout->view->gate;
}

/*
 * A set that is retired belongs to a session that is over, or has been replaced by one of which this process may
 * not know: it has no listener, as a forked child, or no connection.
 *
 * Returns 0: nobody wants the event; -ENOBUFS: it is lost, and counted; -ESTALE: look at the registration again.
 */
static int give_up(const struct layout *layout, const struct etw_ring_mapping *ring)
{
	int r;

	if (is_outdated(layout))
		return -ESTALE;
	r = etw_ring_refuse(&ring->set);
	/* The listener changes the gate before it takes the memory away, which then says the same as an end. */
	return r == 0 && is_outdated(layout) ? -ESTALE : r;
}

/*
 * Returns the first refusal; those that took the event are in @targets in any case. -ESTALE: the view is of
 * yesterday, and no target is left.
 */
static int reserve_all(const struct layout *layout, struct target *targets, unsigned *ret_count)
{
	const struct etw_enable_view *view = layout->view;
	bool is_refused = false;
	int first_error = 0;
	unsigned count = 0;

	for (unsigned i = 0; i < view->ring_count; i++) {
		bool is_stale;
		int r;

		targets[count].ring = view->rings[i];
		targets[count].wanted = view->items[i];
		targets[count].bytes = layout->bytes;
		if (UNLIKELY(view->items[i]))
			targets[count].bytes += etw_items_bytes(&layout->items, view->items[i]);
		r = etw_ring_mapping_reserve(view->rings[i], targets[count].bytes,
					     &targets[count].span);
		if (LIKELY(r == 0)) {
			count++;
			continue;
		}
		is_stale = r == -ESTALE;
		if (is_stale)
			r = give_up(layout, view->rings[i]);
		/* Not again what has been counted as lost. */
		if (r == -ESTALE && first_error == 0) {
			while (count)
				abandon(layout, &targets[--count]);
			*ret_count = 0;
			return r;
		}
		if (first_error == 0)
			first_error = r;
		/* A replaced set stays what it is: others are not to go without all events to come. */
		if (!is_stale && !is_independent(&targets[count]))
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
		if (UNLIKELY(targets[i].wanted != targets[0].wanted)) {
			put_differently(layout, &targets[i], &targets[0], thread_id);
			continue;
		}
		memcpy(targets[i].span.at, targets[0].span.at, targets[0].bytes);
		put_origin(&targets[i], thread_id);
	}
	SCHED_POINT("provider.event.copied");
	for (unsigned i = 0; i < count; i++)
		etw_ring_commit(&targets[i].span);
	return r;
}

/* Apart, as few events need room for a stack. */
static __attribute__((noinline)) int write_with_items(struct layout *layout, uint32_t wanted,
						      uint32_t thread_id)
{
	struct etw_stack stack;

	etw_items_collect(wanted, &stack, &layout->items);
	return write_several(layout, thread_id);
}

/* One bit for each slot of the view whose session's filters the event passes; those without a stack do not ask for it. */
static uint32_t passing_slots(const struct etw_event_request *request, struct etw_enable_view *view)
{
	GUID provider;
	struct wire_event_subject subject = {
		.provider = &provider,
		.descriptor = request->descriptor,
		.data = request->data,
		.data_count = request->data_count,
		.is_typed = view->is_typed,
	};
	uint32_t passing = 0;

	memcpy(&provider, &view->provider, sizeof(provider));
	for (unsigned i = 0; i < view->ring_count; i++) {
		const struct wire_event_filter *filter = view->filters[i];

		subject.process_id = etw_process_id(view->rings[i]->link);
		if (view->excluded >> i & 1 ||
		    (filter && !wire_event_filter_passes(filter, &subject)))
			continue;
		passing |= 1u << i;
		if (filter && !wire_event_filter_takes_stack(filter, &subject))
			view->items[i] &= ~(uint32_t)EVENT_ENABLE_PROPERTY_STACK_TRACE;
	}
	return passing;
}

/* Those whose sessions' filters the event does not pass. */
struct rejected {
	const struct etw_ring_mapping *rings[ETW_PROVIDER_SLOTS];
	unsigned count;
};

/*
 * Leaves in the view the rings whose sessions' filters the event passes. A session that has two slots wants what either
 * wants.
 */
static void apply_filters(const struct etw_event_request *request, struct etw_enable_view *view,
			  struct rejected *ret)
{
	const uint32_t passing = passing_slots(request, view);
	const unsigned count = view->ring_count;

	view->ring_count = 0;
	ret->count = 0;
	for (unsigned i = 0; i < count; i++) {
		if (passing >> i & 1)
			etw_enable_add(view, view->rings[i], view->items[i]);
		else
			ret->rings[ret->count++] = view->rings[i];
	}
}

static void count_rejected(const struct etw_enable_view *view, const struct rejected *rejected)
{
	for (unsigned i = 0; i < rejected->count; i++) {
		bool is_counted = false; /* or wanted by another slot */

		for (unsigned k = 0; k < view->ring_count; k++)
			is_counted |= view->rings[k] == rejected->rings[i];
		for (unsigned k = 0; k < i; k++)
			is_counted |= rejected->rings[k] == rejected->rings[i];
		if (!is_counted)
			etw_ring_count_filtered(&rejected->rings[i]->set);
	}
}

static int write_wanted(struct layout *layout, uint32_t thread_id)
{
	const struct etw_enable_view *view = layout->view;
	uint32_t wanted = 0;

	for (unsigned i = 0; i < view->ring_count; i++)
		wanted |= view->items[i];
	if (UNLIKELY(wanted))
		return write_with_items(layout, wanted, thread_id);
	return write_several(layout, thread_id);
}

/* Apart, as most events meet no filter. Of an event that is looked at again, the last look is the one that counts. */
static __attribute__((noinline)) int write_filtered(struct layout *layout,
						    struct etw_enable_view *view,
						    uint32_t thread_id)
{
	struct rejected rejected;
	int r = 0;

	apply_filters(layout->request, view, &rejected);
	if (view->ring_count)
		r = write_wanted(layout, thread_id);
	if (r != -ESTALE)
		count_rejected(view, &rejected);
	return r;
}

/* As etw_provider_write(), for a thread that is inside; -ESTALE: again. */
static int write_once(uint64_t handle, const struct etw_event_request *request, uint32_t thread_id)
{
	const struct etw_enable_query query = {
		.keyword = request->descriptor->Keyword,
		.level = request->descriptor->Level,
		.is_in_private = request->is_in_private,
		.excluded = request->excluded,
	};
	struct etw_enable_view view;
	struct layout layout = {.request = request, .view = &view};

	TRY(etw_enable_collect(handle, &query, &view));
	if (view.ring_count == 0)
		return 0;
	layout.registration = etw_handle_registration(handle);
	TRY(measure(&layout)); /* filters read what it has looked at */
	if (UNLIKELY(view.is_filtered))
		return write_filtered(&layout, &view, thread_id);
	return write_wanted(&layout, thread_id);
}

int etw_provider_write(uint64_t handle, const struct etw_event_request *request)
{
	struct etw_thread *thread;
	struct etw_entry entry;
	uint32_t thread_id;
	int r;

	/* Before the first registration there is not even what a thread enters by. */
	if (UNLIKELY(!etw_fork_page))
		return -EBADF;
	thread = etw_thread_enter();
	if (LIKELY(thread)) {
		thread_id = thread->thread_id;
	} else {
		etw_thread_enter_slow(request->stack ? request->stack : etw_stack_pointer(),
				      &entry);
		thread_id = entry.thread_id;
	}
	SCHED_POINT("provider.event.entered");
	do
		r = write_once(handle, request, thread_id);
	while (UNLIKELY(r == -ESTALE)); /* as often as the listener has news */
	SCHED_POINT("provider.event.leaving");
	if (LIKELY(thread))
		etw_thread_leave(thread);
	else
		etw_thread_leave_slow(&entry);
	return r;
}
