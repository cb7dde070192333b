/* SPDX-License-Identifier: MIT */
#include "daemon/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/time.h"

static void test_clock__samples_when_it_is_time(void **state)
{
	static struct etwd_clock clock = {.page.fd = -1};
	struct etwd_keeper_store store;
	uint64_t now_ms = etw_monotonic_ms();
	int64_t raw;

	(void)state;
	assert_int_equal(etwd_keeper_store_init(&store, -1), 0);
	assert_int_equal(etwd_clock_open(&clock, &store), 0);
	assert_true(clock.page.fd >= 0);
	assert_int_equal(etwd_clock_check(&clock, false, now_ms), UINT64_MAX);
	assert_int_equal(etwd_clock_check(&clock, true, now_ms), now_ms + ETWD_SAMPLE_MS);
	assert_int_equal(etwd_clock_check(&clock, true, now_ms + 1), now_ms + ETWD_SAMPLE_MS);
	assert_int_equal(etwd_clock_check(&clock, true, now_ms + ETWD_SAMPLE_MS),
			 now_ms + 2 * ETWD_SAMPLE_MS);
	(void)etw_time_pairs_convert(&clock.pairs, etw_monotonic_ns(), &raw);
	/* Not wanted for a while: the next time begins at once. */
	assert_int_equal(etwd_clock_check(&clock, false, now_ms), UINT64_MAX);
	assert_int_equal(etwd_clock_check(&clock, true, now_ms + 5), now_ms + 5 + ETWD_SAMPLE_MS);
	etwd_clock_done(&clock);
	etwd_keeper_store_done(&store);
}

static uint64_t asleep_ns;

static void read_made(const struct wire_clock_page *page, unsigned tries,
		      struct etw_clock_reading *ret)
{
	etw_clock_read_machine(page, tries, ret);
	ret->boottime_ns += asleep_ns;
}

/* Behind a suspend the page's clock is ahead by it, and times of the kernel are on both sides. */
static void test_clock__goes_on_behind_a_suspend(void **state)
{
	static struct etwd_clock clock = {.page.fd = -1, .set_fd = -1};
	struct etwd_keeper_store store;
	struct wire_clock_page *page;
	struct itimerspec left;
	uint64_t before_ns, after_ns, count;
	int64_t offset, before, after;

	(void)state;
	assert_int_equal(etwd_keeper_store_init(&store, -1), 0);
	assert_int_equal(etwd_clock_open(&clock, &store), 0);
	/* It waits for the clock to be set, and wakes nobody until then. */
	assert_int_equal(timerfd_gettime(clock.set_fd, &left), 0);
	assert_true(left.it_value.tv_sec > INT64_C(365) * 24 * 3600);
	etwd_clock_rearm(&clock);
	assert_int_equal(read(clock.set_fd, &count, sizeof(count)), -1);
	assert_int_equal(errno, EAGAIN);
	page = clock.page.watch.writable;
	assert_non_null(page);
	offset = page->offset;
	etw_suspend_watch_begin(&clock.page.watch, page, page, read_made);
	assert_false(etwd_clock_look(&clock));
	(void)etwd_clock_check(&clock, true, etw_monotonic_ms());
	before_ns = etw_monotonic_ns();
	asleep_ns = 3600 * ETW_NS_PER_S + ETW_NS_PER_S / 2; /* far from an edge */
	assert_true(etwd_clock_look(&clock));
	assert_false(etwd_clock_look(&clock));
	after_ns = clock.pairs.pairs[(clock.pairs.count - 1) % ETW_TIME_PAIRS_MAX].monotonic_ns;
	assert_int_equal((page->offset - offset) / (int64_t)page->frequency, 3600);
	assert_int_equal(etw_time_pairs_convert(&clock.pairs, before_ns, &before), 0);
	assert_int_equal(etw_time_pairs_convert(&clock.pairs, after_ns, &after), 0);
	assert_in_range((after - before) / (int64_t)page->frequency, 3600, 4500);
	etwd_clock_done(&clock);
	etwd_keeper_store_done(&store);
}

/* The next host goes on with the page that every process has mapped. */
static void test_clock__the_last_hosts_page_is_taken_over(void **state)
{
	static struct etwd_clock first = {.page.fd = -1}, second = {.page.fd = -1};
	struct etwd_keeper_store store;
	struct etwd_keeper_message message;
	struct stat info[2];
	int ends[2], fd;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN_ALL, "", -1), 0);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), 0);
	assert_int_equal(etwd_clock_open(&first, &store), 0);
	assert_int_equal(etwd_keeper_receive(ends[0], MSG_DONTWAIT, &message, &fd), 0);
	assert_int_equal(message.op, ETWD_KEEPER_KEEP);
	assert_string_equal(message.name, "clock");
	etwd_keeper_store_done(&store);
	close(ends[0]);

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN, "clock", fd), 0);
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN_ALL, "", -1), 0);
	close(fd);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), 0);
	assert_int_equal(etwd_clock_open(&second, &store), 0);
	assert_int_equal(etwd_keeper_receive(ends[0], MSG_DONTWAIT, &message, &fd), -EAGAIN);
	assert_int_equal(fstat(first.page.fd, &info[0]), 0);
	assert_int_equal(fstat(second.page.fd, &info[1]), 0);
	assert_int_equal(info[0].st_ino, info[1].st_ino);
	etwd_clock_done(&first);
	etwd_clock_done(&second);
	etwd_keeper_store_done(&store);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock__samples_when_it_is_time),
		cmocka_unit_test(test_clock__goes_on_behind_a_suspend),
		cmocka_unit_test(test_clock__the_last_hosts_page_is_taken_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
