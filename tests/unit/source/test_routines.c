/* SPDX-License-Identifier: MIT */
/* Which of the kernel's functions serve calls and soft interrupts, by names in a made-up list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/kernel/code/routines.h"

#if defined(__aarch64__)
#define PREFIX "__arm64_sys_"
#else
#define PREFIX "__x64_sys_"
#endif

static const char list[] = "ffffffff81000000 T _stext\n"
			   "ffffffff81000100 T " PREFIX "read\n"
			   "ffffffff81000200 T " PREFIX "newuname\n"
			   "ffffffff81000300 T " PREFIX "uname\n"
			   "ffffffff81000400 T __ia32_sys_open\n"
			   "ffffffff81000500 T __ia32_compat_sys_open\n"
			   "ffffffff81000600 T __ia32_sys_read\n"
			   "ffffffff81000700 T __ia32_compat_sys_sendfile64\n"
			   "ffffffff81000800 T __ia32_sys_sendfile64\n"
			   "ffffffff81000880 T " PREFIX "getppid\n"
			   "ffffffff81000880 T __ia32_sys_getppid\n"
			   "ffffffff81000900 t net_rx_action\n"
			   "ffffffff81000a00 t run_rebalance_domains\n"
			   "ffffffff81000b00 T sysvec_reschedule_ipi\n"
			   "ffffffffc0000000 t net_tx_action\t[module]\n";

static void read_list(struct etw_kernel_routines *routines, const char *text)
{
	char path[] = "/tmp/etw-routines-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	memset(routines, 0, sizeof(*routines));
	assert_int_equal(etw_kernel_routines_read(routines, path), 0);
	unlink(path);
}

static void test_routines__calls_go_by_the_function_that_serves_them(void **state)
{
	static struct etw_kernel_routines routines;

	(void)state;
	read_list(&routines, list);
	assert_int_equal(etw_kernel_routines_call(&routines, SYS_read, false), 0xffffffff81000100);
	assert_int_equal(etw_kernel_routines_call(&routines, SYS_uname, false), 0xffffffff81000200);
	assert_int_equal(etw_kernel_routines_call(&routines, SYS_getppid, false),
			 0xffffffff81000880);
}

static void test_routines__what_is_not_known_is_its_number(void **state)
{
	static struct etw_kernel_routines routines;

	(void)state;
	read_list(&routines, list);
	assert_int_equal(etw_kernel_routines_call(&routines, SYS_write, false), SYS_write);
	assert_int_equal(etw_kernel_routines_call(&routines, SYS_write, true), 4096 + SYS_write);
	assert_int_equal(etw_kernel_routines_call(&routines, 4095, false), 4095);
	/* No call has such a number; that of a 32-bit program's call would be written so. */
	assert_int_equal(etw_kernel_routines_call(&routines, 4096, false), UINT32_MAX);
	assert_int_equal(etw_kernel_routines_call(&routines, 8191, false), UINT32_MAX);
	assert_int_equal(etw_kernel_routines_call(&routines, 8192, false), 8192);
	assert_int_equal(etw_kernel_routines_call(&routines, UINT32_MAX, false), UINT32_MAX);
	assert_int_equal(etw_kernel_routines_call(&routines, UINT32_MAX, true), UINT32_MAX);
	assert_int_equal(etw_kernel_routines_soft(&routines, 9), 9);
	assert_int_equal(etw_kernel_routines_soft(&routines, 1000), 1000);
}

static void test_routines__hidden_addresses_leave_numbers(void **state)
{
	static struct etw_kernel_routines routines;

	(void)state;
	read_list(&routines, "0000000000000000 T " PREFIX "read\n");
	assert_int_equal(etw_kernel_routines_call(&routines, SYS_read, false), SYS_read);
}

static void test_routines__a_list_that_is_not_there_is_told(void **state)
{
	static struct etw_kernel_routines routines;

	(void)state;
	assert_int_equal(etw_kernel_routines_read(&routines, "/nowhere/kallsyms"), -2);
	assert_int_equal(etw_kernel_routines_call(&routines, 5, false), 5);
}

static void test_routines__interrupts_have_old_names_and_new_ones(void **state)
{
	static struct etw_kernel_routines routines;

	(void)state;
	read_list(&routines, list);
	assert_int_equal(etw_kernel_routines_soft(&routines, 3), 0xffffffff81000900);
	assert_int_equal(etw_kernel_routines_soft(&routines, 7), 0xffffffff81000a00);
	assert_int_equal(etw_kernel_routines_vector(&routines, 0xFD), 0xffffffff81000b00);
	assert_int_equal(etw_kernel_routines_vector(&routines, 0xFE), 0xFE);
	assert_int_equal(etw_kernel_routines_vector(&routines, 0x1FD), 0x1FD);
	assert_int_equal(etw_kernel_routines_soft(&routines, 2), 2); /* a module's of that name */
	read_list(&routines, "ffffffff81000b00 t sched_balance_softirq\n"
			     "ffffffff81000c00 t run_rebalance_domains\n");
	assert_int_equal(etw_kernel_routines_soft(&routines, 7), 0xffffffff81000b00);
}

#if defined(__x86_64__)
static void test_routines__calls_of_32_bit_programs_have_numbers_of_their_own(void **state)
{
	static struct etw_kernel_routines routines;

	(void)state;
	read_list(&routines, list);
	assert_int_equal(etw_kernel_routines_call(&routines, 3, true), 0xffffffff81000600);
	/* Where there is a function for 32-bit programs, it is meant; but for one. */
	assert_int_equal(etw_kernel_routines_call(&routines, 5, true), 0xffffffff81000500);
	assert_int_equal(etw_kernel_routines_call(&routines, 239, true), 0xffffffff81000800);
	/* One function may serve both. */
	assert_int_equal(etw_kernel_routines_call(&routines, 64, true), 0xffffffff81000880);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routines__calls_go_by_the_function_that_serves_them),
		cmocka_unit_test(test_routines__what_is_not_known_is_its_number),
		cmocka_unit_test(test_routines__hidden_addresses_leave_numbers),
		cmocka_unit_test(test_routines__a_list_that_is_not_there_is_told),
		cmocka_unit_test(test_routines__interrupts_have_old_names_and_new_ones),
#if defined(__x86_64__)
		cmocka_unit_test(test_routines__calls_of_32_bit_programs_have_numbers_of_their_own),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
