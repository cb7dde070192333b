/* SPDX-License-Identifier: MIT */
/* Private sessions in other processes, at the host: what controllers hear of what processes say, and who has no part. */
#include "fixture.h"

#include "daemon/private_sessions.h"

#define NUMBER 3 /* of the processes' registrations */

static const GUID provider = {0x77, 1, 2, {3}};

/* A process that has registered the provider. */
static struct fake_peer *join_process(uid_t uid)
{
	struct fake_peer *process = fake_peer_join(uid, WIRE_ROLE_PROVIDER);

	assert_int_equal(fake_peer_register(process, NUMBER, provider), 0);
	return process;
}

static void send_start(struct fake_peer *controller, const char *name)
{
	struct wire_session_config *config = fixture_config(name);
	const struct wire_message head = fake_peer_head(controller, WIRE_START);

	config->log_file_mode = EVENT_TRACE_PRIVATE_LOGGER_MODE;
	config->guid = provider;
	(void)snprintf(config->log_file, sizeof(config->log_file), "/nonexistent/%s", name);
	fake_peer_send(controller,
		       wire_message_encode_session_config(&head, config, controller->room));
}

static void send_control(struct fake_peer *controller, uint64_t handle, uint32_t code)
{
	static struct wire_control control;
	const struct wire_message head = fake_peer_head(controller, WIRE_CONTROL);

	control.handle = handle;
	control.code = code;
	fake_peer_send(controller, wire_message_encode_control(&head, &control, controller->room));
}

/* To a request of the host's, as it was: so late answers can be said, too. */
static void answer(struct fake_peer *process, uint32_t request, int status,
		   const struct wire_session_info *info)
{
	const struct wire_message head = {
		.type = WIRE_PRIVATE_DONE, .request = request, .status = status};

	fake_peer_send(process, info ? wire_message_encode_session_info(&head, info, process->room)
				     : wire_message_encode_plain(&head, process->room));
}

/* The number of the next request that the host has for the process. */
static uint32_t expect_request(struct fake_peer *process, uint32_t type)
{
	fake_peer_expect(process, type);
	return process->message.head.request;
}

/* The process says @status to the next request, and @info where that is 0. */
static void expect_and_answer(struct fake_peer *process, uint32_t type, int status,
			      const struct wire_session_info *info)
{
	const uint32_t request = expect_request(process, type);

	assert_int_not_equal(request, 0);
	answer(process, request, status, status ? NULL : info);
}

/* Returns the status of what the controller hears; its message stays. */
static int expect_session(struct fake_peer *controller, struct wire_session_info *ret)
{
	fake_peer_expect(controller, WIRE_SESSION);
	if (controller->message.head.status == 0)
		assert_int_equal(
			wire_message_decode_session_info(controller->message.datagram, ret), 0);
	return controller->message.head.status;
}

/* A session that @process says to have begun; NULL: nobody is asked. */
static uint64_t start(struct fake_peer *controller, const char *name, struct fake_peer *process)
{
	static const struct wire_session_info none;
	static struct wire_session_info info;

	send_start(controller, name);
	if (process)
		expect_and_answer(process, WIRE_PRIVATE_START, 0, &none);
	assert_int_equal(expect_session(controller, &info), 0);
	assert_true(etwd_private_is_handle(info.handle));
	return info.handle;
}

static struct wire_session_info *info_of(uint64_t value)
{
	static struct wire_session_info info;

	memset(&info, 0, sizeof(info));
	info.number_of_buffers = info.free_buffers = info.events_lost = (uint32_t)value;
	info.buffers_written = info.log_buffers_lost = (uint32_t)value;
	info.events = info.bytes = info.overwritten = value;
	return &info;
}

static void test_private_sessions__sums_saturate(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *first = join_process(0);
	struct fake_peer *other;
	static struct wire_session_info info;
	const uint64_t handle = start(controller, "some", first);

	(void)state;
	other = join_process(0);
	assert_int_equal(expect_request(other, WIRE_PRIVATE_START), 0); /* nobody waits */
	send_control(controller, handle, WIRE_CONTROL_QUERY);
	expect_and_answer(first, WIRE_PRIVATE_CONTROL, 0, info_of(3));
	expect_and_answer(other, WIRE_PRIVATE_CONTROL, 0, info_of(4));
	assert_int_equal(expect_session(controller, &info), 0);
	assert_int_equal(info.events, 7);
	assert_int_equal(info.number_of_buffers, 7);
	send_control(controller, handle, WIRE_CONTROL_QUERY);
	expect_and_answer(first, WIRE_PRIVATE_CONTROL, 0, info_of(UINT64_MAX));
	expect_and_answer(other, WIRE_PRIVATE_CONTROL, 0, info_of(2));
	assert_int_equal(expect_session(controller, &info), 0);
	assert_true(info.events == UINT64_MAX && info.bytes == UINT64_MAX &&
		    info.overwritten == UINT64_MAX);
	assert_true(info.number_of_buffers == UINT32_MAX && info.free_buffers == UINT32_MAX &&
		    info.events_lost == UINT32_MAX && info.buffers_written == UINT32_MAX &&
		    info.log_buffers_lost == UINT32_MAX);
	fake_peer_leave(first);
	fake_peer_leave(other);
	fake_peer_leave(controller);
}

/* Whose the session is, its handle and its name are not the processes' to say. */
static void test_private_sessions__what_a_process_may_not_say(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *process = join_process(0);
	static struct wire_session_info info;
	struct wire_session_info *lie = info_of(1);
	const uint64_t handle = start(controller, "some", process);

	(void)state;
	send_control(controller, handle, WIRE_CONTROL_QUERY);
	lie->handle = handle + 1;
	lie->uid = STRANGER;
	memcpy(lie->config.name, "another", sizeof("another"));
	memcpy(lie->config.log_file, "/another", sizeof("/another"));
	expect_and_answer(process, WIRE_PRIVATE_CONTROL, 0, lie);
	assert_int_equal(expect_session(controller, &info), 0);
	assert_true(info.handle == handle && info.uid == 0 && info.events == 1);
	assert_string_equal(info.config.name, "some");
	assert_string_equal(info.config.log_file, "/nonexistent/some");
	fake_peer_leave(process);
	fake_peer_leave(controller);
}

/* An answer is to one request: said twice, late, or to another process's request, it is nothing. */
static void test_private_sessions__numbers_are_of_one_session(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *first = join_process(0), *other = join_process(0);
	static struct wire_session_info info;
	uint64_t handles[2];
	uint32_t requests[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		send_start(controller, i ? "two" : "one");
		expect_and_answer(first, WIRE_PRIVATE_START, 0, info_of(0));
		expect_and_answer(other, WIRE_PRIVATE_START, 0, info_of(0));
		assert_int_equal(expect_session(controller, &info), 0);
		handles[i] = info.handle;
	}
	send_control(controller, handles[0], WIRE_CONTROL_QUERY);
	requests[0] = expect_request(first, WIRE_PRIVATE_CONTROL);
	requests[1] = expect_request(other, WIRE_PRIVATE_CONTROL);
	answer(other, requests[0], 0, info_of(1000));
	answer(other, 0, 0, info_of(1000));
	answer(other, UINT32_MAX, 0, info_of(1000));
	answer(first, requests[0], 0, info_of(1));
	answer(first, requests[0], 0, info_of(1000));
	answer(other, requests[1], 0, info_of(2));
	assert_int_equal(expect_session(controller, &info), 0);
	assert_true(info.handle == handles[0] && info.events == 3);
	/* The next request's answer is not what was said to the last one. */
	send_control(controller, handles[1], WIRE_CONTROL_QUERY);
	(void)expect_request(first, WIRE_PRIVATE_CONTROL);
	answer(first, requests[0], 0, info_of(1000));
	answer(first, first->message.head.request, 0, info_of(10));
	expect_and_answer(other, WIRE_PRIVATE_CONTROL, 0, info_of(20));
	assert_int_equal(expect_session(controller, &info), 0);
	assert_true(info.handle == handles[1] && info.events == 30);
	fake_peer_leave(first);
	fake_peer_leave(other);
	fake_peer_leave(controller);
}

/* Of some processes that fail the others count; where all do, the first one's error is the call's. */
static void test_private_sessions__any_status(void **state)
{
	static const int statuses[] = {-EACCES, -ENOSPC, -1, -4095};
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *first = join_process(0), *other = join_process(0);
	static struct wire_session_info info;
	uint64_t handle;

	(void)state;
	send_start(controller, "some");
	expect_and_answer(first, WIRE_PRIVATE_START, -EACCES, NULL);
	expect_and_answer(other, WIRE_PRIVATE_START, -ENOSPC, NULL);
	assert_int_equal(expect_session(controller, &info), -EACCES);
	assert_int_equal(etwd_private_table_count(&fixture_host->private_table), 0);
	/* Neither is told of the end of what it does not have. */
	assert_true(fake_peer_is_silent(first) && fake_peer_is_silent(other));
	send_start(controller, "some");
	expect_and_answer(first, WIRE_PRIVATE_START, 0, info_of(0));
	expect_and_answer(other, WIRE_PRIVATE_START, 0, info_of(0));
	assert_int_equal(expect_session(controller, &info), 0);
	handle = info.handle;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		send_control(controller, handle, WIRE_CONTROL_QUERY);
		expect_and_answer(first, WIRE_PRIVATE_CONTROL, statuses[i], NULL);
		expect_and_answer(other, WIRE_PRIVATE_CONTROL, 0, info_of(2));
		assert_int_equal(expect_session(controller, &info), 0);
		assert_true(info.handle == handle && info.events == 2);
	}
	/* Success without what was asked for ends the conversation, and not the call. */
	send_control(controller, handle, WIRE_CONTROL_QUERY);
	answer(first, expect_request(first, WIRE_PRIVATE_CONTROL), 0, NULL);
	fake_peer_expect_end(first);
	expect_and_answer(other, WIRE_PRIVATE_CONTROL, 0, info_of(2));
	assert_int_equal(expect_session(controller, &info), 0);
	assert_true(info.handle == handle && info.events == 2);
	fake_peer_free(first);
	fake_peer_leave(other);
	fake_peer_leave(controller);
}

static void test_private_sessions__a_process_that_dies_holds_nobody_up(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *first = join_process(0), *other = join_process(0);
	static struct wire_session_info info;
	uint64_t handle;

	(void)state;
	/* One dies with what it was told, the other while it is asked. */
	send_start(controller, "some");
	(void)expect_request(first, WIRE_PRIVATE_START);
	fake_peer_leave(first);
	expect_and_answer(other, WIRE_PRIVATE_START, 0, info_of(0));
	assert_int_equal(expect_session(controller, &info), 0);
	handle = info.handle;
	send_control(controller, handle, WIRE_CONTROL_QUERY);
	(void)expect_request(other, WIRE_PRIVATE_CONTROL);
	fake_peer_leave(other);
	assert_int_equal(expect_session(controller, &info), 0);
	assert_true(info.handle == handle && info.events == 0);
	/* The session is there for processes that come, and a stop that nobody answers is a stop. */
	first = join_process(0);
	assert_int_equal(expect_request(first, WIRE_PRIVATE_START), 0);
	send_control(controller, handle, WIRE_CONTROL_STOP);
	(void)expect_request(first, WIRE_PRIVATE_CONTROL);
	fake_peer_leave(first);
	assert_int_equal(expect_session(controller, &info), 0);
	assert_int_equal(etwd_private_table_count(&fixture_host->private_table), 0);
	fake_peer_leave(controller);
}

/* The controller is gone when the answer comes: that is nobody's, and the session stays. */
static void test_private_sessions__a_controller_that_dies_is_not_answered(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *process = join_process(0);
	static struct wire_session_info info;
	uint32_t request;

	(void)state;
	send_start(controller, "some");
	request = expect_request(process, WIRE_PRIVATE_START);
	fake_peer_leave(controller);
	answer(process, request, 0, info_of(0));
	controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	send_control(controller, WIRE_OUTSIDE_SESSION_ID_FIRST, WIRE_CONTROL_STOP);
	expect_and_answer(process, WIRE_PRIVATE_CONTROL, 0, info_of(9));
	assert_int_equal(expect_session(controller, &info), 0);
	assert_int_equal(info.events, 9);
	fake_peer_leave(process);
	fake_peer_leave(controller);
}

static void test_private_sessions__strangers_have_no_part(void **state)
{
	static const uint32_t codes[] = {WIRE_CONTROL_QUERY, WIRE_CONTROL_UPDATE,
					 WIRE_CONTROL_FLUSH, WIRE_CONTROL_STOP};
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	struct fake_peer *process = join_process(0), *theirs = join_process(STRANGER);
	static struct wire_session_info info;
	uint64_t roots, strangers;

	(void)state;
	/* Who may start none hears so; nobody is asked. */
	send_start(stranger, "theirs");
	assert_int_equal(expect_session(stranger, &info), -EACCES);
	stranger->peer->is_privileged = true;
	/* A stranger's is in the stranger's processes alone, root's in all. */
	strangers = start(stranger, "theirs", theirs);
	assert_true(fake_peer_is_silent(process));
	send_start(controller, "roots");
	expect_and_answer(process, WIRE_PRIVATE_START, 0, info_of(0));
	expect_and_answer(theirs, WIRE_PRIVATE_START, 0, info_of(0));
	assert_int_equal(expect_session(controller, &info), 0);
	roots = info.handle;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		send_control(stranger, roots, codes[i]);
		assert_int_equal(expect_session(stranger, &info), -ENOENT);
	}
	assert_int_equal(fake_peer_enable(stranger, roots, provider), -ENOENT);
	assert_true(fake_peer_is_silent(process) && fake_peer_is_silent(theirs));
	assert_int_equal(etwd_private_table_count(&fixture_host->private_table), 2);
	/* Root controls all. */
	send_control(controller, strangers, WIRE_CONTROL_STOP);
	expect_and_answer(theirs, WIRE_PRIVATE_CONTROL, 0, info_of(1));
	assert_int_equal(expect_session(controller, &info), 0);
	assert_int_equal(info.uid, STRANGER);
	fake_peer_leave(process);
	fake_peer_leave(theirs);
	fake_peer_leave(stranger);
	fake_peer_leave(controller);
}

#define TEST(name)                                                                     \
	cmocka_unit_test_setup_teardown(test_private_sessions__##name, fixture_set_up, \
					fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums_saturate),
		TEST(what_a_process_may_not_say),
		TEST(numbers_are_of_one_session),
		TEST(any_status),
		TEST(a_process_that_dies_holds_nobody_up),
		TEST(a_controller_that_dies_is_not_answered),
		TEST(strangers_have_no_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
