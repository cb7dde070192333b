/* SPDX-License-Identifier: MIT */
/* Counters of a made-up process, and of this one. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_procfs.h"
#include "source/kernel/procfs/counters.h"
#include "source/kernel/procfs/procfs.h"

#define START 500

static char root[] = "/tmp/etw-counters-XXXXXX";
static int root_fd;

static int set_up(void **state)
{
	(void)state;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	fake_begin(root);
	fake_process(root, 20, "S", START);
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(root_fd >= 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(root_fd);
	fake_end(root);
	return 0;
}

static void test_counters__are_those_of_the_files(void **state)
{
	uint64_t kib_of_page = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	struct etw_kernel_counters counters;

	(void)state;
	fake_text(
		root, "20/status",
		"Name:\tVmSize: 1 kB\nVmPeak:\t   6400 kB\nVmSize:\t   3200 kB\nVmHWM:\t  1600 kB\n"
		"VmRSS:\t 960 kB\nRssAnon:\t 640 kB\nVmData:\t 320 kB\nVmStk:\t 64 kB\nVmSwap:\t "
		"128 kB\n");
	fake_text(root, "20/stat",
		  "20 (a) b) S) S 1 1 1 0 -1 0 7 100 3 200 5 6 7 8 20 0 1 0 500 1 1 1\n");
	assert_int_equal(etw_kernel_counters_read(root_fd, 20, START, &counters), 0);
	assert_int_equal(counters.peak_virtual_pages, 6400 / kib_of_page);
	assert_int_equal(counters.virtual_pages, 3200 / kib_of_page);
	assert_int_equal(counters.peak_resident_pages, 1600 / kib_of_page);
	assert_int_equal(counters.resident_pages, 960 / kib_of_page);
	assert_int_equal(counters.private_pages, (640 + 128) / kib_of_page);
	assert_int_equal(counters.writable_pages, (320 + 64) / kib_of_page);
	assert_int_equal(counters.fault_count, 10);
	assert_int_equal(counters.file_count, 0);
	assert_int_equal(counters.is_known, 1);
}

static void test_counters__of_a_kernel_thread_are_0(void **state)
{
	struct etw_kernel_counters counters;

	(void)state;
	fake_text(root, "20/status", "Name:\tkthreadd\n");
	assert_int_equal(etw_kernel_counters_read(root_fd, 20, START, &counters), 0);
	assert_int_equal(counters.peak_virtual_pages + counters.resident_pages, 0);
}

static void test_counters__of_whoever_has_the_id_now_are_none(void **state)
{
	struct etw_kernel_counters counters;

	(void)state;
	assert_int_equal(etw_kernel_counters_read(root_fd, 20, START + 1, &counters), -ESRCH);
	assert_int_equal(etw_kernel_counters_read(root_fd, 21, START, &counters), -ESRCH);
}

static void test_counters__of_damaged_files_are_none(void **state)
{
	struct etw_kernel_counters counters;

	(void)state;
	fake_text(root, "20/stat", "20 (x) S 1 1 1 0 -1");
	assert_int_equal(etw_kernel_counters_read(root_fd, 20, START, &counters), -EBADMSG);
	fake_text(root, "20/stat", "20 x");
	assert_int_equal(etw_kernel_counters_read(root_fd, 20, START, &counters), -EBADMSG);
	fake_text(root, "20/stat", "");
	assert_int_equal(etw_kernel_counters_read(root_fd, 20, START, &counters), -ESRCH);
}

static void test_counters__of_this_process(void **state)
{
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int self_fd = openat(proc_fd, "self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct etw_kernel_proc_task task;
	struct etw_kernel_counters counters;

	(void)state;
	assert_int_equal(etw_kernel_proc_read_task(self_fd, &task), 0);
	assert_int_equal(
		etw_kernel_counters_read(proc_fd, (uint32_t)getpid(), task.start_ticks, &counters),
		0);
	assert_true(counters.fault_count > 0);
	/* Standard input and output may be closed; the three folders are open. */
	assert_true(counters.file_count >= 3);
	assert_true(counters.virtual_pages >= counters.private_pages);
	assert_true(counters.peak_virtual_pages >= counters.virtual_pages);
	close(self_fd);
	close(proc_fd);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_counters__are_those_of_the_files),
		TEST(test_counters__of_a_kernel_thread_are_0),
		TEST(test_counters__of_whoever_has_the_id_now_are_none),
		TEST(test_counters__of_damaged_files_are_none),
		TEST(test_counters__of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
