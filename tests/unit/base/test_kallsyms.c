/* SPDX-License-Identifier: MIT */
/* The text of the kernel's list of symbols. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/kallsyms.h"
#include "base/macros.h"

#define LONG_NAME_BYTES 2000

static char path[] = "/tmp/etw-kallsyms-XXXXXX";

static int make_file(void **state)
{
	int fd;

	(void)state;
	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_list(const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
}

static void test_kallsyms__a_line_of_the_kernel(void **state)
{
	char text[] = "ffffffff81000000 T _stext\n";
	struct etw_kallsyms_line line;

	(void)state;
	assert_true(etw_kallsyms_parse(text, &line));
	assert_int_equal(line.address, UINT64_C(0xffffffff81000000));
	assert_int_equal(line.type, 'T');
	assert_string_equal(line.name, "_stext");
	assert_int_equal(line.name_bytes, 6);
	assert_null(line.owner);
	assert_int_equal(line.owner_bytes, 0);
}

static void test_kallsyms__a_line_of_a_module(void **state)
{
	char text[] = "ffffffffa0000010 t open_file\t[my_fs]";
	struct etw_kallsyms_line line;

	(void)state;
	assert_true(etw_kallsyms_parse(text, &line));
	assert_string_equal(line.name, "open_file");
	assert_string_equal(line.owner, "my_fs");
	assert_int_equal(line.owner_bytes, 5);
}

static void test_kallsyms__which_types_are_functions(void **state)
{
	(void)state;
	for (const char *type = "tTwWaAbBdDrRvVuU"; *type; type++) {
		struct etw_kallsyms_line line = {.type = *type};

		assert_int_equal(etw_kallsyms_is_function(&line), strchr("tTwW", *type) != NULL);
	}
}

static void test_kallsyms__lines_that_are_no_symbols(void **state)
{
	static const char *const lines[] = {
		"",         "\n",
		" \n",      "ffffffff81000000",
		"xyz T f",  "ffffffff81000000 ",
		" T name",  "ffffffff81000000 T",
		"1 7 name", "ffffffff81000000 T ",
		"1 TT f",   "11112222333344445 T name",
	};
	struct etw_kallsyms_line line;
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		strcpy(text, lines[i]);
		assert_false(etw_kallsyms_parse(text, &line));
	}
}

static void test_kallsyms__what_is_no_owner_is_the_kernels(void **state)
{
	static const char *const ends[] = {"\t[", "\t[]", "\t[x", "\tx]", " "};
	struct etw_kallsyms_line line;
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		(void)snprintf(text, sizeof(text), "1 t f%s\n", ends[i]);
		assert_true(etw_kallsyms_parse(text, &line));
		assert_string_equal(line.name, "f");
		assert_null(line.owner);
	}
}

static void test_kallsyms__limits_of_names(void **state)
{
	char text[ETW_KALLSYMS_LINE_BYTES];
	struct etw_kallsyms_line line;

	(void)state;
	(void)snprintf(text, sizeof(text), "1 t %0*d", ETW_KALLSYMS_NAME_BYTES - 1, 0);
	assert_true(etw_kallsyms_parse(text, &line));
	assert_int_equal(line.name_bytes, ETW_KALLSYMS_NAME_BYTES - 1);
	(void)snprintf(text, sizeof(text), "1 t %0*d", ETW_KALLSYMS_NAME_BYTES, 0);
	assert_false(etw_kallsyms_parse(text, &line));
	(void)snprintf(text, sizeof(text), "1 t f\t[%0*d]", ETW_KALLSYMS_OWNER_BYTES - 1, 0);
	assert_true(etw_kallsyms_parse(text, &line));
	assert_int_equal(strlen(line.owner), ETW_KALLSYMS_OWNER_BYTES - 1);
	(void)snprintf(text, sizeof(text), "1 t f\t[%0*d]", ETW_KALLSYMS_OWNER_BYTES, 0);
	assert_false(etw_kallsyms_parse(text, &line));
}

/* All names, in the order in which they came; the reading ends at "last". */
static int join(void *context, const struct etw_kallsyms_line *line)
{
	strcat(context, line->name);
	return strcmp(line->name, "last") == 0 ? -ECANCELED : 0;
}

static void test_kallsyms__hands_out_symbols_until_it_is_told_to_stop(void **state)
{
	char names[64] = "";

	(void)state;
	write_list("1 t one\nno symbol\n0 A two\n2 t three");
	assert_int_equal(etw_kallsyms_read(path, join, names), 0);
	assert_string_equal(names, "onetwothree");
	names[0] = '\0';
	write_list("1 t one\n1 t last\n1 t more\n");
	assert_int_equal(etw_kallsyms_read(path, join, names), -ECANCELED);
	assert_string_equal(names, "onelast");
	assert_int_equal(etw_kallsyms_read("/nowhere", join, names), -ENOENT);
	assert_int_equal(etw_kallsyms_read("/tmp", join, names), -EIO);
}

static void test_kallsyms__the_rest_of_a_long_line_is_no_line(void **state)
{
	char text[LONG_NAME_BYTES + 64], names[64] = "";
	size_t cut = ETW_KALLSYMS_LINE_BYTES - 1;

	(void)state;
	memset(text, 'n', sizeof(text));
	memcpy(text, "1 t ", 4);
	memcpy(text + cut, "2 t hidden", 10);
	strcpy(text + LONG_NAME_BYTES, "\n3 t next\n");
	write_list(text);
	assert_int_equal(etw_kallsyms_read(path, join, names), 0);
	assert_string_equal(names, "next");
}

static void test_kallsyms__whether_addresses_are_shown(void **state)
{
	(void)state;
	write_list(
		"0000000000000000 T _stext\n0000000000000000 t first\n0000000000000000 t f\t[m]\n");
	assert_int_equal(etw_kallsyms_shows_addresses(path), 0);
	write_list("0000000000000000 A zero\nffffffff81000000 T _stext\n");
	assert_int_equal(etw_kallsyms_shows_addresses(path), 1);
	write_list("0000000000000000 A zero\n");
	assert_int_equal(etw_kallsyms_shows_addresses(path), -ENODATA);
	assert_int_equal(etw_kallsyms_shows_addresses("/nowhere"), -ENOENT);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kallsyms__a_line_of_the_kernel),
		cmocka_unit_test(test_kallsyms__a_line_of_a_module),
		cmocka_unit_test(test_kallsyms__which_types_are_functions),
		cmocka_unit_test(test_kallsyms__lines_that_are_no_symbols),
		cmocka_unit_test(test_kallsyms__what_is_no_owner_is_the_kernels),
		cmocka_unit_test(test_kallsyms__limits_of_names),
		WITH_FILE(test_kallsyms__hands_out_symbols_until_it_is_told_to_stop),
		WITH_FILE(test_kallsyms__the_rest_of_a_long_line_is_no_line),
		WITH_FILE(test_kallsyms__whether_addresses_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
