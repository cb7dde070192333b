/* SPDX-License-Identifier: MIT */
/* The kernel's functions by address, of a made-up machine and of this one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_procfs.h"
#include "source/kernel/code/functions.h"

static char root[] = "/tmp/etw-functions-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	fake_begin(root);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_end(root);
	return 0;
}

static int read_text(const char *text, struct etw_kernel_functions *ret)
{
	char path[FAKE_PATH_BYTES];

	fake_text(root, "kallsyms", text);
	fake_path(path, root, "kallsyms");
	return etw_kernel_functions_read(path, ret);
}

static void expect_at(const struct etw_kernel_functions *symbols, uint64_t address,
		      const char *name, const char *owner)
{
	uint32_t number = etw_kernel_functions_find(symbols, address);

	assert_true(number < symbols->count);
	assert_string_equal(etw_kernel_functions_name(symbols, number), name);
	assert_string_equal(symbols->owners[symbols->at[number].owner], owner);
}

static void test_functions__functions_with_their_owners(void **state)
{
	struct etw_kernel_functions symbols;

	(void)state;
	assert_int_equal(read_text("0000000000000000 A fixed_percpu_data\n"
				   "ffffffff81000000 T _stext\n"
				   "ffffffff81000000 T _text\n"
				   "ffffffff81000000 t first\n"
				   "ffffffff81000100 W weak\n"
				   "ffffffff81000200 D data\n"
				   "ffffffff81002000 T _etext\n"
				   "ffffffffa0000010 t open_file\t[my_fs]\n"
				   "ffffffffa0000000 t init_fs\t[my_fs]\n"
				   "ffffffffa0010000 t bpf_prog_6deef7357e7b4530\t[bpf]\n"
				   "ffffffffa0000020 T close_file\t[my_fs]\n",
				   &symbols),
			 0);
	assert_int_equal(symbols.count, 6);
	assert_int_equal(symbols.text_start, 0xffffffff81000000);
	assert_int_equal(symbols.text_end, 0xffffffff81002000);
	assert_false(symbols.is_hidden);
	assert_int_equal(symbols.owner_count, 3);
	expect_at(&symbols, 0xffffffff81000000, "first", "");
	expect_at(&symbols, 0xffffffff810000ff, "first", "");
	expect_at(&symbols, 0xffffffff81000100, "weak", "");
	expect_at(&symbols, 0xffffffffa000001f, "open_file", "my_fs");
	expect_at(&symbols, 0xffffffffa0000020, "close_file", "my_fs");
	expect_at(&symbols, UINT64_MAX, "bpf_prog_6deef7357e7b4530", "bpf");
	assert_int_equal(etw_kernel_functions_find(&symbols, 0xffffffff80ffffff), UINT32_MAX);
	etw_kernel_functions_done(&symbols);
}

static void test_functions__the_best_name_of_an_address(void **state)
{
	struct etw_kernel_functions symbols;

	(void)state;
	assert_int_equal(read_text("ffffffff81000000 T __do_sys_read\n"
				   "ffffffff81000000 t sys_read_local\n"
				   "ffffffff81000000 T sys_read\n"
				   "ffffffff81000000 W sys_read_weak\n"
				   "ffffffff81000040 T __pi_memcpy\n"
				   "ffffffff81000040 T __memcpy\n",
				   &symbols),
			 0);
	assert_int_equal(symbols.count, 2);
	expect_at(&symbols, 0xffffffff81000000, "sys_read", "");
	expect_at(&symbols, 0xffffffff81000040, "__memcpy", "");
	etw_kernel_functions_done(&symbols);
}

static void test_functions__hidden_addresses(void **state)
{
	char path[FAKE_PATH_BYTES];
	struct etw_kernel_functions symbols;

	(void)state;
	assert_int_equal(read_text("0000000000000000 T _stext\n0000000000000000 t first\n"
				   "0000000000000000 t f\t[m]\n",
				   &symbols),
			 0);
	assert_true(symbols.is_hidden);
	assert_int_equal(symbols.count, 0);
	assert_int_equal(etw_kernel_functions_find(&symbols, UINT64_MAX), UINT32_MAX);
	etw_kernel_functions_done(&symbols);
	fake_path(path, root, "none");
	assert_int_equal(etw_kernel_functions_read(path, &symbols), -ENOENT);
	etw_kernel_functions_done(&symbols);
}

static void test_functions__lines_that_make_no_sense(void **state)
{
	static char text[8192];
	struct etw_kernel_functions symbols;
	size_t at;

	(void)state;
	at = (size_t)snprintf(text, sizeof(text),
			      "\n\n \nffffffff81000000\nffffffff81000000 \nffffffff81000000 T\n"
			      "ffffffff81000000 T \nxyz T f\nffffffff81000000 TT f\n"
			      "ffffffff81000000 T ok\t[\nffffffff81000000 t ");
	memset(text + at, 'n', 2000);
	strcpy(text + at + 2000, "\nffffffff81000010 T good");
	assert_int_equal(read_text(text, &symbols), 0);
	assert_int_equal(symbols.count, 2);
	expect_at(&symbols, 0xffffffff81000000, "ok", "");
	expect_at(&symbols, 0xffffffff81000010, "good", "");
	etw_kernel_functions_done(&symbols);
}

static void test_functions__of_this_machine(void **state)
{
	struct etw_kernel_functions symbols;

	(void)state;
	if (etw_kallsyms_shows_addresses(ETW_KALLSYMS_PATH) <= 0) {
		print_message("SKIP: /proc/kallsyms shows no addresses here\n");
		skip();
	}
	assert_int_equal(etw_kernel_functions_read(ETW_KALLSYMS_PATH, &symbols), 0);
	assert_true(symbols.count > 1000);
	assert_true(symbols.text_start && symbols.text_end > symbols.text_start);
	for (uint32_t i = 1; i < symbols.count; i++)
		assert_true(symbols.at[i].address > symbols.at[i - 1].address);
	etw_kernel_functions_done(&symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_functions__functions_with_their_owners, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_functions__the_best_name_of_an_address, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_functions__hidden_addresses, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_functions__lines_that_make_no_sense, set_up,
						tear_down),
		cmocka_unit_test(test_functions__of_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
