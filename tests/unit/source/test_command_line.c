/* SPDX-License-Identifier: MIT */
/* Argument vectors as one line, by the rules of CommandLineToArgvW. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/kernel/processes/command_line.h"

static void expect(const char *arguments, size_t bytes, const char *line)
{
	struct etw_text text;

	etw_text_init(&text);
	etw_kernel_command_line(&text, arguments, bytes);
	assert_string_equal(etw_text_string(&text), line);
	etw_text_done(&text);
}

/* The literal's own NUL ends its last argument. */
#define EXPECT(literal, line) expect(literal, sizeof(literal), line)

static void test_command_line__plain_arguments_stay(void **state)
{
	(void)state;
	EXPECT("ls\0-l\0/tmp", "ls -l /tmp");
	EXPECT("C:\\dir\\\0a\\b\\", "C:\\dir\\ a\\b\\");
	expect("", 0, "");
	expect("cut", 3, "cut");
}

static void test_command_line__blanks_are_quoted(void **state)
{
	(void)state;
	EXPECT("sh\0-c\0echo a  b", "sh -c \"echo a  b\"");
	EXPECT("x\0\0y", "x \"\" y");
	EXPECT("x\0a\tb\0a\nb", "x \"a\tb\" \"a\nb\"");
}

static void test_command_line__quotes_and_backslashes(void **state)
{
	(void)state;
	EXPECT("x\0say \"hi\"", "x \"say \\\"hi\\\"\"");
	EXPECT("x\0a\"b", "x \"a\\\"b\"");
	/* A backslash counts only where a quote follows. */
	EXPECT("x\0a \\b", "x \"a \\b\"");
	EXPECT("x\0a b\\", "x \"a b\\\\\"");
	EXPECT("x\0a\\\"b", "x \"a\\\\\\\"b\"");
	EXPECT("x\0a \\\\\"", "x \"a \\\\\\\\\\\"\"");
}

static void test_command_line__the_program_has_its_own_rule(void **state)
{
	(void)state;
	EXPECT("/opt/my app/run\0x", "\"/opt/my app/run\" x");
	EXPECT("\0x", "\"\" x");
	EXPECT("dir\\\\\0x", "dir\\\\ x");
}

static void test_command_line__bytes_that_are_no_utf8(void **state)
{
	(void)state;
	EXPECT("x\0\xFF\xC3\xA4", "x \xEF\xBF\xBD\xC3\xA4");
	EXPECT("\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command_line__plain_arguments_stay),
		cmocka_unit_test(test_command_line__blanks_are_quoted),
		cmocka_unit_test(test_command_line__quotes_and_backslashes),
		cmocka_unit_test(test_command_line__the_program_has_its_own_rule),
		cmocka_unit_test(test_command_line__bytes_that_are_no_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
