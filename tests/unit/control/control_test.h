/* SPDX-License-Identifier: MIT */
/* What the tests of the controller share: one that is open, and one of each request. */
#ifndef ETW_TESTS_UNIT_CONTROL_CONTROL_TEST_H
#define ETW_TESTS_UNIT_CONTROL_CONTROL_TEST_H

#include "control/control.h"
#include "unit/control/fake_host.h"

#define CASE(test)        cmocka_unit_test_setup_teardown(test, setup, teardown)
#define HOSTED_CASE(test) cmocka_unit_test_setup_teardown(test, setup_host, teardown)

static struct wire_session_info info;
static struct wire_sessions sessions;

static inline struct etw_controller *open_controller(void)
{
	struct etw_controller *controller = NULL;

	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, false, NULL, &controller), 0);
	assert_non_null(controller);
	return controller;
}

static inline int start_session(struct etw_controller *controller)
{
	static struct wire_session_config config = {.name = "one", .buffer_kib = 64};

	return etw_control_start(controller, &config, &info);
}

/* With a lease. */
static inline int start_leased(struct etw_controller *controller, uint64_t handle)
{
	static struct wire_session_config config = {
		.name = "leased", .buffer_kib = 64, .is_leased = 1};

	host.handle = handle;
	return etw_control_start(controller, &config, &info);
}

static inline int control_session(struct etw_controller *controller, uint32_t code)
{
	static struct wire_control control;

	control.code = code;
	control.handle = HANDLE;
	return etw_control(controller, &control, &info);
}

static inline int enable_provider(struct etw_controller *controller)
{
	struct wire_enable_provider enable = {.handle = HANDLE, .code = 1, .level = 5};

	return etw_control_enable(controller, &enable);
}

#endif
