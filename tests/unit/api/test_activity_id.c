/* SPDX-License-Identifier: MIT */
/* EventActivityIdControl: five control codes, one id per thread, ids that never repeat. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntprov.h>
#include <winerror.h>

static const GUID one = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID none;

static int is_same(const GUID *left, const GUID *right)
{
	return memcmp(left, right, sizeof(*left)) == 0;
}

static void set_current(const GUID *id)
{
	GUID copy = *id;

	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &copy), ERROR_SUCCESS);
}

static GUID current(void)
{
	GUID id;

	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &id), ERROR_SUCCESS);
	return id;
}

static GUID create(void)
{
	GUID id;

	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &id), ERROR_SUCCESS);
	return id;
}

static void test_activity_id__get_gives_what_set_took(void **state)
{
	GUID id;

	(void)state;
	set_current(&one);
	id = current();
	assert_true(is_same(&id, &one));
}

static void test_activity_id__create_leaves_the_thread_alone(void **state)
{
	GUID made;
	GUID id;

	(void)state;
	set_current(&one);
	made = create();
	id = current();
	assert_true(is_same(&id, &one));
	assert_false(is_same(&made, &none));
	assert_false(is_same(&made, &one));
}

static void test_activity_id__get_set_swaps(void **state)
{
	GUID id = {9, 9, 9, {9}};
	const GUID wanted = id;
	GUID now;

	(void)state;
	set_current(&one);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &id),
			 ERROR_SUCCESS);
	assert_true(is_same(&id, &one));
	now = current();
	assert_true(is_same(&now, &wanted));
}

static void test_activity_id__create_set_returns_the_previous(void **state)
{
	GUID id = none;
	GUID now;

	(void)state;
	set_current(&one);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_SET_ID, &id),
			 ERROR_SUCCESS);
	assert_true(is_same(&id, &one));
	now = current();
	assert_false(is_same(&now, &one));
	assert_false(is_same(&now, &none));
}

static void test_activity_id__bad_arguments(void **state)
{
	GUID id = one;

	(void)state;
	assert_int_equal(EventActivityIdControl(0, &id), ERROR_INVALID_PARAMETER);
	assert_int_equal(EventActivityIdControl(6, &id), ERROR_INVALID_PARAMETER);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, NULL),
			 ERROR_INVALID_PARAMETER);
	assert_true(is_same(&id, &one));
}

static void *store_current(void *ret)
{
	GUID id;

	(void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &id);
	*(GUID *)ret = id;
	return NULL;
}

static void test_activity_id__a_new_thread_has_none(void **state)
{
	pthread_t thread;
	GUID seen = one;

	(void)state;
	set_current(&one);
	assert_int_equal(pthread_create(&thread, NULL, store_current, &seen), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(is_same(&seen, &none));
}

static void test_activity_id__ids_differ(void **state)
{
	GUID last = create();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		GUID next = create();

		assert_false(is_same(&next, &last));
		last = next;
	}
}

static void test_activity_id__a_forked_child_makes_other_ids(void **state)
{
	int ends[2];
	GUID mine;
	GUID theirs = none;
	pid_t child;

	(void)state;
	(void)create();
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		GUID id = none;

		(void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &id);
		_exit(write(ends[1], &id, sizeof(id)) != sizeof(id));
	}
	mine = create();
	assert_int_equal(read(ends[0], &theirs, sizeof(theirs)), sizeof(theirs));
	assert_int_equal(waitpid(child, NULL, 0), child);
	(void)close(ends[0]);
	(void)close(ends[1]);
	assert_false(is_same(&mine, &theirs));
	assert_memory_not_equal(mine.Data4, theirs.Data4, sizeof(mine.Data4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_activity_id__get_gives_what_set_took),
		cmocka_unit_test(test_activity_id__create_leaves_the_thread_alone),
		cmocka_unit_test(test_activity_id__get_set_swaps),
		cmocka_unit_test(test_activity_id__create_set_returns_the_previous),
		cmocka_unit_test(test_activity_id__bad_arguments),
		cmocka_unit_test(test_activity_id__a_new_thread_has_none),
		cmocka_unit_test(test_activity_id__ids_differ),
		cmocka_unit_test(test_activity_id__a_forked_child_makes_other_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
