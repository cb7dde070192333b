/* SPDX-License-Identifier: MIT */
#include "daemon/keeper_table.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/log.h"

static void keep(struct etwd_keeper_table *table, const char *name, int fd)
{
	char room[ETWD_KEPT_NAME_BYTES] = "";

	snprintf(room, sizeof(room), "%s", name);
	assert_int_equal(etwd_keeper_table_keep(table, room, fd), 0);
}

static int new_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void assert_closed(int fd)
{
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void test_keeper_table__one_of_a_name(void **state)
{
	struct etwd_keeper_table table;
	int first = new_fd(), second = new_fd();

	(void)state;
	assert_int_equal(etwd_keeper_table_init(&table), 0);
	keep(&table, "a", first);
	keep(&table, "a", second);
	assert_int_equal(table.count, 1);
	assert_closed(first);
	etwd_keeper_table_forget(&table, "b");
	assert_int_equal(table.count, 1);
	etwd_keeper_table_done(&table);
	assert_closed(second);
}

static void test_keeper_table__all_that_begin_so(void **state)
{
	struct etwd_keeper_table table;

	(void)state;
	assert_int_equal(etwd_keeper_table_init(&table), 0);
	keep(&table, "session/1/state", new_fd());
	keep(&table, "session/1/file", new_fd());
	keep(&table, "session/12/file", new_fd());
	keep(&table, "session/1", new_fd());
	etwd_keeper_table_forget(&table, "session/1/");
	assert_int_equal(table.count, 2);
	etwd_keeper_table_forget(&table, "session/1");
	assert_int_equal(table.count, 1);
	assert_string_equal(table.entries[0].name, "session/12/file");
	etwd_keeper_table_forget(&table, "");
	assert_int_equal(table.count, 1);
	etwd_keeper_table_done(&table);
}

static void test_keeper_table__a_full_one_closes(void **state)
{
	struct etwd_keeper_table table;
	char name[16];
	int fd = new_fd();

	(void)state;
	assert_int_equal(etwd_keeper_table_init(&table), 0);
	for (int i = 0; i < ETWD_KEPT_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		keep(&table, name, 1 << 20); /* no descriptor: closing it does nothing */
	}
	assert_int_equal(etwd_keeper_table_keep(&table, "one more", fd), -ENOSPC);
	assert_int_equal(table.count, ETWD_KEPT_MAX);
	assert_closed(fd);
	etwd_keeper_table_done(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeper_table__one_of_a_name),
		cmocka_unit_test(test_keeper_table__all_that_begin_so),
		cmocka_unit_test(test_keeper_table__a_full_one_closes),
	};

	(void)etwd_log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
