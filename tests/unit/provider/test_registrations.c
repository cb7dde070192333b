/* SPDX-License-Identifier: MIT */
/* The array of registrations by itself: no host, no listener. Registering as a program does: test_provider.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "provider/lock.h"
#include "provider/registrations.h"

static const GUID some_provider = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

static int take_lock(void **state)
{
	(void)state;
	etw_provider_lock();
	return 0;
}

static int leave_lock(void **state)
{
	(void)state;
	etw_provider_unlock();
	return 0;
}

static struct etw_registration *open_one(void)
{
	struct etw_registration *registration = etw_registration_open(&some_provider, NULL, NULL);

	assert_non_null(registration);
	return registration;
}

static void test_registrations__a_handle_leads_to_its_registration(void **state)
{
	struct etw_registration *first = open_one(), *second = open_one();
	const uint64_t handle = etw_registration_handle(first);
	const uint64_t other = etw_registration_handle(second);

	(void)state;
	assert_int_not_equal(handle, other);
	assert_ptr_equal(etw_handle_registration(handle), first);
	assert_ptr_equal(etw_registration_of_handle(other), second);
	assert_memory_equal(first->provider, &some_provider, sizeof(some_provider));
	assert_int_equal(etw_provider_gate(handle), 0);
	assert_true(etw_provider_is_closed(handle));
	/* Neither a line in the middle of a registration nor one behind the array is a handle. */
	assert_int_equal(etw_provider_gate(handle + 1), -EBADF);
	assert_null(etw_handle_registration(handle + 1));
	assert_null(etw_handle_registration((handle | UINT32_MAX)));
	assert_false(etw_provider_is_closed(handle | UINT32_MAX));
	etw_registration_close(first);
	etw_registration_close(second);
}

static void test_registrations__a_closed_one_is_not_found(void **state)
{
	struct etw_registration *registration = open_one();
	const uint64_t handle = etw_registration_handle(registration);
	const uint32_t number = etw_registration_number(registration);
	struct etw_registration *again;

	(void)state;
	assert_int_not_equal(number, 0);
	assert_ptr_equal(etw_registration_find(number), registration);
	etw_registration_close(registration);
	assert_null(etw_registration_find(number));
	assert_null(etw_registration_of_handle(handle));
	assert_int_equal(etw_provider_gate(handle), -EBADF);
	assert_false(etw_provider_is_closed(handle));
	/* The place is taken again, under another handle and number. */
	again = open_one();
	assert_ptr_equal(again, registration);
	assert_null(etw_registration_of_handle(handle));
	assert_null(etw_registration_find(number));
	assert_true(again < etw_registration_end());
	etw_registration_close(again);
}

static void test_registrations__an_enabled_gate_is_not_closed(void **state)
{
	struct etw_registration *registration = open_one();
	const uint64_t handle = etw_registration_handle(registration);
	const uint64_t gate = load_relaxed(&registration->gate);

	(void)state;
	store_release(&registration->gate, gate | UINT64_C(1) << ETW_GATE_SLOTS_SHIFT);
	assert_int_equal(etw_provider_gate(handle), 1);
	assert_false(etw_provider_is_closed(handle));
	/* Closing takes the slots along. */
	etw_registration_close(registration);
	assert_int_equal(load_relaxed(&registration->gate) & ETW_GATE_SLOTS_MASK, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registrations__a_handle_leads_to_its_registration),
		cmocka_unit_test(test_registrations__a_closed_one_is_not_found),
		cmocka_unit_test(test_registrations__an_enabled_gate_is_not_closed),
	};

	return cmocka_run_group_tests(tests, take_lock, leave_lock);
}
