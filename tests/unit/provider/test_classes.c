/* SPDX-License-Identifier: MIT */
/* The handles of classes: what they name, which are none, how many there are, and the instances of several threads. */
#include "provider/classes.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PROVIDER       71
#define OTHER_PROVIDER 72
#define THREADS        4
#define PER_THREAD     20000

static const GUID first_guid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID second_guid = {21, 22, 23, {24, 25, 26, 27, 28, 29, 30, 31}};

static uint64_t open_class(const GUID *guid, uint64_t provider)
{
	uint64_t handle = 0;

	assert_int_equal(etw_class_open(guid, provider, &handle), 0);
	assert_true(handle != 0);
	return handle;
}

static void test_classes__have_their_own_guid_and_instances(void **state)
{
	const uint64_t first = open_class(&first_guid, PROVIDER);
	const uint64_t second = open_class(&second_guid, PROVIDER);
	uint32_t instance;
	GUID guid;

	(void)state;
	assert_true(first != second);
	assert_int_equal(etw_class_guid(first, &guid), 0);
	assert_memory_equal(&guid, &first_guid, sizeof(guid));
	assert_int_equal(etw_class_guid(second, &guid), 0);
	assert_memory_equal(&guid, &second_guid, sizeof(guid));
	for (uint32_t i = 1; i < 4; i++) {
		assert_int_equal(etw_class_next_instance(first, &instance), 0);
		assert_int_equal(instance, i);
	}
	assert_int_equal(etw_class_next_instance(second, &instance), 0);
	assert_int_equal(instance, 1);
	etw_class_close_all(PROVIDER);
}

static void check_none(uint64_t handle)
{
	GUID guid = first_guid;
	uint32_t instance = 4711;

	assert_int_equal(etw_class_guid(handle, &guid), -EBADF);
	assert_int_equal(etw_class_next_instance(handle, &instance), -EBADF);
	assert_int_equal(instance, 4711);
	assert_memory_equal(&guid, &first_guid, sizeof(guid));
}

static void test_classes__of_wrong_handles(void **state)
{
	const uint64_t handle = open_class(&first_guid, PROVIDER);

	(void)state;
	check_none(0);
	check_none(UINT64_MAX);
	check_none(handle + 1);                   /* another index */
	check_none(handle | ETW_CLASSES_MAX);     /* one that there is not */
	check_none(handle + (UINT64_C(1) << 16)); /* other generations */
	check_none(handle + (UINT64_C(2) << 16));
	for (unsigned bit = 0; bit < 64; bit++)
		check_none(handle ^ UINT64_C(1) << bit);
	etw_class_close_all(PROVIDER);
	check_none(handle);
}

static void test_classes__end_with_their_provider(void **state)
{
	const uint64_t own = open_class(&first_guid, PROVIDER);
	const uint64_t other = open_class(&second_guid, OTHER_PROVIDER);
	uint64_t again;
	uint32_t instance;
	GUID guid;

	(void)state;
	assert_int_equal(etw_class_next_instance(own, &instance), 0);
	etw_class_close_all(PROVIDER);
	check_none(own);
	assert_int_equal(etw_class_guid(other, &guid), 0);
	/* In the same place: another handle, and instances from the beginning. */
	again = open_class(&second_guid, PROVIDER);
	assert_int_equal(again & (ETW_CLASSES_MAX - 1), own & (ETW_CLASSES_MAX - 1));
	assert_true(again != own);
	check_none(own);
	assert_int_equal(etw_class_next_instance(again, &instance), 0);
	assert_int_equal(instance, 1);
	etw_class_close_all(PROVIDER);
	etw_class_close_all(OTHER_PROVIDER);
}

static void test_classes__are_limited(void **state)
{
	uint64_t handle = 0, none = 4711;

	(void)state;
	for (unsigned i = 1; i < ETW_CLASSES_MAX; i++)
		handle = open_class(&first_guid, PROVIDER);
	assert_int_equal(etw_class_open(&first_guid, PROVIDER, &none), -ENOMEM);
	assert_int_equal(none, 4711);
	etw_class_close_all(PROVIDER);
	check_none(handle);
	(void)open_class(&first_guid, PROVIDER);
	etw_class_close_all(PROVIDER);
}

struct counting {
	uint64_t handle;
	uint8_t *seen; /* by instance */
};

static void *count_instances(void *argument)
{
	const struct counting *counting = argument;

	for (unsigned i = 0; i < PER_THREAD; i++) {
		uint32_t instance = 0;

		if (etw_class_next_instance(counting->handle, &instance) < 0 || instance == 0 ||
		    instance > THREADS * PER_THREAD)
			return (void *)counting;
		__atomic_add_fetch(&counting->seen[instance - 1], 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void test_classes__give_each_instance_once(void **state)
{
	struct counting counting = {.handle = open_class(&first_guid, PROVIDER),
				    .seen = calloc(THREADS, PER_THREAD)};
	pthread_t threads[THREADS];

	(void)state;
	assert_non_null(counting.seen);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_instances, &counting), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		void *failed = NULL;

		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	for (unsigned i = 0; i < THREADS * PER_THREAD; i++)
		assert_int_equal(counting.seen[i], 1);
	free(counting.seen);
	etw_class_close_all(PROVIDER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes__have_their_own_guid_and_instances),
		cmocka_unit_test(test_classes__of_wrong_handles),
		cmocka_unit_test(test_classes__end_with_their_provider),
		cmocka_unit_test(test_classes__are_limited),
		cmocka_unit_test(test_classes__give_each_instance_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
