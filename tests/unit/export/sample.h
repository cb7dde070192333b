/* SPDX-License-Identifier: MIT */
/* An event of the tests' own with a schema: what both formats are shown. */
#ifndef TESTS_UNIT_EXPORT_SAMPLE_H
#define TESTS_UNIT_EXPORT_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export/export.h"

#define SAMPLE_FIELDS_MAX 4

struct sample {
	EVENT_RECORD record;
	struct etw_field fields[SAMPLE_FIELDS_MAX];
	struct etw_item items[SAMPLE_FIELDS_MAX];
	struct etw_schema schema;
	struct etw_decoding decoding;
	struct etw_export_event event;
};

/* A manifest event "Maker/Task/Go" of process 7, thread 8, processor 3, without fields. */
static inline void sample_init(struct sample *sample, void *payload, uint16_t bytes)
{
	*sample = (struct sample){0};
	sample->record.EventHeader.ProcessId = 7;
	sample->record.EventHeader.ThreadId = 8;
	sample->record.EventHeader.EventDescriptor.Id = 12;
	sample->record.EventHeader.EventDescriptor.Opcode = 9;
	sample->record.EventHeader.TimeStamp.QuadPart = 129402939974768585;
	sample->record.UserData = payload;
	sample->record.UserDataLength = bytes;
	sample->schema = (struct etw_schema){
		.provider_name = "Maker",
		.task_name = "Task ",
		.opcode_name = "Go",
		.fields = sample->fields,
	};
	sample->decoding = (struct etw_decoding){
		.record = &sample->record,
		.schema = &sample->schema,
		.items = sample->items,
	};
	sample->event = (struct etw_export_event){
		.record = &sample->record,
		.decoding = &sample->decoding,
		.provider_name = "Maker",
		.address = {4, 96},
		.processor = 3,
		.start_ft = 129402939974768585 - 15000000,
	};
}

static inline void sample_add(struct sample *sample, const char *name, uint16_t in_type,
			      uint32_t offset, uint32_t bytes)
{
	uint16_t i = sample->schema.field_count++;

	sample->fields[i] = (struct etw_field){.name = name, .in_type = in_type, .count = 1};
	sample->items[i] = (struct etw_item){.kind = ETW_ITEM_VALUE,
					     .field = i,
					     .end = i + 1u,
					     .offset = offset,
					     .bytes = bytes};
	sample->schema.top_count = sample->schema.field_count;
	sample->decoding.item_count++;
	sample->decoding.consumed = offset + bytes;
}

static inline void sample_expect_once(const struct etw_export_event *event,
				      const struct etw_export_format *format, const char *expected)
{
	struct etw_text text = {0};

	format->event(event, &text);
	assert_int_equal(etw_text_error(&text), 0);
	assert_string_equal(etw_text_string(&text), expected);
	etw_text_done(&text);
}

/* Expects the format to write exactly this: without a cache, with an empty one, and from a full one. */
static inline void sample_expect(struct sample *sample, const struct etw_export_format *format,
				 const char *expected)
{
	struct etw_export_event event = sample->event;

	sample_expect_once(&event, format, expected);
	assert_int_equal(etw_export_cache_create(&event.cache), 0);
	sample_expect_once(&event, format, expected);
	sample_expect_once(&event, format, expected);
	etw_export_cache_free(event.cache);
}

#endif
