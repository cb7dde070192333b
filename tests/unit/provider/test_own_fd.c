/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "provider/own_fd.h"

static int make_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	return fd;
}

static void test_own_fd__is_closed_once(void **state)
{
	struct etw_own_fd own = etw_own_fd_take(make_socket());
	int number = own.number;

	(void)state;
	assert_true(etw_own_fd_is_there(&own));
	etw_own_fd_close(&own);
	assert_int_equal(own.number, -1);
	assert_int_equal(fcntl(number, F_GETFD), -1);
	etw_own_fd_close(&own);
	assert_false(etw_own_fd_is_there(&own));
}

static void test_own_fd__a_number_that_means_another_file_is_left_alone(void **state)
{
	struct etw_own_fd own = etw_own_fd_take(make_socket());
	int number = own.number, other = make_socket();

	(void)state;
	assert_int_equal(dup2(other, number), number);
	assert_false(etw_own_fd_is_there(&own));
	etw_own_fd_close(&own);
	assert_int_equal(own.number, -1);
	assert_true(fcntl(number, F_GETFD) >= 0);
	(void)close(number);
	(void)close(other);
}

static void test_own_fd__no_descriptor_is_none(void **state)
{
	struct etw_own_fd own = etw_own_fd_take(-1);

	(void)state;
	assert_false(etw_own_fd_is_there(&own));
	etw_own_fd_close(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_fd__is_closed_once),
		cmocka_unit_test(test_own_fd__a_number_that_means_another_file_is_left_alone),
		cmocka_unit_test(test_own_fd__no_descriptor_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
