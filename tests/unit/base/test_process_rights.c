/* SPDX-License-Identifier: MIT */
#include "base/process_rights.h"

#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY 65534

enum answer {
	PLAIN = 10,
	NOT_PLAIN = 11,
	UNABLE = 12
};

/* What a child that has taken up other ids says of itself. */
static int ask(int (*become)(void))
{
	const pid_t child = fork();
	int status = -1;

	assert_true(child >= 0);
	if (child == 0) {
		if (become() < 0)
			_exit(UNABLE);
		_exit(etw_process_is_plain() ? PLAIN : NOT_PLAIN);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

static int become_nobody(void)
{
	return setresgid(NOBODY, NOBODY, NOBODY) < 0 ? -1 : setresuid(NOBODY, NOBODY, NOBODY);
}

/* As a server that does something for a user, and is root again afterwards. */
static int become_nobody_for_now(void)
{
	return setresgid(NOBODY, NOBODY, NOBODY) < 0 ? -1 : setresuid(NOBODY, NOBODY, 0);
}

static int become_root_for_nobody(void)
{
	return setresuid(NOBODY, 0, 0);
}

static int keep_a_group(void)
{
	return setresgid(NOBODY, NOBODY, 0) < 0 ? -1 : setresuid(NOBODY, NOBODY, NOBODY);
}

static int keep_capabilities(void)
{
	return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 ? -1 : become_nobody();
}

static void test_process_rights__of_a_user(void **state)
{
	int answer;

	(void)state;
	need_root();
	answer = ask(become_nobody);
	if (answer == UNABLE)
		skip();
	assert_int_equal(answer, PLAIN);
}

static void test_process_rights__of_more_than_a_user(void **state)
{
	(void)state;
	need_root();
	assert_false(etw_process_is_plain());
	if (ask(become_nobody) == UNABLE) /* root of a container may have no right to */
		skip();
	assert_int_equal(ask(become_nobody_for_now), NOT_PLAIN);
	assert_int_equal(ask(become_root_for_nobody), NOT_PLAIN);
	assert_int_equal(ask(keep_a_group), NOT_PLAIN);
	assert_int_equal(ask(keep_capabilities), NOT_PLAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process_rights__of_a_user),
		cmocka_unit_test(test_process_rights__of_more_than_a_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
