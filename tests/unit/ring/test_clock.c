/* SPDX-License-Identifier: MIT */
/* The session's clocks, and pages that are not what they should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring/clock.h"

static const struct wire_clock_page sound = {.magic = WIRE_CLOCK_PAGE_MAGIC,
					     .version = 1,
					     .kind = WIRE_CLOCK_TSC,
					     .frequency = 2600000000};

static int64_t filetime_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return ETW_FILETIME_UNIX_EPOCH + now.tv_sec * ETW_FILETIME_PER_SECOND + now.tv_nsec / 100;
}

static int64_t raw_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void test_clock__qpc_is_the_counter_and_the_offset(void **state)
{
	struct wire_clock_page page = sound;
	struct etw_clock_page clock = {.page = &page};

	(void)state;
	for (int i = 0; i < 1000; i++) {
		int64_t before = (int64_t)etw_cpu_counter();
		int64_t now = etw_clock_now(&clock, ETW_CLOCK_QPC);
		int64_t after;

		etw_cpu_counter_fence();
		after = (int64_t)etw_cpu_counter();
		assert_in_range(now - page.offset, before, after);
		page.offset = i % 2 ? -(INT64_C(1) << 40) : INT64_C(1) << 50;
	}
}

static void test_clock__qpc_without_a_counter_is_monotonic_raw(void **state)
{
	struct wire_clock_page page = sound;
	struct etw_clock_page clock = {.page = &page};

	(void)state;
	page.kind = WIRE_CLOCK_MONOTONIC_RAW;
	page.offset = 12345;
	for (int i = 0; i < 1000; i++) {
		int64_t before = raw_ns();
		int64_t now = etw_clock_now(&clock, ETW_CLOCK_QPC);

		assert_in_range(now - 12345, before, raw_ns());
	}
}

static void test_clock__the_slow_way_reads_the_same_qpc(void **state)
{
	struct wire_clock_page page = sound;
	struct etw_clock_page clock = {.page = &page};
	int64_t before = etw_clock_now(&clock, ETW_CLOCK_QPC);
	int64_t now = etw_clock_now_slow(&page, ETW_CLOCK_QPC);

	(void)state;
	assert_in_range(now, before, etw_clock_now(&clock, ETW_CLOCK_QPC));
}

static void test_clock__system_is_filetime(void **state)
{
	struct etw_clock_page clock = {.page = &sound};
	int64_t before = filetime_now();
	int64_t now = etw_clock_now(&clock, ETW_CLOCK_SYSTEM);

	(void)state;
	assert_in_range(now, before, filetime_now());
}

static void test_clock__cycle_is_the_counter_whatever_the_page_says(void **state)
{
	struct wire_clock_page page = sound;
	struct etw_clock_page clock = {.page = &page};
	uint64_t before, now;

	(void)state;
	page.kind = WIRE_CLOCK_MONOTONIC_RAW;
	page.offset = INT64_MIN;
	before = etw_cpu_counter();
	now = (uint64_t)etw_clock_now(&clock, ETW_CLOCK_CYCLE);
	etw_cpu_counter_fence();
	assert_in_range(now, before, etw_cpu_counter());
}

static void test_clock__an_offset_of_any_size_is_added(void **state)
{
	struct wire_clock_page page = sound;

	(void)state;
	page.kind = WIRE_CLOCK_MONOTONIC_RAW;
	page.offset = INT64_MAX; /* undefined behaviour in a signed addition */
	assert_true(etw_clock_now_slow(&page, ETW_CLOCK_QPC) < 0);
}

static int make_page(const struct wire_clock_page *page, off_t bytes)
{
	int fd = memfd_create("clock", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, page, sizeof(*page), 0), sizeof(*page));
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	return fd;
}

static void test_clock__a_page_is_mapped_and_followed(void **state)
{
	struct etw_clock_page clock = {0};
	int64_t offset = -77;
	int fd = make_page(&sound, WIRE_CLOCK_PAGE_BYTES);

	(void)state;
	assert_int_equal(etw_clock_page_map(fd, &clock), 0);
	assert_int_equal(clock.page->frequency, sound.frequency);
	assert_int_equal(
		pwrite(fd, &offset, sizeof(offset), offsetof(struct wire_clock_page, offset)),
		sizeof(offset));
	assert_int_equal(load_relaxed(&clock.page->offset), offset);
	(void)close(fd);
	etw_clock_page_unmap(&clock);
	assert_null(clock.page);
	etw_clock_page_unmap(&clock);
}

static void expect_refusal(const struct wire_clock_page *page, off_t bytes)
{
	struct etw_clock_page clock = {0};
	int fd = make_page(page, bytes);

	assert_int_equal(etw_clock_page_map(fd, &clock), -EPROTO);
	assert_null(clock.page);
	(void)close(fd);
}

static void test_clock__pages_that_are_not_sound_are_refused(void **state)
{
	struct wire_clock_page page = sound;

	(void)state;
	expect_refusal(&page, WIRE_CLOCK_PAGE_BYTES - 1);
	page.magic ^= 1;
	expect_refusal(&page, WIRE_CLOCK_PAGE_BYTES);
	page = sound;
	page.version = 2;
	expect_refusal(&page, WIRE_CLOCK_PAGE_BYTES);
	page = sound;
	page.kind = 3;
	expect_refusal(&page, WIRE_CLOCK_PAGE_BYTES);
	page = sound;
	page.frequency = 0;
	expect_refusal(&page, WIRE_CLOCK_PAGE_BYTES);
}

static void test_clock__errors_of_the_system_come_through(void **state)
{
	struct etw_clock_page clock = {0};
	int ends[2];

	(void)state;
	assert_int_equal(etw_clock_page_map(-1, &clock), -EBADF);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(etw_clock_page_map(ends[0], &clock), -EPROTO);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock__qpc_is_the_counter_and_the_offset),
		cmocka_unit_test(test_clock__qpc_without_a_counter_is_monotonic_raw),
		cmocka_unit_test(test_clock__the_slow_way_reads_the_same_qpc),
		cmocka_unit_test(test_clock__system_is_filetime),
		cmocka_unit_test(test_clock__cycle_is_the_counter_whatever_the_page_says),
		cmocka_unit_test(test_clock__an_offset_of_any_size_is_added),
		cmocka_unit_test(test_clock__a_page_is_mapped_and_followed),
		cmocka_unit_test(test_clock__pages_that_are_not_sound_are_refused),
		cmocka_unit_test(test_clock__errors_of_the_system_come_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
