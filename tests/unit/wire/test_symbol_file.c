/* SPDX-License-Identifier: MIT */
/* Symbols out of files of known forms, made up here, and out of this very program. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "wire/symbol_file.h"

#define BASE UINT64_C(0x7f0000000000)

static const struct etw_symbol_range range = {BASE, 0x10000};
static struct etw_symbol_file table;

static int parse(const void *bytes, size_t count, enum etw_symbol_form form)
{
	return etw_symbol_file_parse((struct etw_bytes){bytes, count}, form, &range, &table);
}

static void expect(uint32_t number, uint64_t offset, uint32_t bytes, const char *name)
{
	assert_true(number < table.count);
	assert_int_equal(table.at[number].offset, offset);
	assert_int_equal(table.at[number].byte_count, bytes);
	assert_int_equal(table.at[number].name_bytes, strlen(name));
	assert_memory_equal(table.at[number].name, name, strlen(name));
}

static void test_symbol_file__perf_map(void **state)
{
	static const char text[] = "7f0000000000 40 first\n"
				   "0x7f0000000040 0x80 Lambda::call(int, char)\n"
				   "7e0000000000 40 elsewhere\n"
				   "nonsense\n"
				   "7f000000ff00 1000 cut\n"
				   "7f0000000100 10 no newline";

	(void)state;
	assert_int_equal(parse(text, sizeof(text) - 1, ETW_SYMBOL_FORM_PERF_MAP), 0);
	assert_int_equal(table.count, 4);
	expect(0, 0, 0x40, "first");
	expect(1, 0x40, 0x80, "Lambda::call(int, char)");
	expect(2, 0xff00, 0x100, "cut");
	expect(3, 0x100, 0x10, "no newline");
	etw_symbol_file_done(&table);
	assert_int_equal(parse("no map at all\n", 14, ETW_SYMBOL_FORM_PERF_MAP), -EBADMSG);
	etw_symbol_file_done(&table);
	assert_int_equal(parse("", 0, ETW_SYMBOL_FORM_PERF_MAP), 0);
	etw_symbol_file_done(&table);
}

/* Head, a record of another kind, a load, and one that is cut. */
static void test_symbol_file__jitdump(void **state)
{
	uint8_t file[40 + 24 + 68 + 20] = {0};
	uint8_t *load = file + 40 + 24;

	(void)state;
	etw_store32(file, 0x4A695444);
	etw_store32(file + 4, 1);
	etw_store32(file + 8, 40);
	etw_store32(file + 40, 3);
	etw_store32(file + 44, 24);
	etw_store32(load + 4, 68);
	etw_store64(load + 32, BASE + 0x200);
	etw_store64(load + 40, 4);
	memcpy(load + 56, "jitted", 7);
	etw_store32(load + 68 + 4, 999);
	assert_int_equal(parse(file, sizeof(file), ETW_SYMBOL_FORM_JITDUMP), 0);
	assert_int_equal(table.count, 1);
	expect(0, 0x200, 4, "jitted");
	etw_symbol_file_done(&table);
	memset(load + 56, 'x', 12); /* no NUL */
	assert_int_equal(parse(file, sizeof(file), ETW_SYMBOL_FORM_JITDUMP), -EBADMSG);
	etw_symbol_file_done(&table);
	for (size_t cut = 0; cut < 40; cut++) {
		assert_int_equal(parse(file, cut, ETW_SYMBOL_FORM_JITDUMP), -EBADMSG);
		etw_symbol_file_done(&table);
	}
}

static void test_symbol_file__elf(void **state)
{
	struct etw_symbol_range whole = {BASE, UINT64_C(1) << 32};
	FILE *file = fopen("/proc/self/exe", "re");
	static uint8_t bytes[4 << 20];
	bool is_found = false;
	size_t count;

	(void)state;
	assert_non_null(file);
	count = fread(bytes, 1, sizeof(bytes), file);
	(void)fclose(file);
	if (count == sizeof(bytes)) {
		print_message("SKIP: this program is larger than its test expects\n");
		skip();
	}
	assert_int_equal(etw_symbol_file_parse((struct etw_bytes){bytes, count},
					       ETW_SYMBOL_FORM_ELF, &whole, &table),
			 0);
	for (uint32_t i = 0; i < table.count; i++)
		is_found |= strcmp(table.at[i].name, "main") == 0 && table.at[i].byte_count;
	assert_true(is_found);
	etw_symbol_file_done(&table);
	/* Cut anywhere it is refused, or says what is there. */
	for (size_t cut = 0; cut < count; cut += 1 + count / 200) {
		int r = etw_symbol_file_parse((struct etw_bytes){bytes, cut}, ETW_SYMBOL_FORM_ELF,
					      &whole, &table);

		assert_true(r == 0 || r == -EBADMSG);
		etw_symbol_file_done(&table);
	}
	assert_int_equal(parse("\x7f"
			       "ELF",
			       4, ETW_SYMBOL_FORM_ELF),
			 -EBADMSG);
	etw_symbol_file_done(&table);
	assert_int_equal(parse("x", 1, (enum etw_symbol_form)9), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbol_file__perf_map),
		cmocka_unit_test(test_symbol_file__jitdump),
		cmocka_unit_test(test_symbol_file__elf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
