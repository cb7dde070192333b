/* SPDX-License-Identifier: MIT */
/* What may stand behind an operator. */
#include "filter/parse.h"
#include "support.h"

#include <errno.h>

static void test_parse_values__refuses_with_the_place(void **state)
{
	(void)state;
	test_refused("pid =", 5, 0, "ends where a value");
	test_refused("pid = and x = 1", 6, 3, "in front of \"and\"");
	test_refused("pid = x", 6, 1, "wants a process id, not x");
	test_refused("pid = -1", 6, 2, "from 0 to 4294967295");
	test_refused("level = 256", 8, 3, "from 0 to 255");
	test_refused("level = loud", 8, 4, "critical");
	test_refused("status = done", 9, 4, "complete");
	test_refused("classic = 1", 10, 1, "true or false");
	test_refused("activity = 12", 11, 2, "a GUID");
	test_refused("time = 12", 7, 2, "+1.5s");
	test_refused("pid contains 4", 13, 1, "pid is none");
	test_refused("count(A) contains 4", 18, 1, "a count is none");
	test_refused("count(A) = x", 11, 1, "a count");
	test_refused("provider < x", 11, 1, "has no order");
	test_refused("Path < x", 7, 1, "a number or a time");
	test_refused("Path any x", 9, 1, "bits");
	test_refused("Path any -1", 9, 2, "bits");
	test_refused("event = GC*", 8, 3, "like");
	test_refused("Path = *.dll", 7, 5, "like");
	test_refused("Path matches \"a(b\"", 15, 1, "has no \")\"");
	test_refused("Path matches a{2", 14, 1, "has no \"}\"");
	test_refused("Byte = 5..4", 7, 4, "lower one first");
	test_refused("Byte < 4..5", 7, 4, "no range");
	test_refused("Byte = 4..", 10, 0, "value is missing");
	test_refused("Byte in (4, 5", 13, 0, "\")\"");
	test_refused("Byte in (4 5)", 11, 1, "\",\"");
	test_refused("Byte in ()", 9, 1, "missing");
	test_refused("Byte < (4, 5)", 7, 1, "no list");
	test_refused("Path = \"a", 7, 1, "second quote");
	test_refused("Byte = \"4\"..\"5\"", 7, 8, "a range wants");
}

static void test_parse_values__of_kinds(void **state)
{
	static const struct test_row rows[] = {
		{"pid in (1..5, 8, 10)", true},
		{"pid = (9, 10)", true},
		{"level <= warning", true},
		{"level < win:Warning", false},
		{"time = +1.5s", true},
		{"time in +1s..+2s", true},
		{"time < 1970-01-01T00:00:01Z", false},
		{"time >= '1970-01-01 00:00:01'", true},
		{"Path contains (x, temp)", true},
		{"Path not contains (x, temp)", false},
		{"Path = 'C:\\Temp'", true},
		{"status = Complete", true},
		{"classic = false", true},
	};
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	TEST_ROWS(&event, rows);
	test_end(&event);
}

static void refuse_many(const char *part, const char *again, size_t count, const char *sentence)
{
	struct etw_filter_fault fault = {0};
	struct etw_filter *filter;
	struct etw_text text = {0};

	etw_text_puts(&text, part);
	for (size_t i = 0; i < count; i++)
		etw_text_puts(&text, again);
	etw_text_puts(&text, "1)");
	assert_int_equal(etw_filter_parse(text.at, text.bytes, &filter, &fault), -EINVAL);
	assert_non_null(strstr(fault.sentence, sentence));
	etw_text_done(&text);
}

static void test_parse_values__has_limits(void **state)
{
	(void)state;
	refuse_many("pid in (", "1,", ETW_FILTER_VALUES_MAX, "4096 values");
	refuse_many("Path matches (", "1,", ETW_FILTER_REGEXES_MAX, "64 regular");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_values__refuses_with_the_place),
		cmocka_unit_test(test_parse_values__of_kinds),
		cmocka_unit_test(test_parse_values__has_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
