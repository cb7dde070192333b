/* SPDX-License-Identifier: MIT */
/* perf's events of page faults: which are opened, started, stopped, kept and refused. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_source_host.h"
#include "source/kernel/perf/faults.h"

#define MINOR_PROGRAM 1001
#define MAJOR_PROGRAM 1002

static struct {
	unsigned opened, enabled, disabled, minor, major;
	int open_error, attach_error;
} calls;

static int open_event(const struct perf_event_attr *attributes, pid_t tid, int cpu)
{
	assert_int_equal(attributes->type, PERF_TYPE_SOFTWARE);
	assert_int_equal(attributes->sample_period, 1);
	assert_true(attributes->disabled);
	assert_int_equal(tid, -1);
	assert_true(cpu >= 0);
	if (calls.open_error)
		return calls.open_error;
	calls.opened++;
	calls.minor += attributes->config == PERF_COUNT_SW_PAGE_FAULTS_MIN;
	calls.major += attributes->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int attach(int fd, int program_fd)
{
	assert_true(fd >= 0);
	assert_true(program_fd == MINOR_PROGRAM || program_fd == MAJOR_PROGRAM);
	return calls.attach_error;
}

static int control(int fd, unsigned long request, void *argument)
{
	(void)argument;
	assert_true(fd >= 0);
	calls.enabled += request == PERF_EVENT_IOC_ENABLE;
	calls.disabled += request == PERF_EVENT_IOC_DISABLE;
	return 0;
}

static const struct etw_kernel_perf_calls fake_calls = {
	.open = open_event, .attach = attach, .control = control};

struct fixture {
	struct fake_source_host fake;
	struct etw_kernel_faults faults;
};

static int set_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	memset(&calls, 0, sizeof(calls));
	fake_source_host_init(&fixture.fake);
	fixture.faults.calls = &fake_calls;
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	etw_kernel_faults_done(&fixture->faults);
	return 0;
}

static int start(struct fixture *fixture, int minor, int major, struct etw_fault *reterr)
{
	const int programs[ETW_KERNEL_FAULT_EVENTS] = {minor, major};

	return etw_kernel_faults_start(&fixture->faults, &fixture->fake.host, programs, reterr);
}

static void test_faults__each_processor_has_both(void **state)
{
	struct fixture *fixture = *state;
	uint32_t cpus = fixture->fake.host.cpu_count;

	assert_int_equal(start(fixture, MINOR_PROGRAM, MAJOR_PROGRAM, NULL), 0);
	assert_int_equal(calls.minor, cpus);
	assert_int_equal(calls.major, cpus);
	assert_int_equal(calls.enabled, 2 * cpus);
	/* Once more: they are there. */
	assert_int_equal(start(fixture, MINOR_PROGRAM, MAJOR_PROGRAM, NULL), 0);
	assert_int_equal(calls.opened, 2 * cpus);
}

static void test_faults__what_is_not_wanted_is_not_opened(void **state)
{
	struct fixture *fixture = *state;
	uint32_t cpus = fixture->fake.host.cpu_count;

	assert_int_equal(start(fixture, -1, MAJOR_PROGRAM, NULL), 0);
	assert_int_equal(calls.minor, 0);
	assert_int_equal(calls.major, cpus);
	/* Wanted later, and no more. */
	assert_int_equal(start(fixture, MINOR_PROGRAM, -1, NULL), 0);
	assert_int_equal(calls.minor, cpus);
	assert_int_equal(calls.disabled, cpus);
	etw_kernel_faults_stop(&fixture->faults);
	assert_int_equal(calls.disabled, 3 * cpus);
}

static void test_faults__a_refusal_names_what_is_missing(void **state)
{
	struct fixture *fixture = *state;
	struct etw_fault fault = {0};

	calls.open_error = -EACCES;
	assert_int_equal(start(fixture, MINOR_PROGRAM, MAJOR_PROGRAM, &fault), -EACCES);
	assert_non_null(strstr(fault.sentence, "CAP_PERFMON"));
	calls.open_error = 0;
	calls.attach_error = -EMFILE;
	assert_int_equal(start(fixture, MINOR_PROGRAM, MAJOR_PROGRAM, &fault), -EMFILE);
	assert_int_equal(calls.enabled, 0);
}

static void test_faults__a_processor_that_is_not_there_is_left_out(void **state)
{
	struct fixture *fixture = *state;

	calls.open_error = -ENODEV;
	assert_int_equal(start(fixture, MINOR_PROGRAM, MAJOR_PROGRAM, NULL), 0);
	assert_int_equal(calls.enabled, 0);
}

static void test_faults__nothing_is_done_before_the_first_start(void **state)
{
	struct fixture *fixture = *state;

	etw_kernel_faults_stop(&fixture->faults);
	etw_kernel_faults_follow_cpus(&fixture->faults);
	assert_int_equal(calls.opened + calls.enabled + calls.disabled, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_faults__each_processor_has_both),
		TEST(test_faults__what_is_not_wanted_is_not_opened),
		TEST(test_faults__a_refusal_names_what_is_missing),
		TEST(test_faults__a_processor_that_is_not_there_is_left_out),
		TEST(test_faults__nothing_is_done_before_the_first_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
