/* SPDX-License-Identifier: MIT */
/* Registrations by number, with those gone that were there. */
#include "daemon/registered.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT 1000

static struct etwd_registered registered;
static char registrations[COUNT + 1];

static struct etwd_registration *registration_of(uint64_t serial)
{
	return (struct etwd_registration *)(void *)&registrations[serial];
}

static int tear_down(void **state)
{
	(void)state;
	etwd_registered_done(&registered);
	return 0;
}

static void add_all(void)
{
	for (uint64_t serial = 1; serial <= COUNT; serial++)
		assert_int_equal(etwd_registered_add(&registered, serial, registration_of(serial)),
				 0);
}

static void test_registered__numbers_are_found(void **state)
{
	(void)state;
	assert_int_equal(etwd_registered_before(&registered, 1), 0);
	add_all();
	assert_int_equal(etwd_registered_before(&registered, 0), 0);
	assert_int_equal(etwd_registered_before(&registered, 1), 0);
	assert_int_equal(etwd_registered_before(&registered, 500), 499);
	assert_int_equal(etwd_registered_before(&registered, COUNT), COUNT - 1);
	assert_int_equal(etwd_registered_before(&registered, UINT64_MAX), COUNT);
}

/* Each that is left, once, in order; and no more places than twice as many. */
static void expect_left(uint64_t step)
{
	uint64_t wanted = step;

	for (size_t i = 0; i < registered.count; i++) {
		if (!registered.places[i].registration)
			continue;
		assert_int_equal(registered.places[i].serial, wanted);
		assert_ptr_equal(registered.places[i].registration, registration_of(wanted));
		wanted += step;
	}
	assert_true(wanted > COUNT);
	assert_true(registered.count <= 2 * (COUNT / step) + 1);
}

static void test_registered__those_that_are_gone_leave_no_holes_for_long(void **state)
{
	(void)state;
	add_all();
	for (uint64_t serial = 1; serial <= COUNT; serial++) {
		if (serial % 5)
			etwd_registered_remove(&registered, serial);
	}
	expect_left(5);
	/* Where the next part begins need not be there. */
	for (uint64_t serial = 1; serial <= COUNT; serial++) {
		const size_t before = etwd_registered_before(&registered, serial);

		if (before > 0)
			assert_true(registered.places[before - 1].serial < serial);
		if (before < registered.count)
			assert_true(registered.places[before].serial >= serial);
	}
	for (uint64_t serial = 5; serial <= COUNT; serial += 5)
		etwd_registered_remove(&registered, serial);
	assert_int_equal(registered.count, 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_registered__numbers_are_found),
		TEST(test_registered__those_that_are_gone_leave_no_holes_for_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
