/* SPDX-License-Identifier: MIT */
/* Sessions as controllers see them: names, numbers, errors, leases. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/guid.h"
#include "integration/daemon/support.h"
#include "integration/daemon/talk.h"

static const GUID kernel_guid = {
	0x9e814aad, 0x3204, 0x11d2, {0x9a, 0x82, 0x00, 0x60, 0x08, 0xa8, 0x69, 0x39}};

static int start_named(struct etw_controller *from, const char *name)
{
	static struct wire_session_info info;

	return etw_control_start(from, config_of(name), &info);
}

static bool lists(struct etw_controller *from, uint64_t handle)
{
	struct wire_sessions sessions;

	assert_int_equal(etw_control_list(from, &sessions), 0);
	for (uint32_t i = 0; i < sessions.count; i++) {
		if (sessions.handles[i] == handle)
			return true;
	}
	return false;
}

static void test_sessions__start_query_flush_stop(void **state)
{
	static struct wire_session_info info;
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "one");

	(void)state;
	assert_true(lists(opened, handle));
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_QUERY, &info), 0);
	assert_string_equal(info.config.name, "one");
	assert_int_equal(info.handle, handle);
	assert_int_equal(info.uid, geteuid());
	assert_false(etw_guid_is_null(&info.config.guid));
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_FLUSH, &info), 0);
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, &info), 0);
	assert_string_equal(info.config.name, "one");
	assert_false(lists(opened, handle));
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_QUERY, &info), -ENOENT);
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, &info), -ENOENT);
	etw_controller_close(opened);
}

static void test_sessions__file_is_written(void **state)
{
	static struct wire_session_info info;
	struct etw_controller *opened = controller();
	struct wire_session_config *config = config_of("to a file");
	char path[400];

	(void)state;
	snprintf(path, sizeof(path), "%s/trace.etl", home_path());
	config->log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	memcpy(config->log_file, path, strlen(path) + 1);
	assert_int_equal(etw_control_start(opened, config, &info), 0);
	assert_int_equal(access(path, R_OK), 0);
	assert_int_equal(control_session(opened, info.handle, WIRE_CONTROL_STOP, &info), 0);
	/* A path that means another one in another process is no path. */
	config = config_of("relative");
	config->log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	memcpy(config->log_file, "trace.etl", sizeof("trace.etl"));
	assert_int_equal(etw_control_start(opened, config, &info), -EINVAL);
	memcpy(config->log_file, "/nowhere/trace.etl", sizeof("/nowhere/trace.etl"));
	assert_int_equal(etw_control_start(opened, config, &info), -ENOENT);
	etw_controller_close(opened);
}

static void test_sessions__names_differ_by_more_than_case(void **state)
{
	static const char upper[] = "\xC3\x9C"
				    "BUNG 1";
	static const char lower[] = "\xC3\xBC"
				    "bung 1";
	static struct wire_control control;
	static struct wire_session_info info;
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, lower);

	(void)state;
	assert_int_equal(start_named(opened, upper), -EEXIST);
	assert_int_equal(start_named(opened, "uebung 1"), 0);
	assert_int_equal(start_named(opened, ""), -EINVAL);
	memset(&control, 0, sizeof(control));
	memcpy(control.name, upper, sizeof(upper));
	assert_int_equal(etw_control(opened, &control, &info), 0);
	assert_int_equal(info.handle, handle);
	/* By guid, where no name is given. */
	memset(control.name, 0, sizeof(control.name));
	control.guid = info.config.guid;
	assert_int_equal(etw_control(opened, &control, &info), 0);
	assert_int_equal(info.handle, handle);
	memset(&control, 0, sizeof(control));
	assert_int_equal(etw_control(opened, &control, &info), -ENOENT);
	etw_controller_close(opened);
}

static void test_sessions__guid_is_of_one_session(void **state)
{
	static struct wire_session_info info;
	struct etw_controller *opened = controller();
	struct wire_session_config *config = config_of("first");

	(void)state;
	config->guid = guid_of(7);
	assert_int_equal(etw_control_start(opened, config, &info), 0);
	config = config_of("second");
	config->guid = guid_of(7);
	assert_int_equal(etw_control_start(opened, config, &info), -EEXIST);
	etw_controller_close(opened);
}

static void test_sessions__kernel_guid_needs_the_kernel_name(void **state)
{
	static struct wire_session_info info;
	struct etw_controller *opened = controller();
	struct wire_session_config *config = config_of("some name");

	(void)state;
	config->guid = kernel_guid;
	assert_int_equal(etw_control_start(opened, config, &info), -EINVAL);
	config = config_of("nt kernel LOGGER");
	assert_int_equal(etw_control_start(opened, config, &info), 0);
	assert_memory_equal(&info.config.guid, &kernel_guid, sizeof(GUID));
	assert_true(info.is_kernel);
	etw_controller_close(opened);
}

static void test_sessions__errors_of_control(void **state)
{
	static struct wire_control control;
	static struct wire_session_info info;
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "one");
	struct talk *talk = talk_open(WIRE_ROLE_CONTROLLER);

	(void)state;
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_INCREMENT_FILE, NULL),
			 -EINVAL);
	/* It is one already. */
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_CONVERT_TO_REALTIME, NULL),
			 0);
	assert_int_equal(control_session(opened, handle, 99, NULL), -EINVAL);
	assert_int_equal(control_session(opened, handle + 1000, WIRE_CONTROL_QUERY, NULL), -ENOENT);
	memset(&control, 0, sizeof(control));
	memcpy(control.name, "nobody", sizeof("nobody"));
	assert_int_equal(etw_control(opened, &control, &info), -ENOENT);
	assert_int_equal(talk_lease(talk, handle + 1000), -ENOENT);
	talk_close(talk);
	etw_controller_close(opened);
}

/* How many there are before one is refused. */
static int start_all(uint32_t mode)
{
	struct etw_controller *opened = controller();
	static struct wire_session_info info;
	int count = 0, r = 0;

	while (count < 100 && r == 0) {
		struct wire_session_config *config;
		char name[32];

		snprintf(name, sizeof(name), "session %d", count);
		config = config_of(name);
		config->log_file_mode |= mode;
		r = etw_control_start(opened, config, &info);
		count += r == 0;
	}
	assert_int_equal(r, -EUSERS);
	etw_controller_close(opened);
	return count;
}

static void test_sessions__are_limited(void **state)
{
	(void)state;
	assert_int_equal(start_all(0), 64);
}

static void test_sessions__limits_can_be_raised(void **state)
{
	(void)state;
	setenv("ETWD_MAX_SESSIONS", "66", 1);
	assert_int_equal(start_all(0), 66);
	unsetenv("ETWD_MAX_SESSIONS");
}

/* Two of the places are for sessions with fixed names. */
static void test_sessions__system_loggers_are_limited(void **state)
{
	(void)state;
	assert_int_equal(start_all(EVENT_TRACE_SYSTEM_LOGGER_MODE), 6);
}

static void test_sessions__system_loggers_may_be_more(void **state)
{
	(void)state;
	setenv("ETWD_MAX_SYSTEM_LOGGERS", "9", 1);
	assert_int_equal(start_all(EVENT_TRACE_SYSTEM_LOGGER_MODE), 7);
	unsetenv("ETWD_MAX_SYSTEM_LOGGERS");
}

static void test_sessions__outlive_their_controller(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "stays");

	(void)state;
	etw_controller_close(opened);
	usleep(200 * 1000);
	opened = controller();
	assert_true(lists(opened, handle));
	etw_controller_close(opened);
}

static void test_sessions__lease_ends_a_session(void **state)
{
	struct etw_controller *other = controller();
	struct talk *holder = talk_open(WIRE_ROLE_CONTROLLER);
	struct talk *rival = talk_open(WIRE_ROLE_CONTROLLER);
	uint64_t handle = start_session(other, "leased");
	static struct wire_session_info info;

	(void)state;
	assert_int_equal(talk_lease(holder, handle), 0);
	assert_int_equal(talk_lease(holder, handle), 0);
	assert_int_equal(talk_lease(rival, handle), -EBUSY);
	assert_int_equal(control_session(other, handle, WIRE_CONTROL_QUERY, &info), 0);
	assert_true(info.is_leased);
	talk_close(holder);
	assert_true(log_has("ends with its controller"));
	assert_true(log_has("has ended: \"leased\""));
	assert_int_equal(control_session(other, handle, WIRE_CONTROL_QUERY, NULL), -ENOENT);
	talk_close(rival);
	etw_controller_close(other);
}

/* A session that was started with its lease was never without: not for an instant. */
static void test_sessions__start_takes_the_lease_along(void **state)
{
	struct etw_controller *holder = controller();
	struct talk *rival = talk_open(WIRE_ROLE_CONTROLLER);
	struct wire_session_config *config = config_of("leased");
	static struct wire_session_info info;

	(void)state;
	config->is_leased = 1;
	assert_int_equal(etw_control_start(holder, config, &info), 0);
	assert_true(info.is_leased);
	assert_int_equal(talk_lease(rival, info.handle), -EBUSY);
	etw_controller_close(holder);
	assert_true(log_has("ends with its controller"));
	assert_true(log_has("has ended: \"leased\""));
	talk_close(rival);
}

/* The controller is gone before its session has started. */
static void test_sessions__start_of_who_is_gone(void **state)
{
	const struct wire_message head = {.type = WIRE_START, .request = 1};
	struct wire_session_config *config = config_of("leased");
	struct etw_controller *other = controller();
	struct talk *talk = talk_open(WIRE_ROLE_CONTROLLER);

	(void)state;
	config->is_leased = 1;
	assert_int_equal(
		talk_send(talk, wire_message_encode_session_config(&head, config, talk->room)), 0);
	talk_close(talk);
	assert_true(log_has("has ended: \"leased\""));
	etw_controller_close(other);
}

/* Requests of one controller are answered as their sessions come to it, each with its own number. */
static void test_sessions__second_stop_is_refused(void **state)
{
	struct etw_controller *opened = controller();
	struct talk *talk = talk_open(WIRE_ROLE_CONTROLLER);
	static struct wire_control control;
	int32_t answers[3] = {1, 1, 1};

	(void)state;
	memset(&control, 0, sizeof(control));
	control.handle = start_session(opened, "twice");
	for (uint32_t i = 0; i < 3; i++) {
		const struct wire_message head = {.type = WIRE_CONTROL, .request = 10 + i};

		control.code = i == 0 ? WIRE_CONTROL_FLUSH : WIRE_CONTROL_STOP;
		assert_int_equal(
			talk_send(talk, wire_message_encode_control(&head, &control, talk->room)),
			0);
	}
	for (int i = 0; i < 3; i++) {
		talk_expect(talk, WIRE_SESSION);
		assert_in_range(talk->message.head.request, 10, 12);
		answers[talk->message.head.request - 10] = talk->message.head.status;
	}
	assert_int_equal(answers[0], 0);
	assert_int_equal(answers[1], 0);
	/* While it stops, or behind that. */
	assert_true(answers[2] == -EBUSY || answers[2] == -ENOENT);
	talk_close(talk);
	etw_controller_close(opened);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_sessions__##name, home_make, home_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(start_query_flush_stop),
		TEST(file_is_written),
		TEST(names_differ_by_more_than_case),
		TEST(guid_is_of_one_session),
		TEST(kernel_guid_needs_the_kernel_name),
		TEST(errors_of_control),
		TEST(are_limited),
		TEST(limits_can_be_raised),
		TEST(system_loggers_are_limited),
		TEST(system_loggers_may_be_more),
		TEST(outlive_their_controller),
		TEST(lease_ends_a_session),
		TEST(start_takes_the_lease_along),
		TEST(start_of_who_is_gone),
		TEST(second_stop_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
