/* SPDX-License-Identifier: MIT */
#include "daemon/parked.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT_MS 120000

/* Their last references go, and not by this process' closing them one by one as they come. */
static void test_parked__a_child_gets_them(void **state)
{
	struct etwd_parked parked = {0};
	int readers[ETWD_PARKED_MAX + 1];
	uint8_t byte;

	(void)state;
	for (int i = 0; i <= ETWD_PARKED_MAX; i++) {
		int ends[2];

		assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
		readers[i] = ends[0];
		if (i == ETWD_PARKED_MAX) /* up to here all of them are open */
			assert_int_equal(read(readers[0], &byte, 1), -1);
		assert_int_equal(etwd_park(&parked, ends[1]), 0);
	}
	assert_int_equal(parked.count, 1);
	for (int i = 0; i < ETWD_PARKED_MAX; i++) {
		struct pollfd wait = {readers[i], POLLIN, 0};

		assert_int_equal(poll(&wait, 1, WAIT_MS), 1);
		assert_int_equal(read(readers[i], &byte, 1), 0);
		close(readers[i]);
	}
	assert_int_equal(read(readers[ETWD_PARKED_MAX], &byte, 1), -1);
	close(readers[ETWD_PARKED_MAX]);
	close(parked.fds[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parked__a_child_gets_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
