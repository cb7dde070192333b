/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "schema/tracepoint/format.h"

static struct etw_arena arena;

#define HEAD                                                                   \
	"name: wake\nID: 372\nformat:\n"                                       \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(text) HEAD "\tfield:" text "\n"

static int begin(void **state)
{
	(void)state;
	etw_arena_init(&arena);
	return 0;
}

static int end(void **state)
{
	(void)state;
	etw_arena_done(&arena);
	return 0;
}

static struct etw_tracepoint_format *parse(const char *text)
{
	struct etw_tracepoint_format *format = NULL;
	struct etw_fault fault = {0};

	if (etw_tracepoint_format_parse(&arena, text, strlen(text), &format, &fault))
		fail_msg("line %u: %s", (unsigned)fault.offset, fault.sentence);
	return format;
}

/* The field behind the two common ones. */
static const struct etw_tracepoint_field *parse_field(const char *text)
{
	const struct etw_tracepoint_format *format = parse(text);

	assert_int_equal(format->field_count, 3);
	return &format->fields[2];
}

static void refuse(const char *text, uint64_t line, const char *sentence)
{
	struct etw_tracepoint_format *format = NULL;
	struct etw_fault fault = {0};

	assert_int_equal(etw_tracepoint_format_parse(&arena, text, strlen(text), &format, &fault),
			 -EBADMSG);
	assert_string_equal(fault.sentence, sentence);
	assert_int_equal(fault.offset, line);
	assert_null(format);
}

static void test_format__head_and_print(void **state)
{
	const struct etw_tracepoint_format *format = parse(
		FIELD("pid_t pid;\toffset:8;\tsize:4;\tsigned:1;") "\nprint fmt: \"pid=%d\", "
								   "REC->pid\n");

	(void)state;
	assert_string_equal(format->name, "wake");
	assert_int_equal(format->type, 372);
	assert_int_equal(format->record_bytes, 12);
	assert_string_equal(format->print, "\"pid=%d\", REC->pid");
	assert_true(format->fields[0].is_common);
	assert_false(format->fields[2].is_common);
	assert_string_equal(format->fields[2].type, "pid_t");
	assert_true(format->fields[2].is_signed);
}

static void test_format__arrays(void **state)
{
	const struct etw_tracepoint_field *field =
		parse_field(FIELD("char comm[16];\toffset:8;\tsize:16;\tsigned:0;"));

	(void)state;
	assert_true(field->is_array);
	assert_int_equal(field->count, 16);
	assert_string_equal(field->name, "comm");
	assert_string_equal(field->type, "char");
	field = parse_field(FIELD("u32 cells[2][3];\toffset:8;\tsize:24;\tsigned:0;"));
	assert_int_equal(field->count, 6);
	field = parse_field(FIELD("char comm[TASK_COMM_LEN];\toffset:8;\tsize:16;\tsigned:0;"));
	assert_int_equal(field->count, 16);
	field = parse_field(FIELD("unsigned long buf[];\toffset:8;\tsize:0;\tsigned:0;"));
	assert_int_equal(field->place, ETW_TRACEPOINT_TO_END);
}

static void test_format__dynamic_arrays(void **state)
{
	const struct etw_tracepoint_field *field =
		parse_field(FIELD("__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;"));

	(void)state;
	assert_int_equal(field->place, ETW_TRACEPOINT_DATA_LOC);
	assert_true(field->is_array);
	assert_string_equal(field->name, "name");
	assert_string_equal(field->type, "char");
	field = parse_field(FIELD("__rel_loc u64[] list;\toffset:8;\tsize:4;\tsigned:0;"));
	assert_int_equal(field->place, ETW_TRACEPOINT_REL_LOC);
	field = parse_field(FIELD("__data_loc cpumask_t cpus;\toffset:8;\tsize:4;\tsigned:0;"));
	assert_false(field->is_array);
	assert_string_equal(field->type, "cpumask_t");
}

static void test_format__pointers(void **state)
{
	const struct etw_tracepoint_field *field =
		parse_field(FIELD("const  char\t* name;\toffset:8;\tsize:8;\tsigned:0;"));

	(void)state;
	assert_true(field->is_pointer);
	assert_string_equal(field->type, "const char *");
	field = parse_field(FIELD("void (*function)(void *);\toffset:8;\tsize:8;\tsigned:0;"));
	assert_true(field->is_pointer);
	assert_string_equal(field->name, "function");
}

static void test_format__bit_fields(void **state)
{
	const struct etw_tracepoint_format *format = parse(FIELD(
		"unsigned int low:3;\toffset:8;\tsize:4;\tsigned:0;") "\tfield:unsigned int "
								      "high:5;\toffset:8;\tsize:4;"
								      "\tsigned:0;\n"
								      "\tfield:unsigned int "
								      "other:1;\toffset:12;\tsize:"
								      "4;\tsigned:0;\n");

	(void)state;
	assert_int_equal(format->field_count, 5);
	assert_string_equal(format->fields[2].name, "low");
	assert_int_equal(format->fields[2].bit_count, 3);
	assert_int_equal(format->fields[2].bit_shift, 0);
	assert_int_equal(format->fields[3].bit_count, 5);
	assert_int_equal(format->fields[3].bit_shift, 3);
	assert_int_equal(format->fields[4].bit_shift, 0);
	refuse(FIELD("u8 low:9;\toffset:8;\tsize:1;\tsigned:0;"), 7,
	       "a bit field goes beyond its bytes");
	refuse(FIELD("u8 low:0;\toffset:8;\tsize:1;\tsigned:0;"), 7,
	       "a bit field has no bits, or more than 64");
	refuse(FIELD("struct x low:2;\toffset:8;\tsize:12;\tsigned:0;"), 7,
	       "a bit field lies in no integer");
}

static void test_format__old_kernels_have_no_sign(void **state)
{
	(void)state;
	assert_false(parse_field(FIELD("int pid;\toffset:8;\tsize:4;"))->is_signed);
}

static void test_format__refusals(void **state)
{
	(void)state;
	refuse("", 0, "the format has no name");
	refuse("name: a b\n", 1, "the name has a character that none has");
	refuse("name: \n", 1, "the name is empty or too long");
	refuse("name: a\nID: 65536\n", 2, "the number is none, or has more than 16 bits");
	refuse("name: a\nhello\n", 2, "a line is none that formats have");
	refuse(FIELD("int pid"), 7, "a semicolon is missing");
	refuse(FIELD("int;\toffset:8;\tsize:4;\tsigned:1;"), 7, "a declaration has no type");
	refuse(FIELD(";\toffset:8;\tsize:4;\tsigned:1;"), 7, "a declaration has no name");
	refuse(FIELD("int 3;\toffset:8;\tsize:4;\tsigned:1;"), 7, "a declaration has no name");
	refuse(FIELD("int ();\toffset:8;\tsize:4;\tsigned:1;"), 7, "a declaration has no name");
	refuse(FIELD("int pid;\tsize:4;\tsigned:1;"), 7,
	       "a field lacks one of offset, size and signed");
	refuse(FIELD("int pid;\toffset:8"), 7, "a semicolon is missing");
	refuse(FIELD("int pid;\toffset:-8;\tsize:4;"), 7,
	       "the value is no number of a record's size");
	refuse(FIELD("int pid;\toffset:65536;\tsize:4;"), 7,
	       "the value is no number of a record's size");
	refuse(FIELD("int pid;\toffset:65535;\tsize:4;"), 7, "a field goes beyond any record");
	refuse(FIELD("int pid;\toffset:8;\tsize:0;"), 7, "a field has no bytes");
	refuse(FIELD("int pid;\toffset:8;\tsize:4;\tsigned:2;"), 7,
	       "the end of a field's line makes no sense");
	refuse(FIELD("int pid;\toffset:8;\tsize:4;\tsigned:1; more"), 7,
	       "the end of a field's line makes no sense");
	refuse(FIELD("int pid[3];\toffset:8;\tsize:4;\tsigned:1;"), 7,
	       "the size is no multiple of the number of elements");
	refuse(FIELD("int pid[60000][60000];\toffset:8;\tsize:4;\tsigned:1;"), 7,
	       "an array is larger than any record");
	refuse(FIELD("int pid];\toffset:8;\tsize:4;\tsigned:1;"), 7, "a bracket is not opened");
	refuse(FIELD("__data_loc char[] name;\toffset:8;\tsize:8;\tsigned:1;"), 7,
	       "the place of a dynamic array takes 4 bytes");
}

static void test_format__nul_and_size(void **state)
{
	static char large[ETW_TRACEPOINT_FORMAT_BYTES_MAX + 1];
	struct etw_tracepoint_format *format = NULL;
	struct etw_fault fault = {0};

	(void)state;
	assert_int_equal(etw_tracepoint_format_parse(&arena, "name: a\0b", 9, &format, &fault),
			 -EBADMSG);
	assert_string_equal(fault.sentence, "there is a NUL in the text");
	assert_int_equal(etw_tracepoint_format_parse(&arena, large, sizeof(large), &format, &fault),
			 -E2BIG);
	assert_int_equal(etw_arena_bytes(&arena), 0);
}

static void test_format__too_many_fields(void **state)
{
	static char text[65536];
	size_t bytes = (size_t)snprintf(text, sizeof(text), "name: a\n");

	(void)state;
	for (int i = 0; i < 257; i++)
		bytes += (size_t)snprintf(text + bytes, sizeof(text) - bytes,
					  "\tfield:int a%d;\toffset:8;\tsize:4;\tsigned:0;\n", i);
	refuse(text, 258, "there are more than 256 fields");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_format__head_and_print, begin, end),
		cmocka_unit_test_setup_teardown(test_format__arrays, begin, end),
		cmocka_unit_test_setup_teardown(test_format__dynamic_arrays, begin, end),
		cmocka_unit_test_setup_teardown(test_format__pointers, begin, end),
		cmocka_unit_test_setup_teardown(test_format__bit_fields, begin, end),
		cmocka_unit_test_setup_teardown(test_format__old_kernels_have_no_sign, begin, end),
		cmocka_unit_test_setup_teardown(test_format__refusals, begin, end),
		cmocka_unit_test_setup_teardown(test_format__nul_and_size, begin, end),
		cmocka_unit_test_setup_teardown(test_format__too_many_fields, begin, end),
	};

	return cmocka_run_group_tests_name("unit.schema.tracepoint_format", tests, NULL, NULL);
}
