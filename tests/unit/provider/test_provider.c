/* SPDX-License-Identifier: MIT */
/* Registering and unregistering, callbacks, traits. */
#include "provider_test.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <evntrace.h>

#define PAUSE_US 20000

/* What a callback was told, and what it is to do. */
struct told {
	uint32_t calls; /* atomic, like is_inside */
	uint32_t is_inside;
	uint32_t code;
	uint8_t level;
	uint64_t match_any, match_all;
	uint32_t has_filter;
	bool is_slow;
	bool is_unregistering;
	bool is_registering;
	REGHANDLE handle, second;
	uint32_t results[2];
};

static void on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG match_any,
		      ULONGLONG match_all, PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct told *told = context;

	(void)source;
	store_release(&told->is_inside, 1u);
	told->code = code;
	told->level = level;
	told->match_any = match_any;
	told->match_all = match_all;
	told->has_filter = filter != NULL;
	if (told->is_slow)
		(void)usleep(PAUSE_US);
	if (told->is_registering) {
		told->is_registering = false;
		told->results[0] = (uint32_t)etw_provider_register(&test_activity, NULL, NULL,
								   &told->second);
	}
	if (told->is_unregistering)
		told->results[1] = (uint32_t)etw_provider_unregister(told->handle);
	(void)add_acq_rel(&told->calls, 1u);
	store_release(&told->is_inside, 0u);
}

static struct fake_session session;

static int begin(void **state)
{
	(void)state;
	open_session(&session, 1, 4, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	end_session(&session);
	return 0;
}

static void enable(uint8_t level)
{
	const struct fake_wish wish = {.level = level, .match_any = 6, .match_all = 2};

	assert_int_equal(fake_host_enable(&host, &test_provider, &session, wish), 0);
}

static void await_call(const struct told *told)
{
	for (int i = 0; i < FAKE_WAIT_MS && !load_acquire(&told->calls); i++)
		(void)usleep(1000);
}

static void test_provider__registers_as_already_enabled(void **state)
{
	struct told told = {0};
	uint64_t start_ms;

	(void)state;
	enable(4);
	start_ms = etw_monotonic_ms();
	assert_int_equal(etw_provider_register(&test_provider, on_enable, &told, &told.handle), 0);
	/* It was all done before the return, unless the machine took longer than registering waits. */
	if (etw_monotonic_ms() - start_ms >= REGISTER_WAIT_MS)
		await_call(&told);
	assert_int_equal(load_acquire(&told.calls), 1);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(told.level, 4);
	assert_int_equal(told.match_any, 6);
	assert_int_equal(told.match_all, 2);
	assert_false(told.has_filter);
	assert_true(etw_provider_wants(told.handle, 4, 2));
	assert_int_equal(etw_provider_unregister(told.handle), 0);
}

static void test_provider__callbacks_follow_the_controller(void **state)
{
	struct told told = {0};

	(void)state;
	register_into(on_enable, &told, &told.handle);
	assert_int_equal(told.calls, 0);
	enable(3);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.level, 3);
	assert_int_equal(fake_host_capture(&host, &test_provider), 0);
	assert_int_equal(told.calls, 2);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_CAPTURE_STATE);
	assert_int_equal(fake_host_disable(&host, &test_provider, &session), 0);
	assert_int_equal(told.calls, 3);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_int_equal(etw_provider_unregister(told.handle), 0);
	enable(3);
	assert_int_equal(told.calls, 3);
}

static void *enable_beside(void *unused)
{
	enable(5);
	return unused;
}

static void test_provider__unregister_waits_for_the_callback(void **state)
{
	struct told told = {.is_slow = true};
	pthread_t thread;

	(void)state;
	register_into(on_enable, &told, &told.handle);
	assert_int_equal(pthread_create(&thread, NULL, enable_beside, NULL), 0);
	while (!load_acquire(&told.is_inside) && !load_acquire(&told.calls))
		(void)usleep(100);
	assert_int_equal(etw_provider_unregister(told.handle), 0);
	assert_int_equal(load_acquire(&told.is_inside), 0);
	assert_int_equal(load_acquire(&told.calls), 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_provider__a_callback_may_unregister_itself_and_register_others(void **state)
{
	struct told told = {.is_unregistering = true, .is_registering = true};

	(void)state;
	register_into(on_enable, &told, &told.handle);
	enable(5);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.results[0], 0);
	assert_int_equal(told.results[1], 0);
	assert_int_equal(etw_provider_unregister(told.handle), -EBADF);
	assert_int_equal(etw_provider_gate(told.second), 0);
	assert_int_equal(etw_provider_unregister(told.second), 0);
}

static void test_provider__handles_are_checked(void **state)
{
	const uint64_t handle = register_provider(NULL, NULL);
	const uint64_t other = register_provider(NULL, NULL);

	(void)state;
	assert_int_not_equal(handle, other);
	assert_int_equal(etw_provider_check_handle(handle), 0);
	assert_int_equal(etw_provider_unregister(handle), 0);
	assert_int_equal(etw_provider_unregister(handle), -EBADF);
	assert_int_equal(etw_provider_unregister(0), -EBADF);
	assert_int_equal(etw_provider_unregister(UINT64_MAX), -EBADF);
	assert_int_equal(etw_provider_check_handle(handle), -EBADF);
	assert_int_equal(etw_provider_set_typed(handle, true), -EBADF);
	assert_int_equal(etw_provider_set_traits(handle, (const uint8_t *)"\3\0", 3), -EBADF);
	assert_int_equal(etw_provider_unregister(other), 0);
}

static void test_provider__as_many_as_there_is_room_for(void **state)
{
	static REGHANDLE handles[ETW_REGISTRATIONS_MAX];
	REGHANDLE one_more;
	unsigned count = 0;
	int r;

	(void)state;
	/* Far more than the host of the tests takes, or a socket's queue holds. */
	while ((r = etw_provider_register(&test_activity, NULL, NULL, &handles[count])) == 0)
		count++;
	assert_int_equal(r, -ENOMEM);
	assert_int_equal(count, ETW_REGISTRATION_INDEX_MAX);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(etw_provider_unregister(handles[i]), 0);
	assert_int_equal(etw_provider_register(&test_provider, NULL, NULL, &one_more), 0);
	assert_int_equal(etw_provider_unregister(one_more), 0);
}

static void test_provider__generations_wrap(void **state)
{
	REGHANDLE first = register_provider(NULL, NULL);
	struct etw_registration *registration = etw_handle_registration(first);
	REGHANDLE second;

	(void)state;
	assert_int_equal(etw_provider_unregister(first), 0);
	store_release(&registration->gate, (ETW_GATE_GENERATION_MAX - 1)
						   << ETW_GATE_GENERATION_SHIFT);
	for (int i = 0; i < 4; i++) {
		second = register_provider(NULL, NULL);
		assert_int_equal(etw_handle_line(second), etw_handle_line(first));
		assert_true(second > UINT32_MAX);
		assert_int_equal(etw_provider_gate(second), 0);
		assert_int_equal(etw_provider_unregister(second), 0);
		assert_int_equal(etw_provider_gate(second), -EBADF);
	}
}

static void test_provider__traits_are_checked(void **state)
{
	static const uint8_t plain[] = {4, 0, 'P', 0};
	static const uint8_t with_trait[] = {8, 0, 'P', 0, 4, 0, 9, 1};
	static const uint8_t wrong_size[] = {5, 0, 'P', 0};
	static const uint8_t no_end[] = {4, 0, 'P', 'P'};
	static const uint8_t small_trait[] = {7, 0, 'P', 0, 2, 0, 9};
	static const uint8_t long_trait[] = {8, 0, 'P', 0, 5, 0, 9, 1};
	static uint8_t huge[WIRE_TRAITS_BYTES_MAX + 1];
	const uint64_t handle = register_provider(NULL, NULL);

	(void)state;
	assert_int_equal(etw_provider_set_traits(handle, wrong_size, sizeof(wrong_size)), -EINVAL);
	assert_int_equal(etw_provider_set_traits(handle, no_end, sizeof(no_end)), -EINVAL);
	assert_int_equal(etw_provider_set_traits(handle, small_trait, sizeof(small_trait)),
			 -EINVAL);
	assert_int_equal(etw_provider_set_traits(handle, long_trait, sizeof(long_trait)), -EINVAL);
	assert_int_equal(etw_provider_set_traits(handle, plain, 1), -EINVAL);
	assert_int_equal(etw_provider_set_traits(handle, plain, 0), -EINVAL);
	etw_store16(huge, (uint16_t)sizeof(huge));
	assert_int_equal(etw_provider_set_traits(handle, huge, sizeof(huge)), -EINVAL);
	/* Once, as a page of Microsoft's says; another registration has its own. */
	assert_int_equal(etw_provider_set_traits(handle, with_trait, sizeof(with_trait)), 0);
	assert_int_equal(etw_provider_set_traits(handle, with_trait, sizeof(with_trait)), -EEXIST);
	assert_int_equal(etw_provider_set_traits(handle, plain, sizeof(plain)), -EEXIST);
	assert_int_equal(etw_provider_unregister(handle), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_provider__registers_as_already_enabled, begin,
						end),
		cmocka_unit_test_setup_teardown(test_provider__callbacks_follow_the_controller,
						begin, end),
		cmocka_unit_test_setup_teardown(test_provider__unregister_waits_for_the_callback,
						begin, end),
		cmocka_unit_test_setup_teardown(
			test_provider__a_callback_may_unregister_itself_and_register_others, begin,
			end),
		cmocka_unit_test(test_provider__handles_are_checked),
		cmocka_unit_test(test_provider__generations_wrap),
		cmocka_unit_test(test_provider__traits_are_checked),
		cmocka_unit_test(test_provider__as_many_as_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
