/* SPDX-License-Identifier: MIT */
/* What the header says; and that asking it needs no decoding. */
#include "support.h"

static const struct test_row header_rows[] = {
	{"guid = 11112222-3333-4444-5555-666677778888", true},
	{"provider = {11112222-3333-4444-5555-666677778888}", true},
	{"provider = test-provider", true},
	{"provider like 'Test-*'", true},
	{"provider = Other", false},
	{"provider != Other", true},
	{"event = 7", true},
	{"id = 7", true},
	{"id = 8", false},
	{"version = 1", true},
	{"level = 3", true},
	{"opcode = 1", true},
	{"task = 9", true},
	{"keyword = 5", true},
	{"keyword any 4", true},
	{"keyword all 6", false},
	{"channel = 16", true},
	{"header_pid = 10", true},
	{"header_tid = 20", true},
	{"cpu = 2", true},
	{"activity = {11112222-3333-4444-5555-666677778888}", true},
	{"has activity", true},
	{"has related_activity", false},
	{"related_activity != {11112222-3333-4444-5555-666677778888}", false},
	{"classic = true", false},
	{"time > +1s", true},
	{"payload_bytes > 100", true},
	{"user = S-1-5-18", false},
	{"has user", false},
};

static void test_evaluate__asks_the_header(void **state)
{
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	TEST_ROWS(&event, header_rows);
	assert_int_equal(event.decodings, 0);
	test_end(&event);
}

/* The cheap part decides; what would need the schema is not asked, wherever it stands. */
static void test_evaluate__does_not_decode_in_vain(void **state)
{
	static const struct test_row rows[] = {
		{"Path contains x and id = 8", false},
		{"event = Nothing or Byte = 7 or id = 7", true},
		{"(Byte = 5 or Path = x) and not (id = 7)", false},
		{"event = 8", false},
	};
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	TEST_ROWS(&event, rows);
	assert_int_equal(event.decodings, 0);
	test_end(&event);
}

/* Classic events have no id, task, keyword and channel: nothing is true of them but "not". */
static void test_evaluate__of_classic_events(void **state)
{
	static const struct test_row rows[] = {
		{"classic = true", true},   {"id = 7", false},         {"id != 7", false},
		{"not id = 7", true},       {"has id", false},         {"event = 1", true},
		{"task = 9", false},        {"keyword any 1", false},  {"has keyword", false},
		{"channel = 16", false},    {"opcode = 1", true},      {"version = 1", true},
		{"header_pid = 10", false}, {"has header_pid", false}, {"has header_tid", false},
	};
	struct test_event event;

	(void)state;
	test_begin(&event, NULL);
	event.record->EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER;
	event.record->EventHeader.ProcessId = UINT32_MAX;
	event.record->EventHeader.ThreadId = UINT32_MAX;
	TEST_ROWS(&event, rows);
	test_end(&event);
}

static void test_evaluate__asks_extended_items(void **state)
{
	static const uint8_t sid[] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0};
	static const GUID related = TEST_GUID;
	EVENT_HEADER_EXTENDED_DATA_ITEM items[] = {
		{.ExtType = EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID,
		 .DataSize = 16,
		 .DataPtr = (uintptr_t)&related},
		{.ExtType = EVENT_HEADER_EXT_TYPE_SID,
		 .DataSize = sizeof(sid),
		 .DataPtr = (uintptr_t)sid},
	};
	static const struct test_row rows[] = {
		{"related_activity = 11112222-3333-4444-5555-666677778888", true},
		{"user = S-1-5-18", true},
		{"user != S-1-5-19", true},
		{"has user", true},
	};
	struct test_event event;

	(void)state;
	test_begin(&event, NULL);
	event.record->ExtendedData = items;
	event.record->ExtendedDataCount = 2;
	TEST_ROWS(&event, rows);
	test_end(&event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evaluate__asks_the_header),
		cmocka_unit_test(test_evaluate__does_not_decode_in_vain),
		cmocka_unit_test(test_evaluate__of_classic_events),
		cmocka_unit_test(test_evaluate__asks_extended_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
