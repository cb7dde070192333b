/* SPDX-License-Identifier: MIT */
/* Files that root opens where other users have a part in the path. */
#include "base/root_path.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define STRANGER 12345
#define FLAGS    (O_RDWR | O_CREAT)

static char folder[64];

static const char *in_folder(const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/etw-root-path-XXXXXX");
	if (!mkdtemp(folder) || mkdir(in_folder("real"), 0755))
		return -1;
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static void assert_opens(const char *name, const char *real)
{
	struct stat opened, expected;
	int fd = etw_root_path_open(in_folder(name), FLAGS, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(stat(in_folder(real), &expected), 0);
	assert_int_equal(opened.st_ino, expected.st_ino);
	(void)close(fd);
}

static int fail_to_open(const char *name)
{
	int fd = etw_root_path_open(in_folder(name), FLAGS, 0600);

	assert_true(fd < 0);
	return fd;
}

static void test_root_path__without_links(void **state)
{
	(void)state;
	assert_opens("new", "new");
	assert_opens("new", "new");
	assert_opens("real//new", "real/new");
	assert_opens("real/../new", "new");
	assert_int_equal(fail_to_open("none/new"), -ENOENT);
	assert_int_equal(fail_to_open("new/new"), -ENOTDIR);
	assert_int_equal(fail_to_open("real/"), -EISDIR);
	assert_int_equal(fail_to_open("real"), -EISDIR);
}

static void test_root_path__own_links(void **state)
{
	(void)state;
	assert_int_equal(symlink("real", in_folder("folder")), 0);
	assert_int_equal(symlink("folder/file", in_folder("file")), 0);
	assert_int_equal(symlink(in_folder("file"), in_folder("absolute")), 0);
	assert_int_equal(symlink("loop", in_folder("loop")), 0);
	assert_opens("absolute", "real/file");
	assert_opens("folder/file", "real/file");
	assert_int_equal(fail_to_open("loop"), -ELOOP);
	assert_int_equal(fail_to_open("loop/file"), -ELOOP);
}

/* Another user's folder, and one that others may write to. */
static void test_root_path__links_of_others(void **state)
{
	int result;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdir(in_folder("theirs"), 0755), 0);
	assert_int_equal(symlink("../real", in_folder("theirs/folder")), 0);
	assert_int_equal(symlink("../real/file", in_folder("theirs/file")), 0);
	assert_opens("theirs/file", "real/file");
	assert_int_equal(chown(in_folder("theirs"), STRANGER, STRANGER), 0);
	assert_int_equal(fail_to_open("theirs/file"), -ELOOP);
	assert_int_equal(fail_to_open("theirs/folder/file"), -ELOOP);
	assert_opens("theirs/new", "theirs/new"); /* no link */
	assert_int_equal(chown(in_folder("theirs"), 0, 0), 0);
	assert_int_equal(chmod(in_folder("theirs"), 0777), 0);
	assert_int_equal(fail_to_open("theirs/file"), -ELOOP);
	/* Sticky: a link is its owner's. */
	assert_int_equal(chmod(in_folder("theirs"), 01777), 0);
	assert_opens("theirs/file", "real/file");
	assert_int_equal(lchown(in_folder("theirs/file"), STRANGER, STRANGER), 0);
	/* The kernel refuses some of these itself (fs.protected_symlinks). */
	result = fail_to_open("theirs/file");
	assert_true(result == -ELOOP || result == -EACCES);
}

/* They lead to what a process has open, which is not for whoever names a file. */
static void test_root_path__links_of_proc(void **state)
{
	char path[64];
	int fd = open(in_folder("kept"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	(void)state;
	assert_true(fd >= 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(etw_root_path_open(path, FLAGS, 0600), -ELOOP);
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	assert_int_equal(etw_root_path_open(path, FLAGS, 0600), -ELOOP);
	assert_int_equal(symlink(path, in_folder("descriptor")), 0);
	assert_int_equal(fail_to_open("descriptor"), -ELOOP);
	(void)close(fd);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_root_path__without_links),
		CASE(test_root_path__own_links),
		CASE(test_root_path__links_of_others),
		CASE(test_root_path__links_of_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
