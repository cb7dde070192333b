/* SPDX-License-Identifier: MIT */
/* What became of stacks, and the time of processors: counted, kept for the next host, told as events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_procfs.h"
#include "fake_source_host.h"
#include "source/kernel/events/account_events.h"
#include "source/kernel/out/stack_account.h"

/* Headers of events, as far as their hook. */
static const uint8_t a_switch[] = {0, 0, 0, 0, 0, 0, 0x24, 0x05};
static const uint8_t a_sample[] = {0, 0, 0, 0, 0, 0, 0x2E, 0x0F};

struct keeper {
	int fd; /* owned; -1: nothing is kept */
};

static int keep_fd(void *context, const char *name, int fd)
{
	struct keeper *keeper = context;

	assert_string_equal(name, "stack-account");
	keeper->fd = dup(fd);
	return 0;
}

static int kept_fd(void *context, const char *name)
{
	const struct keeper *keeper = context;

	(void)name;
	return keeper->fd < 0 ? -ENOENT : dup(keeper->fd);
}

static void test_stack_account__what_is_safe_goes_on_in_the_next_host(void **state)
{
	struct keeper keeper = {-1};
	const struct etw_source_host host = {
		.context = &keeper, .keep_fd = keep_fd, .kept_fd = kept_fd};
	struct etw_kernel_stack_account account;
	struct wire_stack_account told;

	(void)state;
	etw_kernel_stack_account_open(&account, &host);
	assert_false(etw_kernel_stack_account_get(&account, 1, &told));
	etw_kernel_stack_account_add(&account, a_switch, WIRE_STACK_IS_THERE, true);
	etw_kernel_stack_account_add(&account, a_switch, WIRE_STACK_NOT_SWITCHED_OUT, true);
	etw_kernel_stack_account_save(&account);
	etw_kernel_stack_account_add(&account, a_switch, WIRE_STACK_IS_THERE, false);
	etw_kernel_stack_account_close(&account);

	/* What the last one output and nobody has made safe is output again. */
	etw_kernel_stack_account_open(&account, &host);
	etw_kernel_stack_account_add(&account, a_switch, WIRE_STACK_OF_IDLE_THREAD, false);
	assert_true(etw_kernel_stack_account_get(&account, 1, &told));
	assert_int_equal(told.hook, 0x0524);
	assert_int_equal(told.fates[WIRE_STACK_IS_THERE], 1);
	assert_int_equal(told.fates[WIRE_STACK_NOT_SWITCHED_OUT], 1);
	assert_int_equal(told.fates[WIRE_STACK_OF_IDLE_THREAD], 1);
	assert_int_equal(told.without_user, 1);
	/* The idle thread has none. */
	assert_int_equal(etw_kernel_stack_account_missing(&account), 1);
	etw_kernel_stack_account_close(&account);
	close(keeper.fd);
}

static void test_stack_account__without_a_keeper_it_counts_for_itself(void **state)
{
	const struct etw_source_host host = {.context = NULL};
	struct etw_kernel_stack_account account;
	struct wire_stack_account told;

	(void)state;
	etw_kernel_stack_account_open(&account, &host);
	etw_kernel_stack_account_add(&account, a_sample, WIRE_STACK_NO_FRAMES, false);
	etw_kernel_stack_account_save(&account);
	assert_true(etw_kernel_stack_account_get(&account, 1, &told));
	assert_int_equal(told.hook, 0x0F2E);
	assert_int_equal(told.fates[WIRE_STACK_NO_FRAMES], 1);
	etw_kernel_stack_account_close(&account);
}

/* Kinds of operations are counted apart, also behind a change of hosts; those that there is no room for, together. */
static void test_stack_account__counts_by_hook(void **state)
{
	struct keeper keeper = {-1};
	const struct etw_source_host host = {
		.context = &keeper, .keep_fd = keep_fd, .kept_fd = kept_fd};
	struct etw_kernel_stack_account account;
	struct wire_stack_account told;
	uint64_t sum = 0;

	(void)state;
	etw_kernel_stack_account_open(&account, &host);
	etw_kernel_stack_account_add(&account, a_switch, WIRE_STACK_IS_THERE, false);
	etw_kernel_stack_account_add(&account, a_sample, WIRE_STACK_IS_THERE, false);
	etw_kernel_stack_account_save(&account);
	etw_kernel_stack_account_close(&account);
	etw_kernel_stack_account_open(&account, &host);
	for (unsigned i = 1; i <= 2u * ETW_KERNEL_STACK_ROWS; i++) {
		const uint8_t event[] = {0, 0, 0, 0, 0, 0, (uint8_t)i, (uint8_t)(i >> 8)};

		etw_kernel_stack_account_add(&account, event, WIRE_STACK_IS_THERE, false);
	}
	etw_kernel_stack_account_add(&account, a_sample, WIRE_STACK_IS_THERE, false);
	assert_int_equal(etw_kernel_stack_account_of(&account, 0x0524)->fates[WIRE_STACK_IS_THERE],
			 1);
	assert_int_equal(etw_kernel_stack_account_of(&account, 0x0F2E)->fates[WIRE_STACK_IS_THERE],
			 2);
	for (uint32_t row = 1; etw_kernel_stack_account_get(&account, row, &told); row++)
		sum += told.fates[WIRE_STACK_IS_THERE];
	assert_int_equal(sum, 3 + 2 * ETW_KERNEL_STACK_ROWS);
	etw_kernel_stack_account_close(&account);
	close(keeper.fd);
}

static void test_stack_account__processor_time_is_that_of_all(void **state)
{
	const uint64_t ms_per_tick = 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
	char root[] = "/tmp/etw-account-XXXXXX";
	struct wire_processor_time time;

	(void)state;
	fake_begin(root);
	assert_int_equal(etw_kernel_processor_time_read(root, &time), -ENOENT);
	fake_text(root, "stat",
		  "cpu  10 20 30 40 50 60 70 80 90 100\n"
		  "cpu0 1 2 3 4 5 6 7 8 9 10\ncpu1 9 18 27 36 45 54 63 72 81 90\n"
		  "intr 100 2 3\n");
	assert_int_equal(etw_kernel_processor_time_read(root, &time), 0);
	assert_int_equal(time.processors, 2);
	assert_int_equal(time.ms[WIRE_PROCESSOR_USER], 10 * ms_per_tick);
	assert_int_equal(time.ms[WIRE_PROCESSOR_STEAL], 80 * ms_per_tick);
	fake_text(root, "stat", "cpu  10 20 30\n");
	assert_int_equal(etw_kernel_processor_time_read(root, &time), -EBADMSG);
	fake_end(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack_account__what_is_safe_goes_on_in_the_next_host),
		cmocka_unit_test(test_stack_account__without_a_keeper_it_counts_for_itself),
		cmocka_unit_test(test_stack_account__counts_by_hook),
		cmocka_unit_test(test_stack_account__processor_time_is_that_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
