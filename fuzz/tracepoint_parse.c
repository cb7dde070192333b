/* SPDX-License-Identifier: MIT */
/*
 * The text of any tracepoint's format gives an event whose fields hang together and can be written as TRACE_EVENT_INFO, or a
 * fault; and a record of any bytes gives a payload within its room. Input: the text, and behind a NUL the record.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schema/metadata/event_info.h"
#include "schema/metadata/event_info_write.h"
#include "schema/tracepoint/layout.h"
#include "schema/types.h"
#include "target.h"

static void check_layout(struct etw_arena *arena, const struct etw_tracepoint_layout *layout,
			 struct etw_bytes record)
{
	static uint8_t payload[65536];
	struct etw_schema *again = NULL;
	uint8_t *blob;
	size_t bytes;
	int r;

	CHECK(!etw_schema_fields_check(&layout->schema));
	CHECK(etw_event_info_write(&layout->schema, &blob, &bytes) == 0);
	CHECK(etw_event_info_parse(arena, (struct etw_bytes){blob, bytes}, &again, NULL) == 0);
	CHECK(again->field_count == layout->schema.field_count);
	free(blob);
	r = etw_tracepoint_payload(layout, record, payload, sizeof(payload));
	CHECK(r <= (int)sizeof(payload));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct etw_tracepoint_identity identity = {.provider_name = "linux:any", .id = 1};
	const uint8_t *nul = memchr(data, '\0', size);
	const size_t text_bytes = nul ? (size_t)(nul - data) : size;
	const size_t record_bytes = nul ? size - text_bytes - 1 : 0;
	struct etw_tracepoint_format *format = NULL;
	struct etw_tracepoint_layout *layout = NULL;
	struct etw_fault fault = {0};
	struct etw_arena arena;
	/* Of its own size, so that a byte too far is noticed. */
	uint8_t *record = malloc(record_bytes + !record_bytes);
	char *text = malloc(text_bytes + !text_bytes);

	CHECK(record && text);
	if (record_bytes)
		memcpy(record, nul + 1, record_bytes);
	if (text_bytes)
		memcpy(text, data, text_bytes);
	etw_arena_init(&arena);
	if (etw_tracepoint_format_parse(&arena, text, text_bytes, &format, &fault)) {
		CHECK(fault.sentence);
	} else {
		CHECK(etw_tracepoint_layout_make(&arena, format, &identity, &layout) == 0);
		check_layout(&arena, layout, (struct etw_bytes){record, record_bytes});
	}
	etw_arena_done(&arena);
	free(record);
	free(text);
	return 0;
}
