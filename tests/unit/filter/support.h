/* SPDX-License-Identifier: MIT */
/* An event with fields of many kinds, and what an expression says of it. */
#ifndef ETW_TESTS_UNIT_FILTER_SUPPORT_H
#define ETW_TESTS_UNIT_FILTER_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "filter/filter_internal.h"
#include "filter/parse.h"
#include "unit/decode/typed_event.h"

struct test_event {
	struct typed_event typed;
	EVENT_RECORD *record; /* its own */
	struct etw_filter_subject subject;
	unsigned decodings; /* how often it was asked for */
};

static inline const struct etw_decoding *test_decode(void *context)
{
	struct test_event *event = context;

	event->decodings++;
	return &event->typed.decoding;
}

static inline const char *test_provider_name(void *context, const GUID *provider)
{
	static const GUID known = TEST_GUID;

	(void)context;
	return etw_guid_equal(provider, &known) ? "Test-Provider" : NULL;
}

static const struct etw_filter_source test_source = {.decode = test_decode,
						     .provider_name = test_provider_name};

/* A manifest event: id 7, version 1, level 3, opcode 1, task 9, keyword 5, process 10, thread 20, processor 2. */
static inline void test_begin(struct test_event *event, const struct etw_schema *schema)
{
	static const GUID provider = TEST_GUID;
	EVENT_HEADER *header = &event->typed.record.EventHeader;

	memset(event, 0, sizeof(*event));
	typed_event_begin(&event->typed, schema);
	event->record = &event->typed.record;
	header->ProviderId = provider;
	header->ActivityId = provider;
	header->EventDescriptor = (EVENT_DESCRIPTOR){7, 1, 16, 3, 1, 9, 5};
	header->ProcessId = 10;
	header->ThreadId = 20;
	header->TimeStamp.QuadPart = 116444736000000000 + 15000000;
	event->record->BufferContext.ProcessorNumber = 2;
	event->subject = (struct etw_filter_subject){
		.record = event->record,
		.source = &test_source,
		.context = event,
		.time_ft = header->TimeStamp.QuadPart,
		.start_ft = 116444736000000000,
	};
}

static inline void test_end(struct test_event *event)
{
	typed_event_end(&event->typed);
}

static inline struct etw_filter *test_parse(const char *expression)
{
	struct etw_filter_fault fault = {0};
	struct etw_filter *filter = NULL;

	if (etw_filter_parse(expression, strlen(expression), &filter, &fault))
		fail_msg("%s: %s", expression, fault.sentence);
	return filter;
}

struct test_row {
	const char *expression;
	bool expected;
};

/* Each expression of an event twice: the second time what was looked up is known. */
static inline void test_rows(struct test_event *event, const struct test_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct etw_filter *filter = test_parse(rows[i].expression);

		for (int again = 0; again < 2; again++) {
			if (etw_filter_matches(filter, &event->subject) != rows[i].expected)
				fail_msg("%s is not %d", rows[i].expression, rows[i].expected);
		}
		etw_filter_free(filter);
	}
}

#define TEST_ROWS(event, rows) test_rows(event, rows, ARRAY_SIZE(rows))

/* That the expression is refused at this place, and why. */
static inline void test_refused(const char *expression, size_t at, size_t bytes, const char *part)
{
	struct etw_filter_fault fault = {0};
	struct etw_filter *filter = NULL;

	assert_int_equal(etw_filter_parse(expression, strlen(expression), &filter, &fault), -22);
	if (fault.at != at || fault.bytes != bytes || !strstr(fault.sentence, part))
		fail_msg("%s: %zu+%zu: %s", expression, fault.at, fault.bytes, fault.sentence);
}

#endif
