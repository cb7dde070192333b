/* SPDX-License-Identifier: MIT */
/* The kernel's list of processors: read whole or refused, and looked at now and then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "base/macros.h"
#include "source/kernel/perf/cpus.h"

#define LOOK_NS ETW_KERNEL_CPUS_LOOK_NS

static void test_cpus__ranges(void **state)
{
	static const struct {
		const char *text;
		uint32_t bits; /* of processors 0 to 31 */
	} cases[] = {
		{"0\n", 0x1},
		{"0-3\n", 0xF},
		{"0-1,3", 0xB},
		{"", 0},
		{"\n", 0},
		{"5-5", 0x20},
		{"0,2,4-6,31\n", 0x80000075},
		{"3,0-1\n", 0xB},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t bits[ETW_KERNEL_CPUS_MAX / 8] = {0};
		uint32_t word;

		assert_int_equal(etw_kernel_cpus_parse(cases[i].text, strlen(cases[i].text), bits),
				 0);
		memcpy(&word, bits, sizeof(word));
		assert_int_equal(word, cases[i].bits);
	}
}

static void test_cpus__what_is_no_list(void **state)
{
	static const char *const texts[] = {"-1",  "0-",   "0,",          ",0",     "0--1",
					    "3-1", "8192", "99999999999", "0-8192", "a",
					    "0 1", "0\n1", "0-1-2"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		uint8_t bits[ETW_KERNEL_CPUS_MAX / 8] = {0};

		assert_int_equal(etw_kernel_cpus_parse(texts[i], strlen(texts[i]), bits), -EBADMSG);
	}
}

static void write_list(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void test_cpus__one_that_goes_and_comes(void **state)
{
	static struct etw_kernel_cpus cpus;
	char path[] = "/tmp/etw-cpus-XXXXXX";
	int fd = mkstemp(path);
	uint64_t now_ns = 1;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_list(path, "0-1\n");
	etw_kernel_cpus_open(&cpus, path);
	assert_false(etw_kernel_cpus_is_online(&cpus, 0));
	assert_true(etw_kernel_cpus_look(&cpus, now_ns));
	assert_true(etw_kernel_cpus_is_online(&cpus, 1));
	assert_false(etw_kernel_cpus_is_online(&cpus, 2));
	assert_false(etw_kernel_cpus_is_online(&cpus, ETW_KERNEL_CPUS_MAX));
	write_list(path, "0\n");
	assert_false(etw_kernel_cpus_look(&cpus, now_ns + LOOK_NS - 1)); /* too soon */
	assert_true(etw_kernel_cpus_look(&cpus, now_ns + LOOK_NS));
	assert_false(etw_kernel_cpus_is_online(&cpus, 1));
	assert_false(etw_kernel_cpus_look(&cpus, now_ns + 2 * LOOK_NS)); /* says the same */
	write_list(path, "0-1\n");
	assert_true(etw_kernel_cpus_look(&cpus, now_ns + 3 * LOOK_NS));
	assert_true(etw_kernel_cpus_is_online(&cpus, 1));
	etw_kernel_cpus_close(&cpus);
	unlink(path);
}

static void test_cpus__without_a_list(void **state)
{
	static struct etw_kernel_cpus cpus;

	(void)state;
	etw_kernel_cpus_open(&cpus, "/nowhere/online");
	assert_int_equal(cpus.fd, -1);
	assert_false(etw_kernel_cpus_look(&cpus, 1));
	assert_false(etw_kernel_cpus_is_online(&cpus, 0));
	etw_kernel_cpus_close(&cpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpus__ranges),
		cmocka_unit_test(test_cpus__what_is_no_list),
		cmocka_unit_test(test_cpus__one_that_goes_and_comes),
		cmocka_unit_test(test_cpus__without_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
