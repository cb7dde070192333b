/* SPDX-License-Identifier: MIT */
/* "and", "or", "not" and parentheses. */
#include "filter/parse.h"
#include "support.h"

#include <errno.h>

static void test_parse__binds_as_documented(void **state)
{
	static const struct test_row rows[] = {
		{"true", true},
		{"false", false},
		{"not false", true},
		{"true or false and false", true},
		{"(true or false) and false", false},
		{"not false and false", false},
		{"not (false and false)", true},
		{"not not true", true},
		{"! false && true || false", true},
		{"true and true and true and false", false},
		{"false or false or true", true},
		{" ( ( true ) ) ", true},
		{"id=7 and(pid=10)or false", true},
	};
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	TEST_ROWS(&event, rows);
	test_end(&event);
}

static void test_parse__refuses_with_the_place(void **state)
{
	(void)state;
	test_refused("", 0, 0, "empty");
	test_refused("  ", 2, 0, "empty");
	test_refused("id = 7 and", 10, 0, "ends where a comparison");
	test_refused("id = 7 or )", 10, 1, "name of a field");
	test_refused("(id = 7", 0, 1, "has no \")\"");
	test_refused("(id = 7 pid = 3)", 8, 3, "is expected here");
	test_refused("id = 7)", 6, 1, "has no \"(\"");
	test_refused("id = 7 pid = 3", 7, 3, "\"and\" or \"or\"");
	test_refused("id = 7 AND pid = 3", 7, 3, "small letters: \"and\"");
	test_refused("id = 7 Or pid = 3", 7, 2, "small letters: \"or\"");
	test_refused("id in 7, 8", 7, 1, "in parentheses");
	test_refused("id = 7 \xFF", 0, 0, "UTF-8");
	test_refused("and id = 7", 0, 3, "`and`");
}

static void refuse_long(char *text, size_t bytes, const char *part)
{
	struct etw_filter_fault fault = {0};
	struct etw_filter *filter;

	assert_int_equal(etw_filter_parse(text, bytes, &filter, &fault), -EINVAL);
	assert_non_null(strstr(fault.sentence, part));
}

static void test_parse__has_limits(void **state)
{
	static char text[ETW_FILTER_BYTES_MAX + 1];
	struct etw_filter_fault fault = {0};
	struct etw_filter *filter;
	size_t bytes = 0;

	(void)state;
	memset(text, '(', sizeof(text));
	refuse_long(text, 1000, "nested");
	memset(text, '!', sizeof(text));
	refuse_long(text, 1000, "nested");
	memset(text, ' ', sizeof(text));
	refuse_long(text, sizeof(text), "65536 bytes");
	/* As wide as it likes, but not deep: one node. */
	while (bytes + 8 < ETW_FILTER_BYTES_MAX) {
		memcpy(text + bytes, "true or ", 8);
		bytes += 8;
	}
	assert_int_equal(etw_filter_parse(text, bytes - 4, &filter, &fault), 0);
	assert_int_equal(filter->depth, 2);
	etw_filter_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse__binds_as_documented),
		cmocka_unit_test(test_parse__refuses_with_the_place),
		cmocka_unit_test(test_parse__has_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
