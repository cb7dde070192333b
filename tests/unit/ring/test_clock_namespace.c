/* SPDX-License-Identifier: MIT */
/* Processes in time namespaces, live: what procfs tells of them, and that they all read one clock. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time_namespace.h"
#include "ring/clock.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define AHEAD_NS  INT64_C(100000000000005) /* 100,000 s and 5 ns */
#define BEHIND_NS (-INT64_C(999999995))    /* -1 s and 5 ns */
#define CANNOT    77

static struct etw_clock_page clock_page;

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		_exit(2);
	(void)close(fd);
}

/* The next children are in a new namespace with such offsets. Of a user who is not root in a user namespace, too. */
static void unshare_time(const char *offsets)
{
	if (unshare(CLONE_NEWTIME) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWTIME) < 0)
		_exit(CANNOT);
	put("/proc/self/timens_offsets", offsets);
}

static void require(bool holds, int code)
{
	if (!holds)
		_exit(code);
}

static int64_t now(void)
{
	return etw_clock_now(&clock_page, ETW_CLOCK_QPC);
}

/* What a child makes of the clock must be between its parent's readings: @told is what it read. */
static void run_child(int64_t *told, void (*child)(int64_t *told))
{
	pid_t pid = fork();
	int status;

	require(pid >= 0, 3);
	if (pid == 0) {
		child(told);
		_exit(0);
	}
	require(waitpid(pid, &status, 0) == pid, 4);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 5);
}

static void read_behind(int64_t *told)
{
	struct etw_time_namespace found;

	require(etw_time_namespace_read(&found) == 0, 20);
	require(found.monotonic_ns == BEHIND_NS && found.boottime_ns == 0, 21);
	etw_clock_find_namespace();
	*told = now();
}

static void read_ahead(int64_t *told)
{
	struct etw_time_namespace found;
	int64_t raw = (int64_t)etw_time_read_ns(CLOCK_MONOTONIC_RAW), grandchild;

	/* As it was inherited: the child's clock is ahead, and nobody has looked yet. */
	require(now() >= raw, 10);
	require(etw_time_namespace_read(&found) == 0, 11);
	require(found.monotonic_ns == AHEAD_NS && found.boottime_ns == 7000000000, 12);
	etw_clock_find_namespace();
	*told = grandchild = now();
	require(raw - *told > AHEAD_NS / 2, 13);
	/* It stays in its namespace, and procfs tells of its children's: what was found holds. */
	unshare_time("monotonic -1 5\nboottime 0 0\n");
	require(etw_time_namespace_read(&found) == -EAGAIN, 14);
	etw_clock_find_namespace();
	require(now() >= grandchild && now() - grandchild < AHEAD_NS / 2, 15);
	run_child(told, read_behind);
	require(*told >= grandchild && *told <= now(), 16);
}

static void run_all(int64_t *told)
{
	struct etw_time_namespace found;
	int64_t before;

	unshare_time("monotonic 100000 5\nboottime 7 0\n");
	require(etw_time_namespace_read(&found) == 0, 6);
	require(found.monotonic_ns == 0 && found.boottime_ns == 0, 7);
	etw_clock_find_namespace();
	before = now();
	run_child(told, read_ahead);
	require(*told >= before && *told <= now(), 8);
}

static void test_clock_namespace__all_read_one_clock(void **state)
{
	static const struct wire_clock_page page = {
		.magic = WIRE_CLOCK_PAGE_MAGIC,
		.version = 1,
		.kind = WIRE_CLOCK_MONOTONIC_RAW,
		.frequency = ETW_NS_PER_S,
	};
	struct etw_time_namespace found;
	int64_t *told;
	pid_t pid;
	int status, r = etw_time_namespace_read(&found);

	(void)state;
	if (r < 0 || found.monotonic_ns || found.boottime_ns) {
		print_message("SKIP: the test does not run in the initial time namespace\n");
		skip();
	}
	clock_page.page = &page;
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(told != MAP_FAILED);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		run_all(told);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT) {
		print_message("SKIP: time namespaces cannot be made here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	munmap(told, sizeof(*told));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_namespace__all_read_one_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
