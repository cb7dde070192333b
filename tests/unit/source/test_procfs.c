/* SPDX-License-Identifier: MIT */
/* Reading processes from a folder that looks like /proc. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_procfs.h"
#include "source/kernel/procfs/procfs.h"

static char root[] = "/tmp/etw-procfs-XXXXXX";
static int root_fd = -1;

static int set_up(void **state)
{
	(void)state;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	fake_begin(root);
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return root_fd < 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(root_fd);
	fake_end(root);
	return 0;
}

#define STAT(id, name, state, flags, start)                                             \
	id " (" name ") " state " 7 8 9 0 -1 " flags " 1 2 3 4 5 6 7 8 20 0 1 0 " start \
	   " 1000000 200 184467 1 1 0 0\n"

static int take_id(void *context, uint32_t id)
{
	uint32_t *ids = context;

	ids[++ids[0]] = id;
	return id == 13 ? -ECANCELED : 0;
}

static void test_procfs__lists_numbers_alone(void **state)
{
	uint32_t ids[16] = {0};

	(void)state;
	fake_text(root, "12/stat", "");
	fake_text(root, "self/stat", "");
	fake_text(root, "12x/stat", "");
	fake_text(root, "99999999999/stat", "");
	fake_text(root, "0/stat", "");
	assert_int_equal(etw_kernel_proc_list(root_fd, ".", take_id, ids), 0);
	assert_int_equal(ids[0], 1);
	assert_int_equal(ids[1], 12);
	fake_text(root, "13/stat", "");
	assert_int_equal(etw_kernel_proc_list(root_fd, ".", take_id, ids), -ECANCELED);
	assert_int_equal(etw_kernel_proc_list(root_fd, "missing", take_id, ids), -ENOENT);
}

static void test_procfs__a_process(void **state)
{
	static const char arguments[] = "sh\0-c\0a b";
	struct etw_kernel_proc_process process;
	int fd;

	(void)state;
	fake_text(root, "12/stat", STAT("12", "a) (b", "S", "4194304", "5555"));
	fake_text(root, "12/status",
		  "Name:\ta\nTgid:\t12\nUid:\t1000\t1001\t1002\t1003\nGid:\t5\t5\t5\t5\n");
	fake_text(root, "12/sessionid", "4");
	fake_file(root, "12/cmdline", arguments, sizeof(arguments));
	fake_link(root, "12/exe", "/usr/bin/sh");
	fd = etw_kernel_proc_open(root_fd, 12);
	assert_true(fd >= 0);
	assert_int_equal(etw_kernel_proc_read(fd, &process), 0);
	assert_int_equal(process.task.tid, 12);
	assert_string_equal(process.task.name, "a) (b");
	assert_int_equal(process.task.parent_pid, 7);
	assert_int_equal(process.task.start_ticks, 5555);
	assert_false(process.task.is_kernel);
	assert_false(process.task.is_exiting);
	assert_false(process.task.is_dead);
	assert_int_equal(process.uid, 1001);
	assert_int_equal(process.session_id, 4);
	assert_int_equal(process.argument_bytes, sizeof(arguments));
	assert_memory_equal(process.arguments, arguments, sizeof(arguments));
	assert_string_equal(process.file, "/usr/bin/sh");
	close(fd);
}

static void test_procfs__a_kernel_thread_a_zombie_and_one_that_exits(void **state)
{
	struct etw_kernel_proc_process process;
	struct etw_kernel_proc_task task;
	int fd;

	(void)state;
	fake_text(root, "2/stat", STAT("2", "kthreadd", "S", "2129984", "3"));
	fake_text(root, "2/status", "Name:\tkthreadd\nUid:\t0\t0\t0\t0\n");
	fake_text(root, "2/cmdline", "");
	fd = etw_kernel_proc_open(root_fd, 2);
	assert_int_equal(etw_kernel_proc_read(fd, &process), 0);
	assert_true(process.task.is_kernel);
	assert_int_equal(process.argument_bytes, 0);
	assert_int_equal(process.session_id, UINT32_MAX);
	assert_string_equal(process.file, "");
	close(fd);
	fake_text(root, "3/stat", STAT("3", "gone", "Z", "0", "3"));
	fd = etw_kernel_proc_open(root_fd, 3);
	assert_int_equal(etw_kernel_proc_read_task(fd, &task), 0);
	assert_true(task.is_dead);
	close(fd);
	fake_text(root, "4/stat", STAT("4", "going", "R", "4194308", "3"));
	fd = etw_kernel_proc_open(root_fd, 4);
	assert_int_equal(etw_kernel_proc_read_task(fd, &task), 0);
	assert_true(task.is_exiting);
	assert_false(task.is_dead);
	close(fd);
}

static void test_procfs__who_is_gone_is_gone(void **state)
{
	struct etw_kernel_proc_process process;
	struct etw_kernel_proc_task task;
	int fd;

	(void)state;
	assert_int_equal(etw_kernel_proc_open(root_fd, 77), -ENOENT);
	fake_text(root, "12/task/keep", "");
	fd = etw_kernel_proc_open(root_fd, 12);
	assert_int_equal(etw_kernel_proc_read_task(fd, &task), -ESRCH);
	fake_text(root, "12/stat", STAT("12", "a", "S", "0", "1"));
	assert_int_equal(etw_kernel_proc_read(fd, &process), -ESRCH); /* no status */
	assert_int_equal(etw_kernel_proc_read_maps(fd, NULL, NULL), -ENOENT);
	close(fd);
}

static void test_procfs__nonsense_is_refused(void **state)
{
	static const char *const texts[] = {"no",
					    "12 (a",
					    "12 )a( S 1 2",
					    "12 (a)",
					    "12 (a) S 1 2 3",
					    "(a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19",
					    "12 (a) S x"};
	struct etw_kernel_proc_task task;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fake_text(root, "12/stat", texts[i]);
		fd = etw_kernel_proc_open(root_fd, 12);
		assert_int_equal(etw_kernel_proc_read_task(fd, &task), -EBADMSG);
		close(fd);
	}
	{
		struct etw_kernel_proc_process process;

		fake_text(root, "12/stat", STAT("12", "a", "S", "0", "1"));
		fake_text(root, "12/status", "Name:\ta\n");
		fd = etw_kernel_proc_open(root_fd, 12);
		assert_int_equal(etw_kernel_proc_read(fd, &process), -EBADMSG);
		close(fd);
	}
}

static int note_mapping(void *context, const struct etw_kernel_proc_mapping *mapping)
{
	char *text = context;
	size_t at = strlen(text);

	snprintf(text + at, 1000 - at, "%llx-%llx+%llx %c %llu %s;",
		 (unsigned long long)mapping->start, (unsigned long long)mapping->end,
		 (unsigned long long)mapping->file_offset, mapping->is_executable ? 'x' : '-',
		 (unsigned long long)mapping->inode, mapping->path);
	return strstr(mapping->path, "stop") ? -ECANCELED : 0;
}

static void test_procfs__what_the_program_was_given(void **state)
{
	static const uint64_t wide[] = {33, 0x7FFF00000000, 9, 0x401000, 0, 0};
	static const uint32_t narrow[] = {32, 0xF7000000, 9, 0x8048000, 0, 0};
	struct etw_kernel_proc_process process;
	int fd;

	(void)state;
	fake_process(root, 71, "S", 500);
	fd = etw_kernel_proc_open(root_fd, 71);
	assert_int_equal(etw_kernel_proc_read(fd, &process), 0);
	assert_int_equal(process.entry, 0);
	assert_false(process.is_32_bit);
	fake_file(root, "71/auxv", wide, sizeof(wide));
	assert_int_equal(etw_kernel_proc_read(fd, &process), 0);
	assert_int_equal(process.entry, 0x401000);
	assert_false(process.is_32_bit);
	fake_file(root, "71/auxv", narrow, sizeof(narrow));
	assert_int_equal(etw_kernel_proc_read(fd, &process), 0);
	assert_int_equal(process.entry, 0);
	assert_true(process.is_32_bit);
	close(fd);
}

static void test_procfs__scheduling_of_a_task(void **state)
{
	struct etw_kernel_proc_task task;
	int fd;

	(void)state;
	fake_text(root, "72/stat",
		  "72 (x) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 -5 1 0 500 1 1 1 1 1 140737488 0 0 0 "
		  "0 0 0 0 0 0 17 0 50 1 0\n");
	fd = etw_kernel_proc_open(root_fd, 72);
	assert_int_equal(etw_kernel_proc_read_task(fd, &task), 0);
	assert_int_equal(task.nice, -5);
	assert_int_equal(task.user_stack, 140737488);
	assert_int_equal(task.realtime_priority, 50);
	assert_int_equal(task.policy, 1);
	close(fd);
}

static void test_procfs__mappings_of_files(void **state)
{
	char found[1000] = "";
	int fd;

	(void)state;
	fake_text(root, "12/maps",
		  "00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/a b\n"
		  "7f00-8f00 rw-p 00000000 00:00 0 \n"
		  "9000-a000 r--p 0003f000 08:02 5 /lib/x.so (deleted)\n"
		  "ffff-1ffff r-xp 00000000 00:00 0                  [vdso]\n"
		  "garbage\n"
		  "b000-a000 r--p 00000000 08:02 5 /backwards\n"
		  "c000-d000 r--p 00000000 08:02 5 /stop\n"
		  "d000-e000 r--p 00000000 08:02 5 /never\n");
	fd = etw_kernel_proc_open(root_fd, 12);
	assert_int_equal(etw_kernel_proc_read_maps(fd, note_mapping, found), -ECANCELED);
	assert_string_equal(found, "400000-452000+1000 x 173521 /usr/bin/a b;"
				   "9000-a000+3f000 - 5 /lib/x.so (deleted);"
				   "ffff-1ffff+0 x 0 [vdso];"
				   "c000-d000+0 - 5 /stop;");
	close(fd);
}

static void test_procfs__this_process(void **state)
{
	struct etw_kernel_proc_process process;
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

	(void)state;
	fd = etw_kernel_proc_open(proc_fd, (uint32_t)getpid());
	assert_int_equal(etw_kernel_proc_read(fd, &process), 0);
	assert_int_equal(process.task.parent_pid, (uint32_t)getppid());
	assert_int_equal(process.uid, geteuid());
	assert_non_null(strstr(process.file, "test_procfs"));
	close(fd);
	close(proc_fd);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_procfs__lists_numbers_alone),
		TEST(test_procfs__a_process),
		TEST(test_procfs__a_kernel_thread_a_zombie_and_one_that_exits),
		TEST(test_procfs__who_is_gone_is_gone),
		TEST(test_procfs__nonsense_is_refused),
		TEST(test_procfs__what_the_program_was_given),
		TEST(test_procfs__scheduling_of_a_task),
		TEST(test_procfs__mappings_of_files),
		TEST(test_procfs__this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
