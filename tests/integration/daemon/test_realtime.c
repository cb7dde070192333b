/* SPDX-License-Identifier: MIT */
/* Consumers of real-time sessions, message by message. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <evntrace.h>

#include "integration/daemon/support.h"
#include "integration/daemon/talk.h"

static int subscribe_as(struct talk *talk, const char *name, uint64_t consumer,
			struct wire_subscribed *ret)
{
	static struct wire_subscribe body;
	const struct wire_message head = {.type = WIRE_SUBSCRIBE, .request = 4};

	memset(&body, 0, sizeof(body));
	body.consumer = consumer;
	snprintf(body.name, sizeof(body.name), "%s", name);
	assert_int_equal(talk_send(talk, wire_message_encode_subscribe(&head, &body, talk->room)),
			 0);
	/* Batches may be on their way already. */
	do
		assert_int_equal(talk_receive(talk), 0);
	while (talk->message.head.type == WIRE_BATCH);
	assert_int_equal(talk->message.head.type, WIRE_SUBSCRIBED);
	assert_int_equal(talk->message.head.request, 4);
	if (talk->message.head.status == 0 && ret)
		assert_int_equal(wire_message_decode_subscribed(talk->message.datagram, ret), 0);
	return talk->message.head.status;
}

static int subscribe(struct talk *talk, const char *name, struct wire_subscribed *ret)
{
	return subscribe_as(talk, name, 0, ret);
}

static void expect_end(struct talk *talk)
{
	do
		assert_int_equal(talk_receive(talk), 0);
	while (talk->message.head.type == WIRE_BATCH);
	assert_int_equal(talk->message.head.type, WIRE_SESSION_END);
}

static void test_realtime__from_subscription_to_end(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "live");
	struct talk *talk = talk_open(WIRE_ROLE_CONSUMER);
	struct wire_subscribed subscribed;
	struct wire_batch batch;
	struct stat memory;

	(void)state;
	assert_int_equal(subscribe(talk, "LIVE", &subscribed), 0);
	assert_int_equal(subscribed.handle, handle);
	assert_int_equal(subscribed.header_buffer.left, 4096);
	assert_true(talk->message.fds[0] >= 0);
	assert_int_equal(fstat(talk->message.fds[0], &memory), 0);
	assert_int_equal(memory.st_size, subscribed.delivery_bytes);
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_FLUSH, NULL), 0);
	talk_expect(talk, WIRE_BATCH);
	assert_int_equal(wire_message_decode_batch(talk->message.datagram, &batch), 0);
	assert_true(batch.batch >= 1);
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, NULL), 0);
	expect_end(talk);
	talk_close(talk);
	etw_controller_close(opened);
}

static void test_realtime__errors(void **state)
{
	static struct wire_session_info info;
	struct etw_controller *opened = controller();
	struct wire_session_config *config = config_of("file only");
	struct talk *talk = talk_open(WIRE_ROLE_CONSUMER);
	char path[400];

	(void)state;
	snprintf(path, sizeof(path), "%s/trace.etl", home_path());
	config->log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	memcpy(config->log_file, path, strlen(path) + 1);
	assert_int_equal(etw_control_start(opened, config, &info), 0);
	(void)start_session(opened, "live");
	assert_int_equal(subscribe(talk, "nobody", NULL), -ENOENT);
	assert_int_equal(subscribe(talk, "", NULL), -ENOENT);
	assert_int_equal(subscribe(talk, "file only", NULL), -EINVAL);
	assert_int_equal(subscribe(talk, "live", NULL), 0);
	assert_int_equal(subscribe(talk, "live", NULL), -EBUSY);
	talk_close(talk);
	etw_controller_close(opened);
}

static void test_realtime__consumers_come_and_go(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "live");
	struct talk *stays = talk_open(WIRE_ROLE_CONSUMER);

	(void)state;
	assert_int_equal(subscribe(stays, "live", NULL), 0);
	for (int i = 0; i < 100; i++) {
		struct talk *talk = talk_open(WIRE_ROLE_CONSUMER);

		assert_int_equal(subscribe(talk, "live", NULL), 0);
		if (i % 10 == 0)
			assert_int_equal(control_session(opened, handle, WIRE_CONTROL_FLUSH, NULL),
					 0);
		talk_close(talk);
	}
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, NULL), 0);
	expect_end(stays);
	talk_close(stays);
	etw_controller_close(opened);
}

static ino_t memory_of(const struct talk *talk)
{
	struct stat memory;

	assert_true(talk->message.fds[0] >= 0);
	assert_int_equal(fstat(talk->message.fds[0], &memory), 0);
	return memory.st_ino;
}

/* A consumer with a number gets its very memory back; one of another number does not. */
static void test_realtime__subscribes_again_after_a_restart(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "live");
	struct talk *talk = talk_open(WIRE_ROLE_CONSUMER);
	struct talk *other = talk_open(WIRE_ROLE_CONSUMER);
	struct wire_subscribed subscribed;
	ino_t memory;

	(void)state;
	assert_int_equal(subscribe_as(talk, "live", 42, NULL), 0);
	memory = memory_of(talk);
	host_kill();
	assert_true(talk_is_closed(talk));
	talk_close(talk);
	talk_close(other);
	other = talk_open(WIRE_ROLE_CONSUMER);
	assert_int_equal(subscribe_as(other, "live", 43, NULL), 0);
	assert_true(memory_of(other) != memory);
	talk = talk_open(WIRE_ROLE_CONSUMER);
	assert_int_equal(subscribe_as(talk, "live", 42, &subscribed), 0);
	assert_int_equal(subscribed.handle, handle);
	assert_true(memory_of(talk) == memory);
	talk_close(other);
	/* There already. */
	other = talk_open(WIRE_ROLE_CONSUMER);
	assert_int_equal(subscribe_as(other, "live", 42, NULL), -EBUSY);
	talk_close(other);
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, NULL), 0);
	expect_end(talk);
	talk_close(talk);
	etw_controller_close(opened);
}

/* A session that is stopped right after its host died waits for the consumer, and then tells it the end. */
static void test_realtime__stop_waits_for_who_comes_back(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "live");
	struct talk *controlling;
	struct talk *talk = talk_open(WIRE_ROLE_CONSUMER);
	const struct wire_message head = {.type = WIRE_CONTROL, .request = 7};
	static struct wire_control stop;

	(void)state;
	assert_int_equal(subscribe_as(talk, "live", 42, NULL), 0);
	host_kill();
	talk_close(talk);
	controlling = talk_open(WIRE_ROLE_CONTROLLER);
	memset(&stop, 0, sizeof(stop));
	stop.code = WIRE_CONTROL_STOP;
	stop.handle = handle;
	assert_int_equal(talk_send(controlling,
				   wire_message_encode_control(&head, &stop, controlling->room)),
			 0);
	usleep(300 * 1000);
	talk = talk_open(WIRE_ROLE_CONSUMER);
	assert_int_equal(subscribe_as(talk, "live", 42, NULL), 0);
	expect_end(talk);
	talk_expect(controlling, WIRE_SESSION);
	assert_int_equal(controlling->message.head.status, 0);
	talk_close(controlling);
	talk_close(talk);
	etw_controller_close(opened);
}

/* A consumer that reads nothing gets one batch for many, and is not disconnected for its full queue. */
static void test_realtime__who_does_not_read_is_told_at_once(void **state)
{
	enum {
		FLUSHES = 12000 /* more than a socket and a queue hold */
	};
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "live");
	struct talk *talk = talk_open(WIRE_ROLE_CONSUMER);
	struct wire_batch batch = {0};
	uint64_t last = 0;
	int count = 0;

	(void)state;
	assert_int_equal(subscribe(talk, "live", NULL), 0);
	for (int i = 0; i < FLUSHES; i++)
		assert_int_equal(control_session(opened, handle, WIRE_CONTROL_FLUSH, NULL), 0);
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, NULL), 0);
	do {
		assert_int_equal(talk_receive(talk), 0);
		assert_int_equal(wire_message_decode_batch(talk->message.datagram, &batch), 0);
		assert_true(batch.batch > last);
		last = batch.batch;
		count++;
	} while (talk->message.head.type == WIRE_BATCH);
	assert_int_equal(talk->message.head.type, WIRE_SESSION_END);
	assert_true(last > FLUSHES);
	assert_true(count < FLUSHES);
	talk_close(talk);
	etw_controller_close(opened);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_realtime__##name, home_make, home_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(from_subscription_to_end),      TEST(errors),
		TEST(consumers_come_and_go),         TEST(subscribes_again_after_a_restart),
		TEST(stop_waits_for_who_comes_back), TEST(who_does_not_read_is_told_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
