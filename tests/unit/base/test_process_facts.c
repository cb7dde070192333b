/* SPDX-License-Identifier: MIT */
/* What procfs says of this process and of others, and which cgroups are containers. */
#include "base/process_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/time.h"

#define DIGITS "0123456789abcdef0123456789ABCDEFfedcba9876543210fedcba9876543210"

static void test_process_facts__of_this_process(void **state)
{
	struct etw_process_facts facts;

	(void)state;
	assert_int_equal(etw_process_facts_read((uint32_t)getpid(), &facts), 0);
	assert_in_range(facts.start_boot_ns, 1, etw_time_read_ns(CLOCK_BOOTTIME));
	assert_int_equal(facts.start_key & ((1u << 22) - 1), getpid());
	assert_int_not_equal(facts.session_id, ETW_SESSION_ID_UNKNOWN);
	assert_int_equal(etw_process_start_boot_ns((uint32_t)getpid()), facts.start_boot_ns);
}

static void test_process_facts__of_nobody(void **state)
{
	static const GUID none;
	struct etw_process_facts facts;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(etw_process_facts_read((uint32_t)child, &facts) < 0);
	assert_int_equal(facts.start_key, 0);
	assert_int_equal(facts.session_id, ETW_SESSION_ID_UNKNOWN);
	assert_memory_equal(&facts.container, &none, sizeof(none));
	assert_int_equal(etw_process_start_boot_ns((uint32_t)child), 0);
}

static void test_process_facts__containers(void **state)
{
	static const GUID expected = {
		0x01234567, 0x89ab, 0xcdef, {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef}};
	static const struct {
		const char *text;
		bool is_container;
	} rows[] = {
		{"0::/docker/" DIGITS "\n", true},
		{"0::/user.slice/user-1000.slice/libpod-" DIGITS ".scope/container\n", true},
		{"12:cpu:/\n4:memory:/kubepods/burstable/pod1a2b/cri-containerd-" DIGITS ".scope\n",
		 true},
		{"0::/system.slice/ssh.service\n", false},
		{"0::/a/" DIGITS "0\n", false}, /* longer */
		{"0::/user.slice/0123456789abcdef\n", false},
		{"", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		GUID container = {0};

		assert_int_equal(etw_container_of_cgroups(rows[i].text, &container),
				 rows[i].is_container);
		if (rows[i].is_container)
			assert_memory_equal(&container, &expected, sizeof(expected));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process_facts__of_this_process),
		cmocka_unit_test(test_process_facts__of_nobody),
		cmocka_unit_test(test_process_facts__containers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
