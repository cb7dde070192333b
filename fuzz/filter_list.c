/* SPDX-License-Identifier: MIT */
/*
 * A list of filters of any bytes is refused, or can be applied to any event, and says the same each time and however the
 * event's payload is cut into pieces; written anew it is the same list.
 * Input: u16 size of the list, the list, an EVENT_DESCRIPTOR, u32 process, u8 whether descriptors have types, u8 size of
 * the metadata of a TraceLogging event (0: it is none), the metadata, the payload.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <evntprov.h>

#include "target.h"
#include "wire/event_filter.h"

#define LIST_ROOM (2 * WIRE_FILTER_LIST_BYTES_MAX)

/* Memory of exactly this size, so that reading beyond it is seen. */
static uint8_t *copy_of(struct etw_bytes bytes)
{
	uint8_t *copy = malloc(bytes.left ? bytes.left : 1);

	CHECK(copy);
	if (bytes.left)
		memcpy(copy, bytes.at, bytes.left);
	return copy;
}

/* As many as there are. */
static struct etw_bytes take(struct etw_bytes *from, size_t bytes)
{
	struct etw_bytes taken = {from->at, bytes < from->left ? bytes : from->left};

	from->at += taken.left;
	from->left -= taken.left;
	return taken;
}

/* What a damaged list has in front of its damage is as readable as the rest of a sound one. */
static void check_parts(struct etw_bytes list)
{
	const struct etw_bytes all = list;
	struct wire_filter filter;
	size_t bytes = 0;

	while (wire_filter_next(&list, &filter)) {
		struct etw_bytes found;

		bytes += WIRE_FILTER_HEAD_BYTES + filter.data.left;
		CHECK(filter.data.at >= all.at && bytes <= all.left);
		CHECK(wire_filter_find(all, filter.type, &found));
		CHECK(found.at <= filter.data.at);
	}
	(void)wire_filter_of_callback(all);
}

/* Of a list that was accepted. */
static void check_written_anew(struct etw_bytes list)
{
	static uint8_t room[LIST_ROOM];
	struct wire_filter filter, again;
	struct etw_bytes written = {room, 0}, rest = list;

	while (wire_filter_next(&rest, &filter)) {
		size_t bytes = wire_filter_put(room + written.left, LIST_ROOM - written.left,
					       &filter);

		CHECK(bytes);
		written.left += bytes;
	}
	CHECK(rest.left == 0 && written.left == list.left);
	CHECK(wire_filter_list_check(written) == 0);
	while (wire_filter_next(&list, &filter)) {
		CHECK(wire_filter_next(&written, &again));
		CHECK(filter.type == again.type && filter.data.left == again.data.left);
		CHECK(!filter.data.left ||
		      memcmp(filter.data.at, again.data.at, filter.data.left) == 0);
	}
}

/* Applies it to the payload in one piece, and in three. */
static void apply(const struct wire_event_filter *filter, struct wire_event_subject *subject,
		  struct etw_bytes metadata, struct etw_bytes payload)
{
	const size_t cut = payload.left ? payload.at[0] % payload.left : 0;
	EVENT_DATA_DESCRIPTOR data[4];
	uint32_t count = 0;
	bool passes, takes_stack;

	if (metadata.left) {
		EventDataDescCreate(&data[count], metadata.at, (ULONG)metadata.left);
		data[count++].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	}
	EventDataDescCreate(&data[count], payload.at, (ULONG)payload.left);
	subject->data = data;
	subject->data_count = count + 1;
	passes = wire_event_filter_passes(filter, subject);
	takes_stack = wire_event_filter_takes_stack(filter, subject);
	EventDataDescCreate(&data[count], payload.at, (ULONG)cut);
	EventDataDescCreate(&data[count + 1], payload.at + cut, 0);
	EventDataDescCreate(&data[count + 2], payload.at + cut, (ULONG)(payload.left - cut));
	subject->data_count = count + 3;
	CHECK(wire_event_filter_passes(filter, subject) == passes);
	CHECK(wire_event_filter_takes_stack(filter, subject) == takes_stack);
	CHECK((filter->kinds & WIRE_EVENT_FILTER_STACKS) || takes_stack);
	CHECK((filter->kinds & ~(unsigned)WIRE_EVENT_FILTER_STACKS) || passes);
}

static void check_event(const struct wire_event_filter *filter, struct etw_bytes input)
{
	static const GUID provider = {0x01020304, 0x0506, 0x0708, {9, 10, 11, 12, 13, 14, 15, 16}};
	EVENT_DESCRIPTOR descriptor = {0};
	struct wire_event_subject subject = {.provider = &provider, .descriptor = &descriptor};
	struct etw_bytes part = take(&input, sizeof(descriptor)), metadata, payload;
	uint8_t *metadata_copy, *payload_copy;

	memcpy(&descriptor, part.at, part.left);
	(void)etw_bytes_u32(&input, &subject.process_id);
	part = take(&input, 1);
	subject.is_typed = part.left && part.at[0] % 2;
	part = take(&input, 1);
	metadata = take(&input, part.left && subject.is_typed ? part.at[0] : 0);
	payload = input;
	metadata.at = metadata_copy = copy_of(metadata);
	payload.at = payload_copy = copy_of(payload);
	apply(filter, &subject, metadata, payload);
	free(metadata_copy);
	free(payload_copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_bytes input = {data, bytes}, list;
	struct wire_event_filter filter;
	uint16_t list_bytes;
	uint8_t *copy;
	int r;

	if (!etw_bytes_u16(&input, &list_bytes))
		return 0;
	list = take(&input, list_bytes);
	list.at = copy = copy_of(list);
	check_parts(list);
	r = wire_filter_list_check(list);
	CHECK(r == 0 || r == -EINVAL || r == -EOPNOTSUPP);
	CHECK(wire_event_filter_read(list, &filter) == r);
	if (r == 0) {
		check_written_anew(list);
		check_event(&filter, input);
	}
	free(copy);
	return 0;
}
