/* SPDX-License-Identifier: MIT */
/* Which process a controller may have recorded alone. */
#include "daemon/only_pid.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int check(const struct etwd_peer *peer, uint32_t pid)
{
	const struct wire_kernel_request request = {.parts = WIRE_KERNEL_PARTS, .only_pid = pid};

	return etwd_only_pid_check(peer, &request);
}

/* A child that waits, and one of its own, which it tells. */
static pid_t make_children(int *ret_gate, pid_t *ret_grandchild)
{
	int gate[2], told[2];
	pid_t child;

	assert_int_equal(pipe(gate), 0);
	assert_int_equal(pipe(told), 0);
	child = fork();
	if (!child) {
		pid_t own;
		char byte;

		close(gate[1]);
		own = fork();
		if (own)
			(void)!write(told[1], &own, sizeof(own));
		(void)!read(gate[0], &byte, 1);
		_exit(0);
	}
	assert_int_equal(read(told[0], ret_grandchild, sizeof(*ret_grandchild)),
			 sizeof(*ret_grandchild));
	close(gate[0]);
	close(told[0]);
	close(told[1]);
	*ret_gate = gate[1];
	return child;
}

static void test_only_pid__descendants(void **state)
{
	struct etwd_peer *peer = calloc(1, sizeof(*peer));
	const struct wire_kernel_request unnamed = {.only_pid = 1};
	pid_t grandchild = 0, child;
	int gate;

	(void)state;
	peer->who.pid = getpid();
	child = make_children(&gate, &grandchild);
	assert_int_equal(check(peer, 0), 0);
	assert_int_equal(etwd_only_pid_check(peer, &unnamed), 0);
	assert_int_equal(check(peer, (uint32_t)getpid()), 0);
	assert_int_equal(check(peer, (uint32_t)child), 0);
	assert_int_equal(check(peer, (uint32_t)grandchild), 0);
	assert_int_equal(check(peer, 1), -EACCES);
	peer->is_trusted = true;
	assert_int_equal(check(peer, 1), 0);
	close(gate);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(check(peer, UINT32_MAX), -ESRCH);
	assert_int_equal(check(peer, INT_MAX), -ESRCH);
	/* A peer that has ended cannot say whom it means. */
	peer->who.pid = INT_MAX;
	assert_int_equal(check(peer, 1), -ESRCH);
	free(peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_pid__descendants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
