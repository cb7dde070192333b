/* SPDX-License-Identifier: MIT */
/* What running a regular expression costs, whatever the expression and the text are. */
#include "support.h"

#include "filter/regex.h"

#define TEXT_BYTES 60000

static bool fits(const char *expression, bool ignores_case, const char *text, size_t bytes)
{
	struct etw_regex_fault fault = {0};
	struct etw_regex *regex;
	bool is_there;

	assert_int_equal(
		etw_regex_compile(expression, strlen(expression), ignores_case, &regex, &fault), 0);
	is_there = etw_regex_matches(regex, text, bytes);
	assert_int_equal(etw_regex_matches(regex, text, bytes), is_there);
	etw_regex_free(regex);
	return is_there;
}

/* Backtracking would take longer than the world has: ways double with each character. */
static void test_regex_run__has_no_worst_case(void **state)
{
	static char text[TEXT_BYTES];

	(void)state;
	memset(text, 'a', sizeof(text));
	assert_false(fits("^(a+)+$|b", false, text, sizeof(text) - 1) == false);
	text[TEXT_BYTES - 1] = '!';
	assert_false(fits("^(a+)+$", false, text, sizeof(text)));
	assert_false(fits("^(a|a)*$", false, text, sizeof(text)));
	assert_false(fits("^(a?){50}a{50}b", false, text, sizeof(text)));
	assert_false(fits("(.*)*x", false, text, sizeof(text)));
	assert_true(fits("(.*a){20}!", false, text, sizeof(text)));
}

static void test_regex_run__ignores_case_of_ascii(void **state)
{
	(void)state;
	assert_true(fits("aBc", true, "AbC", 3));
	assert_false(fits("aBc", false, "AbC", 3));
	assert_true(fits("[a-c]+$", true, "ABC", 3));
	assert_true(fits("[A-C]+$", true, "abc", 3));
	assert_false(fits("[^a]", true, "A", 1));
	assert_false(fits("\xC3\xA4", true, "\xC3\x84", 2));
	assert_true(fits("\\x41", true, "a", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regex_run__has_no_worst_case),
		cmocka_unit_test(test_regex_run__ignores_case_of_ascii),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
