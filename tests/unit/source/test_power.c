/* SPDX-License-Identifier: MIT */
/* Idle states and frequencies as a folder that looks like sysfs has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_procfs.h"
#include "source/kernel/machine/power.h"

#define FOUND_MAX 16

struct found {
	struct wire_idle_state states[FOUND_MAX];
	struct wire_processor_frequency frequencies[FOUND_MAX];
	uint32_t state_count, frequency_count;
};

static void take_state(void *context, const struct wire_idle_state *state)
{
	struct found *found = context;

	assert_true(found->state_count < FOUND_MAX);
	found->states[found->state_count++] = *state;
}

static void take_frequency(void *context, const struct wire_processor_frequency *frequency)
{
	struct found *found = context;

	assert_true(found->frequency_count < FOUND_MAX);
	found->frequencies[found->frequency_count++] = *frequency;
}

static void make_file(const char *root, unsigned processor, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/%s", processor, name);
	fake_text(root, path, text);
}

static void make_states(const char *root, unsigned processor, const char *latency)
{
	make_file(root, processor, "cpuidle/state0/name", "POLL\n");
	make_file(root, processor, "cpuidle/state0/latency", "0\n");
	make_file(root, processor, "cpuidle/state1/name", "C1\n");
	make_file(root, processor, "cpuidle/state1/desc", "halt, in words\n");
	make_file(root, processor, "cpuidle/state1/latency", latency);
	make_file(root, processor, "cpuidle/state1/residency", "90\n");
}

static int set_up(void **state)
{
	static char root[64];

	snprintf(root, sizeof(root), "/tmp/etw-power-XXXXXX");
	fake_begin(root);
	*state = root;
	return 0;
}

static int tear_down(void **state)
{
	fake_end(*state);
	return 0;
}

static void test_power__states_of_processors_that_are_alike(void **state)
{
	const char *root = *state;
	struct found found = {0};

	fake_text(root, "sys/devices/system/cpu/cpuidle/current_driver", "some_idle\n");
	for (unsigned i = 0; i < 12; i++)
		make_states(root, i, i < 11 ? "2\n" : "5\n");
	etw_kernel_idle_states_tell(root, take_state, &found);
	assert_int_equal(found.state_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(found.states[i].state, i % 2);
		assert_int_equal(found.states[i].first_processor, i < 2 ? 0 : 11);
		assert_int_equal(found.states[i].last_processor, i < 2 ? 10 : 11);
		assert_string_equal(found.states[i].driver, "some_idle");
	}
	assert_string_equal(found.states[1].name, "C1");
	assert_string_equal(found.states[1].description, "halt, in words");
	assert_int_equal(found.states[1].latency_us, 2);
	assert_int_equal(found.states[1].residency_us, 90);
	assert_int_equal(found.states[3].latency_us, 5);
	etw_kernel_frequencies_tell(root, take_frequency, &found);
	assert_int_equal(found.frequency_count, 0);
}

static void test_power__frequencies(void **state)
{
	const char *root = *state;
	struct found found = {0};

	make_file(root, 1, "cpufreq/scaling_driver", "some_freq\n");
	make_file(root, 1, "cpufreq/scaling_governor", "schedutil\n");
	make_file(root, 1, "cpufreq/scaling_cur_freq", "1800000\n");
	make_file(root, 1, "cpufreq/cpuinfo_min_freq", "800000\n");
	make_file(root, 1, "cpufreq/cpuinfo_max_freq", "4200000\n");
	make_file(root, 0, "online", "1\n"); /* has none */
	etw_kernel_frequencies_tell(root, take_frequency, &found);
	assert_int_equal(found.frequency_count, 1);
	assert_int_equal(found.frequencies[0].processor, 1);
	assert_int_equal(found.frequencies[0].current_khz, 1800000);
	assert_int_equal(found.frequencies[0].least_khz, 800000);
	assert_int_equal(found.frequencies[0].most_khz, 4200000);
	assert_string_equal(found.frequencies[0].driver, "some_freq");
	assert_string_equal(found.frequencies[0].governor, "schedutil");
	etw_kernel_idle_states_tell(root, take_state, &found);
	assert_int_equal(found.state_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_power__states_of_processors_that_are_alike,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_power__frequencies, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
