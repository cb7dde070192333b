/* SPDX-License-Identifier: MIT */
/* What a host is asked for, and what its answers mean; leases. The host is made up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "unit/control/control_test.h"

static void test_control__every_request_has_its_answer(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();

	(void)state;
	assert_int_equal(start_session(controller), 0);
	assert_int_equal(info.handle, HANDLE);
	assert_string_equal(info.config.name, "one");
	assert_int_equal(control_session(controller, WIRE_CONTROL_QUERY), 0);
	assert_int_equal(host.control.handle, HANDLE);
	assert_int_equal(enable_provider(controller), 0);
	assert_int_equal(host.enable.level, 5);
	assert_int_equal(etw_control_list(controller, &sessions), 0);
	assert_int_equal(sessions.count, 2);
	assert_int_equal(sessions.handles[1], HANDLE + 1);
	assert_int_equal(control_session(controller, WIRE_CONTROL_STOP), 0);
	assert_int_equal(load_relaxed(&host.connections), 1);
}

static void assert_status(struct etw_controller *controller, int status)
{
	host.status = status;
	assert_int_equal(start_session(controller), status);
	assert_int_equal(control_session(controller, WIRE_CONTROL_STOP), status);
	assert_int_equal(enable_provider(controller), status);
	assert_int_equal(etw_control_list(controller, &sessions), status);
}

static void test_control__the_hosts_errors_come_through(void **state)
{
	static const int errors[] = {-EEXIST, -EINVAL, -ENOSPC, -EACCES,
				     -ENOENT, -EBUSY,  -EROFS,  -ETIMEDOUT};
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		store_relaxed(&host.manner, ANSWER_STATUS);
		assert_status(controller, errors[i]);
		store_relaxed(&host.manner, ANSWER_REPLY_STATUS);
		assert_status(controller, errors[i]);
	}
	assert_int_equal(load_relaxed(&host.connections), 1);
}

static void test_control__answers_of_another_kind_are_eproto(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();

	(void)state;
	store_relaxed(&host.manner, ANSWER_OTHER_TYPE);
	assert_status(controller, -EPROTO);
	store_relaxed(&host.manner, ANSWER_OTHER_TYPE_STATUS);
	assert_status(controller, -EPROTO);
	store_relaxed(&host.manner, ANSWER_CUT);
	assert_int_equal(start_session(controller), -EPROTO);
	assert_int_equal(etw_control_list(controller, &sessions), -EPROTO);
	store_relaxed(&host.manner, ANSWER_GARBAGE);
	assert_int_equal(start_session(controller), -EPROTO);
	store_relaxed(&host.manner, ANSWER); /* over a new connection */
	assert_int_equal(start_session(controller), 0);
}

static void test_control__what_cannot_be_encoded_is_einval(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();
	static uint8_t many[WIRE_FILTER_BYTES_MAX + 1];
	struct wire_enable_provider enable = {.filters = {many, sizeof(many)}};
	static struct wire_session_config config = {.name = "\xFF"};

	(void)state;
	assert_int_equal(etw_control_enable(controller, &enable), -EINVAL);
	assert_int_equal(etw_control_start(controller, &config, &info), -EINVAL);
	assert_int_equal(start_session(controller), 0);
}

static void test_control__a_start_is_not_repeated(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();

	(void)state;
	store_relaxed(&host.hang_ups, 1);
	assert_int_equal(start_session(controller), -EPIPE);
	assert_int_equal(load_relaxed(&host.requests[WIRE_START]), 1);
	assert_int_equal(start_session(controller), 0);
}

static void test_control__a_new_host_gets_the_leases(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();

	(void)state;
	assert_int_equal(start_leased(controller, 5), 0);
	assert_int_equal(start_leased(controller, 6), 0);
	assert_int_equal(start_leased(controller, HANDLE), 0);
	assert_int_equal(start_leased(controller, 5), 0); /* twice is once */
	host.handle = HANDLE;
	assert_int_equal(control_session(controller, WIRE_CONTROL_STOP), 0); /* ends one */
	host_stop();
	host.lease_count = 0;
	host_start();
	/* Nothing of it had gone out: even a start is sent to the new host. */
	assert_int_equal(start_session(controller), 0);
	assert_int_equal(host.lease_count, 2);
	assert_int_equal(host.leases[0] + host.leases[1], 5 + 6);
}

static void test_control__leases_have_their_limit(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();

	(void)state;
	for (uint64_t i = 1; i <= WIRE_LIST_SESSIONS_MAX; i++)
		assert_int_equal(start_leased(controller, i), 0);
	assert_int_equal(start_leased(controller, 5000), -EUSERS);
	assert_int_equal(load_relaxed(&host.requests[WIRE_START]), WIRE_LIST_SESSIONS_MAX);
	host.handle = 7;
	assert_int_equal(control_session(controller, WIRE_CONTROL_STOP), 0);
	assert_int_equal(start_leased(controller, 7), 0);
}

/* Asking something of a host that has ended starts none, also where starting is allowed. */
static void test_control__who_asks_starts_no_host(void **state)
{
	struct etw_controller *controller = NULL;

	(void)state;
	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, true, NULL, &controller), 0);
	host_stop();
	(void)setenv("ETW_ETWD", "/nonexistent/etwd", 1);
	assert_int_equal(etw_control_list(controller, &sessions), -ECONNREFUSED);
	assert_int_equal(control_session(controller, WIRE_CONTROL_QUERY), -ECONNREFUSED);
	assert_int_equal(control_session(controller, WIRE_CONTROL_STOP), -ECONNREFUSED);
	assert_int_equal(enable_provider(controller), -ECONNREFUSED);
	assert_int_equal(start_session(controller), -ENOEXEC); /* this would */
	etw_controller_close(controller);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOSTED_CASE(test_control__every_request_has_its_answer),
		HOSTED_CASE(test_control__the_hosts_errors_come_through),
		HOSTED_CASE(test_control__answers_of_another_kind_are_eproto),
		HOSTED_CASE(test_control__what_cannot_be_encoded_is_einval),
		HOSTED_CASE(test_control__a_start_is_not_repeated),
		HOSTED_CASE(test_control__a_new_host_gets_the_leases),
		HOSTED_CASE(test_control__leases_have_their_limit),
		HOSTED_CASE(test_control__who_asks_starts_no_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
