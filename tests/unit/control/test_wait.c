/* SPDX-License-Identifier: MIT */
/* How long a host's silence may last, and who hears of it. */
#include "control/wait.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static unsigned told, asked;

static bool is_over(void *context)
{
	(void)context;
	asked++;
	return true;
}

static void tell(void *context, const char *directory)
{
	(void)context;
	assert_string_equal(directory, "/nowhere");
	told++;
}

static void test_wait__silence_is_bounded(void **state)
{
	const struct etw_control_waiting waiting = {.wake_fd = -1, .patience_ms = 100};
	struct etw_control_wait wait;
	int r;

	(void)state;
	etw_control_wait_begin(&wait, &waiting, "/nowhere");
	do
		r = etw_control_wait_for(&wait, -1, 0, UINT32_MAX);
	while (r == 0);
	assert_int_equal(r, -ETIMEDOUT);
	assert_int_equal(etw_control_wait_look(&wait), -ETIMEDOUT);
	etw_control_wait_heard(&wait);
	assert_int_equal(etw_control_wait_look(&wait), 0);
}

static void test_wait__what_is_ready_is_seen(void **state)
{
	struct etw_control_wait wait;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	etw_control_wait_begin(&wait, NULL, "/nowhere");
	assert_int_equal(etw_control_wait_for(&wait, ends[0], POLLIN, 1), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(etw_control_wait_for(&wait, ends[0], POLLIN, UINT32_MAX), 1);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/* A host that has just answered is not left: the call is as good as done. */
static void test_wait__it_is_over_after_a_while_of_silence(void **state)
{
	const struct etw_control_waiting waiting = {
		.wake_fd = -1, .is_over = is_over, .tell = tell};
	struct etw_control_wait wait;
	int r;

	(void)state;
	told = asked = 0;
	etw_control_wait_begin(&wait, &waiting, "/nowhere");
	do
		r = etw_control_wait_for(&wait, -1, 0, UINT32_MAX);
	while (r == 0);
	assert_int_equal(r, -ECANCELED);
	assert_true(etw_control_wait_silence_ms(&wait) >= 500);
	assert_int_equal(asked, 1);
}

static void test_wait__it_is_told_once(void **state)
{
	const struct etw_control_waiting waiting = {.wake_fd = -1, .tell = tell};
	struct etw_control_wait wait;

	(void)state;
	told = 0;
	etw_control_wait_begin(&wait, &waiting, "/nowhere");
	assert_int_equal(etw_control_wait_look(&wait), 0);
	assert_int_equal(told, 0);
	wait.silent_since_ns -= 2000 * ETW_NS_PER_MS;
	assert_int_equal(etw_control_wait_look(&wait), 0);
	assert_int_equal(etw_control_wait_look(&wait), 0);
	assert_int_equal(told, 1);
}

/* The variable is the user's; what is no number leaves the usual time, and can be told. */
static void test_wait__the_environment_says_how_long(void **state)
{
	static const struct {
		const char *value;
		uint64_t limit_ms;
		bool is_wrong;
	} rows[] = {{"250", 250, false},        {"1", 100, false},   {"", 30000, false},
		    {"x", 30000, true},         {"-5", 30000, true}, {"9x", 30000, true},
		    {"3000000000", 30000, true}};
	struct etw_control_wait wait;
	uint64_t limit_ms;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)setenv("ETW_HOST_TIMEOUT_MS", rows[i].value, 1);
		etw_control_wait_begin(&wait, NULL, "/nowhere");
		assert_true(wait.patience.left_ns == rows[i].limit_ms * ETW_NS_PER_MS);
		assert_int_equal(etw_control_wait_variable(&limit_ms) != NULL, rows[i].is_wrong);
		assert_int_equal(limit_ms, rows[i].limit_ms);
	}
	(void)unsetenv("ETW_HOST_TIMEOUT_MS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait__silence_is_bounded),
		cmocka_unit_test(test_wait__what_is_ready_is_seen),
		cmocka_unit_test(test_wait__it_is_over_after_a_while_of_silence),
		cmocka_unit_test(test_wait__it_is_told_once),
		cmocka_unit_test(test_wait__the_environment_says_how_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
