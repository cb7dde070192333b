/* SPDX-License-Identifier: MIT */
/* See wire/event_filter.h. */
#include "wire/event_filter.h"

#include <string.h>

#include "base/macros.h"
#include "wire/payload_filter.h"

#define TAG_MORE 0x80 /* another byte of an event's tags follows */

static uint64_t digest_of(const struct wire_filter_ids *ids)
{
	uint64_t digest = 0;

	for (unsigned i = 0; i < ids->count; i++)
		digest |= UINT64_C(1) << etw_load16(ids->at + (size_t)i * 2) % 64;
	return digest;
}

static void read_pids(struct etw_bytes data, struct wire_event_filter *ret)
{
	ret->kinds |= WIRE_EVENT_FILTER_PID;
	while (data.left && ret->pid_count < ARRAY_SIZE(ret->pids))
		(void)etw_bytes_u32(&data, &ret->pids[ret->pid_count++]);
}

/* A filter of a list that was checked. */
static void read_one(const struct wire_filter *filter, struct wire_event_filter *ret)
{
	switch (filter->type) {
	case EVENT_FILTER_TYPE_PID:
		read_pids(filter->data, ret);
		break;
	case EVENT_FILTER_TYPE_EVENT_ID:
		ret->kinds |= WIRE_EVENT_FILTER_ID;
		(void)wire_filter_read_ids(filter->data, &ret->ids);
		ret->id_digest = digest_of(&ret->ids);
		break;
	case EVENT_FILTER_TYPE_EVENT_NAME:
		ret->kinds |= WIRE_EVENT_FILTER_NAME;
		(void)wire_filter_read_names(filter->data, &ret->names);
		break;
	case EVENT_FILTER_TYPE_PAYLOAD:
		ret->kinds |= WIRE_EVENT_FILTER_PAYLOAD;
		ret->payload = filter->data.at;
		break;
	case EVENT_FILTER_TYPE_STACKWALK:
		ret->kinds |= WIRE_EVENT_FILTER_STACK_ID;
		(void)wire_filter_read_ids(filter->data, &ret->stack_ids);
		ret->stack_id_digest = digest_of(&ret->stack_ids);
		break;
	case EVENT_FILTER_TYPE_STACKWALK_NAME:
		ret->kinds |= WIRE_EVENT_FILTER_STACK_NAME;
		(void)wire_filter_read_names(filter->data, &ret->stack_names);
		break;
	case EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW:
		ret->kinds |= WIRE_EVENT_FILTER_STACK_LEVEL;
		(void)wire_filter_read_level(filter->data, &ret->stack_level);
		break;
	default: /* the host's, or the callback's */
		break;
	}
}

int wire_event_filter_read(struct etw_bytes list, struct wire_event_filter *ret)
{
	struct wire_filter filter;

	TRY(wire_filter_list_check(list));
	*ret = (struct wire_event_filter){0};
	while (wire_filter_next(&list, &filter))
		read_one(&filter, ret);
	return 0;
}

/*
 * The metadata of a TraceLogging event; NULL: it is none. What they mean is in the first descriptor of that type,
 * wherever the event was made by the macros.
 */
static const EVENT_DATA_DESCRIPTOR *metadata_of(const struct wire_event_subject *subject)
{
	for (uint32_t i = 0; subject->is_typed && i < subject->data_count; i++) {
		if (subject->data[i].Type == EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA)
			return &subject->data[i];
	}
	return NULL;
}

/* u16 size, the tags, the name with its NUL. Returns no bytes for what is cut off. */
static struct etw_bytes name_of(const EVENT_DATA_DESCRIPTOR *metadata)
{
	struct etw_bytes bytes = {(const uint8_t *)(uintptr_t)metadata->Ptr, metadata->Size};
	const uint8_t *tag, *end;
	uint16_t size;

	if (!etw_bytes_u16(&bytes, &size))
		return (struct etw_bytes){0};
	do
		tag = etw_bytes_take(&bytes, 1);
	while (tag && *tag & TAG_MORE);
	end = tag && bytes.left ? memchr(bytes.at, 0, bytes.left) : NULL;
	if (!end)
		return (struct etw_bytes){0};
	bytes.left = (size_t)(end - bytes.at) + 1;
	return bytes;
}

static bool has_name(const struct wire_filter_category *category, struct etw_bytes name)
{
	const uint8_t *at = category->names.at;

	for (unsigned i = 0; i < category->name_count; i++) {
		const size_t bytes = strlen((const char *)at) + 1; /* each has its NUL */

		if (bytes == name.left && memcmp(at, name.at, bytes) == 0)
			return true;
		at += bytes;
	}
	return false;
}

static bool is_in_category(const struct wire_filter_category *category,
			   const EVENT_DESCRIPTOR *descriptor)
{
	if (category->level && descriptor->Level > category->level)
		return false;
	if (!category->match_any || !descriptor->Keyword)
		return true;
	return (descriptor->Keyword & category->match_any) != 0 &&
	       (~descriptor->Keyword & category->match_all) == 0;
}

static bool passes_ids(const struct wire_filter_ids *ids, uint64_t digest, uint16_t id)
{
	bool is_there = false;

	if (digest >> id % 64 & 1) {
		for (unsigned i = 0; i < ids->count && !is_there; i++)
			is_there = etw_load16(ids->at + (size_t)i * 2) == id;
	}
	return is_there == ids->is_in;
}

static bool passes_names(const struct wire_filter_category *category,
			 const struct wire_event_subject *subject,
			 const EVENT_DATA_DESCRIPTOR *metadata)
{
	const bool is_meant = is_in_category(category, subject->descriptor) &&
			      has_name(category, name_of(metadata));

	return is_meant == category->is_in;
}

static bool passes_pid(const struct wire_event_filter *filter, uint32_t process_id)
{
	for (uint32_t i = 0; i < filter->pid_count; i++) {
		if (filter->pids[i] == process_id)
			return true;
	}
	return false;
}

static bool passes_payload(const struct wire_event_filter *filter,
			   const struct wire_event_subject *subject)
{
	const struct wire_payload_subject wanted = {
		.provider = *subject->provider,
		.id = subject->descriptor->Id,
		.version = subject->descriptor->Version,
		.pointer_bytes = sizeof(void *),
		.data = subject->data,
		.data_count = subject->data_count,
		.is_typed = subject->is_typed,
	};

	return wire_payload_filter_passes(filter->payload, &wanted);
}

/*
 * Source: Microsoft, "EVENT_FILTER_DESCRIPTOR structure": filters by id are ignored for TraceLogging events, which have
 * no fixed ids, and filters by name for all others, which have no names. A payload filter is about an event by its id.
 */
bool wire_event_filter_passes(const struct wire_event_filter *filter,
			      const struct wire_event_subject *subject)
{
	const EVENT_DATA_DESCRIPTOR *metadata = metadata_of(subject);

	if (filter->kinds & WIRE_EVENT_FILTER_PID && !passes_pid(filter, subject->process_id))
		return false;
	if (metadata)
		return !(filter->kinds & WIRE_EVENT_FILTER_NAME) ||
		       passes_names(&filter->names, subject, metadata);
	if (filter->kinds & WIRE_EVENT_FILTER_ID &&
	    !passes_ids(&filter->ids, filter->id_digest, subject->descriptor->Id))
		return false;
	return !(filter->kinds & WIRE_EVENT_FILTER_PAYLOAD) || passes_payload(filter, subject);
}

bool wire_event_filter_takes_stack(const struct wire_event_filter *filter,
				   const struct wire_event_subject *subject)
{
	const EVENT_DATA_DESCRIPTOR *metadata;

	if (!(filter->kinds & WIRE_EVENT_FILTER_STACKS))
		return true;
	if (filter->kinds & WIRE_EVENT_FILTER_STACK_LEVEL &&
	    is_in_category(&filter->stack_level, subject->descriptor) != filter->stack_level.is_in)
		return false;
	metadata = metadata_of(subject);
	if (metadata)
		return !(filter->kinds & WIRE_EVENT_FILTER_STACK_NAME) ||
		       passes_names(&filter->stack_names, subject, metadata);
	return !(filter->kinds & WIRE_EVENT_FILTER_STACK_ID) ||
	       passes_ids(&filter->stack_ids, filter->stack_id_digest, subject->descriptor->Id);
}
