/* SPDX-License-Identifier: MIT */
/* What an event is called by its schema. */
#include "support.h"

static void test_names__asks_the_schema(void **state)
{
	static const struct test_row rows[] = {
		{"event = Work", true},
		{"event = work/start", true},
		{"event = Work/win:Start", true},
		{"event = Start", true},
		{"event = WorkBegins", true},
		{"event like 'Work*'", true},
		{"event matches '^w.*t$'", true},
		{"event = Stop", false},
		{"event != Stop", true},
		{"task = Work", true},
		{"task in (3, Work)", true},
		{"task in (9, Play)", true},
		{"task contains ork", true},
		{"opcode = Start", true},
		{"opcode = win:Start", true},
		{"opcode = Stop", false},
		{"keyword = first", true},
		{"keyword = Second", true},
		{"keyword = Third", false},
		{"keyword != Third", true},
		{"channel ends operational", true},
		{"status = complete", true},
		{"status != complete", false},
		{"message contains 'path is C:\\temp now'", true},
		{"has message", true},
	};
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	TEST_ROWS(&event, rows);
	test_end(&event);
}

static void test_names__without_a_schema(void **state)
{
	static const struct test_row rows[] = {
		{"event = Work", false},      {"event != Work", true},
		{"status = no-schema", true}, {"message contains x", false},
		{"has message", false},       {"has Byte", false},
		{"Byte != 5", false},
	};
	struct test_event event;

	(void)state;
	test_begin(&event, NULL);
	TEST_ROWS(&event, rows);
	test_end(&event);
}

/* Of a classic event the class and its provider are names; they are looked up once for each kind. */
static void test_names__of_classes(void **state)
{
	static const struct test_row rows[] = {
		{"provider = work", true}, {"provider = Test-Provider", true},
		{"provider = x", false},   {"task = Work", true},
		{"task = 9", false},       {"task != Play", true}};
	static const GUID other = {1, 2, 3, {4}};
	struct etw_schema class = test_schema;
	struct etw_filter *filter;
	struct test_event event;

	(void)state;
	class.source = DecodingSourceWbem;
	test_begin(&event, &class);
	event.record->EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER;
	event.record->EventHeader.ProviderId = other;
	TEST_ROWS(&event, rows);
	filter = test_parse("provider = work");
	event.decodings = 0;
	for (int i = 0; i < 5; i++)
		assert_true(etw_filter_matches(filter, &event.subject));
	assert_int_equal(event.decodings, 1);
	etw_filter_free(filter);
	test_end(&event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names__asks_the_schema),
		cmocka_unit_test(test_names__without_a_schema),
		cmocka_unit_test(test_names__of_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
