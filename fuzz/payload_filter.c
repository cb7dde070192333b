/* SPDX-License-Identifier: MIT */
/*
 * A payload filter of any bytes is refused or can be applied to any payload, and says the same each time.
 * Input: u16 size of the filter, the filter, the payload.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "target.h"
#include "wire/payload_filter.h"

/* Memory of exactly this size, so that reading beyond it is seen. */
static uint8_t *copy_of(const uint8_t *at, size_t bytes)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);

	CHECK(copy);
	if (bytes)
		memcpy(copy, at, bytes);
	return copy;
}

/*
 * Applies the filter to the event of each of its parts, with either size of pointers. Where the payload is cut into
 * pieces changes nothing.
 */
static void apply(const uint8_t *filter, const uint8_t *payload, uint32_t bytes)
{
	const uint32_t cut = bytes ? payload[0] % bytes : 0;
	EVENT_DATA_DESCRIPTOR whole, pieces[3];
	const struct wire_payload_filter *head = (const void *)filter;
	const uint8_t *at = filter + sizeof(*head);

	EventDataDescCreate(&whole, payload, bytes);
	EventDataDescCreate(&pieces[0], payload, cut);
	EventDataDescCreate(&pieces[1], payload + cut, 0);
	EventDataDescCreate(&pieces[2], payload + cut, bytes - cut);
	for (unsigned i = 0; i < le16_get(head->filter_count); i++) {
		const struct wire_payload_event *event = (const void *)at;
		struct wire_payload_subject subject = {
			.provider = etw_guid_read(head->provider),
			.id = le16_get(event->id),
			.version = event->version,
			.pointer_bytes = i % 2 ? 4 : 8,
			.data = &whole,
			.data_count = 1,
		};
		bool passes = wire_payload_filter_passes(filter, &subject);

		subject.data = pieces;
		subject.data_count = 3;
		CHECK(wire_payload_filter_passes(filter, &subject) == passes);
		subject.provider.Data1 ^= 1;
		CHECK(wire_payload_filter_passes(filter, &subject));
		at += le32_get(event->bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_fault fault = {0};
	uint8_t *filter, *payload;
	size_t filter_bytes;

	if (bytes < 2)
		return 0;
	filter_bytes = etw_load16(data);
	data += 2;
	bytes -= 2;
	if (filter_bytes > bytes)
		filter_bytes = bytes;
	filter = copy_of(data, filter_bytes);
	payload = copy_of(data + filter_bytes, bytes - filter_bytes);
	if (wire_payload_filter_check(filter, filter_bytes, &fault) == 0)
		apply(filter, payload, (uint32_t)(bytes - filter_bytes));
	else
		CHECK(fault.sentence);
	free(filter);
	free(payload);
	return 0;
}
