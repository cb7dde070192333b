/* SPDX-License-Identifier: MIT */
/* Which sessions classic providers write to: found by number, as long as one of them is enabled there. */
#include "provider/loggers.h"

#include <errno.h>

#include "classic_test.h"

#define SESSION_ID 0x30005 /* handles hold the lower half */
#define LOGGER_ID  5

static const GUID second_provider = {
	0x11223344, 0x5566, 0x7788, {0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0x12}};

static struct fake_session session, other_session;

static void test_loggers__are_found_while_enabled(void **state)
{
	TRACEHANDLE handle;

	(void)state;
	open_session(&session, SESSION_ID, 2, 0);
	assert_null(etw_loggers_find(LOGGER_ID));
	handle = register_classic(&classic_provider);
	assert_null(etw_loggers_find(LOGGER_ID));
	enable_provider(&classic_provider, &session);
	assert_non_null(etw_loggers_find(LOGGER_ID));
	assert_int_equal(etw_loggers_find(LOGGER_ID)->set.session_id, SESSION_ID);
	assert_null(etw_loggers_find(LOGGER_ID + 1));
	assert_null(etw_loggers_find(SESSION_ID)); /* which no handle holds */
	disable_provider(&classic_provider, &session);
	assert_null(etw_loggers_find(LOGGER_ID));
	enable_provider(&classic_provider, &session);
	assert_non_null(etw_loggers_find(LOGGER_ID));
	assert_int_equal(etw_provider_unregister_classic(handle), 0);
	assert_null(etw_loggers_find(LOGGER_ID));
	assert_int_equal(etw_provider_unregister_classic(handle), -EBADF);
	disable_provider(&classic_provider, &session);
	retire_session(&session);
}

/* Two providers in one session: it stays until the last one is out. */
static void test_loggers__keep_their_place(void **state)
{
	const struct etw_ring_mapping *ring, *other;
	TRACEHANDLE first, second;

	(void)state;
	open_session(&session, SESSION_ID, 2, 0);
	open_session(&other_session, SESSION_ID + 1, 2, 0);
	first = register_classic(&classic_provider);
	second = register_classic(&second_provider);
	enable_provider(&classic_provider, &session);
	ring = etw_loggers_find(LOGGER_ID);
	enable_provider(&second_provider, &session);
	assert_ptr_equal(etw_loggers_find(LOGGER_ID), ring);
	enable_provider(&second_provider, &other_session);
	other = etw_loggers_find(LOGGER_ID + 1);
	assert_non_null(other);
	assert_ptr_not_equal(other, ring);
	disable_provider(&classic_provider, &session);
	assert_ptr_equal(etw_loggers_find(LOGGER_ID), ring);
	assert_int_equal(etw_provider_unregister_classic(first), 0);
	assert_ptr_equal(etw_loggers_find(LOGGER_ID), ring);
	disable_provider(&second_provider, &session);
	assert_null(etw_loggers_find(LOGGER_ID));
	assert_ptr_equal(etw_loggers_find(LOGGER_ID + 1), other);
	assert_int_equal(etw_provider_unregister_classic(second), 0);
	assert_null(etw_loggers_find(LOGGER_ID + 1));
	disable_provider(&second_provider, &other_session);
	retire_session(&other_session);
	retire_session(&session);
}

/* A session that only providers of EventRegister() are enabled in is none. */
static void test_loggers__are_of_classic_providers(void **state)
{
	uint64_t handle;

	(void)state;
	open_session(&session, SESSION_ID, 2, 0);
	handle = register_provider(NULL, NULL);
	enable_provider(&test_provider, &session);
	assert_int_equal(write_number(handle, 1, 0, 0), 0);
	assert_null(etw_loggers_find(LOGGER_ID));
	assert_int_equal(etw_provider_unregister_classic(handle), -EBADF);
	assert_int_equal(etw_provider_unregister(handle), 0);
	disable_provider(&test_provider, &session);
	retire_session(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loggers__are_found_while_enabled),
		cmocka_unit_test(test_loggers__keep_their_place),
		cmocka_unit_test(test_loggers__are_of_classic_providers),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
