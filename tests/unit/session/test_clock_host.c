/* SPDX-License-Identifier: MIT */
/* The choice of the clock from made-up /sys and /proc, and the page: who may do what with it. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/clock_host.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define SEALS       (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

#if defined(__x86_64__)
#define COUNTER "tsc"
#else
#define COUNTER "arch_sys_counter"
#endif

static char root[64];

static int setup(void **state)
{
	char command[256];

	(void)state;
	strcpy(root, "/tmp/etw-test-clock-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	(void)snprintf(command, sizeof(command),
		       "mkdir -p '%s/proc' '%s/sys/devices/system/clocksource/clocksource0'", root,
		       root);
	return system(command);
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static struct etw_clock_evidence gather(void)
{
	struct etw_clock_evidence evidence;

	etw_clock_evidence_gather(root, &evidence);
	return evidence;
}

static void test_clock_host__the_kernels_clocksource(void **state)
{
	(void)state;
	assert_false(gather().is_clocksource);
	put(CLOCKSOURCE, "");
	assert_false(gather().is_clocksource);
	put(CLOCKSOURCE, "hpet\n");
	assert_false(gather().is_clocksource);
	put(CLOCKSOURCE, COUNTER "-early\n");
	assert_false(gather().is_clocksource);
	put(CLOCKSOURCE, COUNTER "\n");
	assert_true(gather().is_clocksource);
}

static void test_clock_host__the_processors_flags(void **state)
{
	(void)state;
#if defined(__x86_64__)
	assert_false(gather().is_constant);
	put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc x\n");
	assert_false(gather().is_constant);
	put("/proc/cpuinfo", "flags\t\t: fpu constant_tsc_not nonstop_tsc\n");
	assert_false(gather().is_constant);
	put("/proc/cpuinfo", "vmx flags\t: constant_tsc nonstop_tsc\nflags\t\t: fpu\n");
	assert_false(gather().is_constant);
	put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu constant_tsc rep_good nonstop_tsc\n");
	assert_true(gather().is_constant);
#else
	assert_true(gather().is_constant);
#endif
}

static void test_clock_host__what_is_enough_for_the_counter(void **state)
{
	static const struct {
		struct etw_clock_evidence evidence;
		bool wanted;
	} rows[] = {
		{{false, false, false, 0}, false},       {{true, false, false, 0}, true},
		{{false, true, false, 0}, false},        {{false, false, true, 2600000000}, false},
		{{false, true, true, 2600000000}, true}, {{true, true, true, 2600000000}, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(etw_clock_evidence_is_counter(&rows[i].evidence), rows[i].wanted);
}

/* On the machine at hand, whatever it is: the two ways to the frequency must agree. */
static void test_clock_host__the_measured_frequency(void **state)
{
	struct etw_clock_evidence evidence;
	uint64_t measured = etw_clock_measure();

	(void)state;
	assert_true(measured > 1000000 && measured < UINT64_C(20000000000));
	etw_clock_evidence_gather("", &evidence);
	if (evidence.frequency) {
		assert_true(measured > evidence.frequency - evidence.frequency / 1000);
		assert_true(measured < evidence.frequency + evidence.frequency / 1000);
	}
}

static void test_clock_host__the_page_of_a_counter(void **state)
{
	struct etw_clock_evidence evidence = {true, true, true, 2600000000};
	struct etw_clock_host host;
	int64_t before, now, after;

	(void)state;
	assert_int_equal(etw_clock_host_make(&evidence, &host), 0);
	assert_int_equal(host.clock.page->kind, WIRE_CLOCK_TSC);
	assert_int_equal(host.clock.page->frequency, 2600000000);
	assert_int_equal(host.clock.page->changes, 0);
	assert_int_equal(host.clock.page->offset, 0);
	assert_int_equal(fcntl(host.fd, F_GETFD), FD_CLOEXEC);
	before = (int64_t)etw_cpu_counter();
	now = etw_clock_host_counter(&host);
	after = etw_clock_host_counter(&host);
	assert_true(before <= now && now <= after);
	etw_clock_host_done(&host);
	assert_int_equal(host.fd, -1);
	etw_clock_host_done(&host);
}

static void test_clock_host__a_counter_of_unknown_frequency_is_measured(void **state)
{
	struct etw_clock_evidence evidence = {true, false, false, 0};
	struct etw_clock_host host;

	(void)state;
	assert_int_equal(etw_clock_host_make(&evidence, &host), 0);
	assert_int_equal(host.clock.page->kind, WIRE_CLOCK_TSC);
	assert_true(host.clock.page->frequency > 1000000);
	etw_clock_host_done(&host);
}

static void test_clock_host__the_page_without_a_counter(void **state)
{
	struct etw_clock_evidence evidence = {false, true, false, 2600000000};
	struct etw_clock_host host;
	struct timespec raw;
	int64_t now;

	(void)state;
	assert_int_equal(etw_clock_host_make(&evidence, &host), 0);
	assert_int_equal(host.clock.page->kind, WIRE_CLOCK_MONOTONIC_RAW);
	assert_int_equal(host.clock.page->frequency, 1000000000);
	now = etw_clock_host_counter(&host);
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC_RAW, &raw), 0);
	assert_true(now > 0 && now <= raw.tv_sec * INT64_C(1000000000) + raw.tv_nsec);
	etw_clock_host_done(&host);
}

static void test_clock_host__nobody_else_can_write_or_resize_it(void **state)
{
	struct etw_clock_host host;
	struct etw_clock_page mapped;
	char path[64];
	int again;

	(void)state;
	assert_int_equal(etw_clock_host_make(NULL, &host), 0);
	assert_int_equal(fcntl(host.fd, F_GET_SEALS), SEALS);
	assert_ptr_equal(
		mmap(NULL, WIRE_CLOCK_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, host.fd, 0),
		MAP_FAILED);
	assert_int_equal(errno, EPERM);
	assert_int_equal(pwrite(host.fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(host.fd, 0), -1);
	assert_int_equal(ftruncate(host.fd, 8192), -1);
	/* Nor by a way around the descriptor. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", host.fd);
	again = open(path, O_RDWR | O_CLOEXEC);
	if (again >= 0) {
		assert_int_equal(pwrite(again, "x", 1, 0), -1);
		(void)close(again);
	}
	assert_int_equal(etw_clock_page_map(host.fd, &mapped), 0);
	assert_int_equal(mprotect((void *)(uintptr_t)mapped.page, WIRE_CLOCK_PAGE_BYTES,
				  PROT_READ | PROT_WRITE),
			 -1);
	etw_clock_page_unmap(&mapped);
	etw_clock_host_done(&host);
}

static void test_clock_host__the_next_host_adopts_it(void **state)
{
	struct etw_clock_evidence evidence = {true, true, true, 123456789};
	struct etw_clock_host first, second;
	int64_t before;

	(void)state;
	assert_int_equal(etw_clock_host_make(&evidence, &first), 0);
	before = etw_clock_host_counter(&first);
	assert_int_equal(etw_clock_host_adopt(dup(first.fd), &second), 0);
	etw_clock_host_done(&first);
	assert_int_equal(second.clock.page->frequency, 123456789);
	assert_true(etw_clock_host_counter(&second) >= before);
	etw_clock_host_done(&second);
}

static void assert_refused(int fd, int wanted)
{
	struct etw_clock_host host = {.fd = -7};

	assert_int_equal(etw_clock_host_adopt(fd, &host), wanted);
	assert_int_equal(host.fd, -7);
	assert_int_equal(fcntl(fd, F_GETFD), -1); /* taken all the same */
}

static int make_memfd(size_t bytes, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void test_clock_host__what_is_no_clock_page_is_eproto(void **state)
{
	(void)state;
	assert_refused(make_memfd(WIRE_CLOCK_PAGE_BYTES, SEALS), -EPROTO); /* zeros */
	assert_refused(make_memfd(16, SEALS), -EPROTO);
	assert_refused(make_memfd(WIRE_CLOCK_PAGE_BYTES, F_SEAL_SHRINK | F_SEAL_GROW), -EPROTO);
	assert_refused(open("/dev/null", O_RDWR | O_CLOEXEC), -EPROTO);
	assert_refused(-1, -EBADF);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_clock_host__the_kernels_clocksource),
		CASE(test_clock_host__the_processors_flags),
		CASE(test_clock_host__what_is_enough_for_the_counter),
		CASE(test_clock_host__the_measured_frequency),
		CASE(test_clock_host__the_page_of_a_counter),
		CASE(test_clock_host__a_counter_of_unknown_frequency_is_measured),
		CASE(test_clock_host__the_page_without_a_counter),
		CASE(test_clock_host__nobody_else_can_write_or_resize_it),
		CASE(test_clock_host__the_next_host_adopts_it),
		CASE(test_clock_host__what_is_no_clock_page_is_eproto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
