/* SPDX-License-Identifier: MIT */
/* Where an expression is wrong, as it is shown. */
#include "filter/parse.h"
#include "support.h"

static void check(const char *expression, size_t at, size_t bytes, const char *expected)
{
	struct etw_filter_fault fault = {.at = at, .bytes = bytes, .sentence = "so"};
	struct etw_text text = {0};

	etw_filter_fault_write(&fault, expression, strlen(expression), &text);
	assert_string_equal(etw_text_string(&text), expected);
	etw_text_done(&text);
}

static void test_fault__marks_the_place(void **state)
{
	(void)state;
	check("pid = x", 6, 1, "so\n  pid = x\n        ^");
	check("pid = xyz and", 6, 3, "so\n  pid = xyz and\n        ^^^");
	check("pid =", 5, 0, "so\n  pid =\n       ^");
	check("", 0, 0, "so\n  \n  ^");
	check("a = \xC3\xA4\xC3\xA4 b", 9, 1, "so\n  a = \xC3\xA4\xC3\xA4 b\n         ^");
	check("a\n  b = c\nd", 4, 1, "so\n    b = c\n    ^");
	check("a\tb", 2, 1, "so\n  a b\n    ^");
	check("a\x1b[31mb", 7, 5, "so\n  a?[31mb\n         ^");
	check("a\xE2\x80\xAE"
	      "b",
	      4, 1, "so\n  a?b\n    ^");
	check("a", 9, 9, "so\n  a\n   ^");
}

static void test_fault__cuts_long_lines(void **state)
{
	char expression[501], expected[400];

	(void)state;
	memset(expression, 'x', 500);
	expression[500] = '\0';
	(void)snprintf(expected, sizeof(expected), "so\n  ...%.100s...\n     %60s^^", expression,
		       "");
	check(expression, 300, 2, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fault__marks_the_place),
		cmocka_unit_test(test_fault__cuts_long_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
