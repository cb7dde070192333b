/* SPDX-License-Identifier: MIT */
/* Facts about a made-up machine, and about this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_procfs.h"
#include "source/kernel/machine/config.h"

static void expect_ascii(const char16_t *got, const char *wanted, size_t units)
{
	for (size_t i = 0; i < units; i++)
		assert_int_equal(got[i], (unsigned char)wanted[i]);
	assert_int_equal(got[units], 0);
}

static void test_config__of_a_made_up_machine(void **state)
{
	char root[] = "/tmp/etw-config-XXXXXX";
	struct etw_kernel_config config;

	(void)state;
	fake_begin(root);
	fake_text(root, "proc/cpuinfo",
		  "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 79\nmodel name\t: Fast 3\n"
		  "stepping\t: 1\n\nprocessor\t: 1\ncpu family\t: 7\n");
	fake_text(root, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n");
	memset(&config, 0xFF, sizeof(config));
	etw_kernel_config_gather(root, &config);
	assert_int_equal(config.level, 6);
	assert_int_equal(config.revision, 0x4F01);
	assert_int_equal(config.sibling_mask, 1);
	fake_text(root, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
	etw_kernel_config_gather(root, &config);
	assert_int_equal(config.sibling_mask, 0);
	fake_end(root);
}

static void test_config__without_files(void **state)
{
	struct etw_kernel_config config;

	(void)state;
	etw_kernel_config_gather("/nonexistent", &config);
	assert_int_equal(config.level, 0);
	assert_int_equal(config.revision, 0);
	assert_int_equal(config.sibling_mask, 0);
}

static void test_config__of_this_machine(void **state)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	struct etw_kernel_config config;
	char name[256];
	size_t label;

	(void)state;
	etw_kernel_config_gather("", &config);
	assert_true(config.processors >= (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(config.page_bytes, page_bytes);
	assert_int_equal(config.memory_mib, (uint64_t)pages * (uint64_t)page_bytes / 1048576);
	assert_int_equal(gethostname(name, sizeof(name)), 0);
	label = strcspn(name, ".");
	expect_ascii(config.computer, name, label);
	if (name[label])
		expect_ascii(config.domain, name + label + 1, strlen(name + label + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config__of_a_made_up_machine),
		cmocka_unit_test(test_config__without_files),
		cmocka_unit_test(test_config__of_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
