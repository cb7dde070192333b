/* SPDX-License-Identifier: MIT */
#include "daemon/realtime.h"

#include "unit/daemon/fixture.h"

static void send_subscribe(struct fake_peer *fake, const char *name)
{
	static struct wire_subscribe body;
	struct wire_message head = fake_peer_head(fake, WIRE_SUBSCRIBE);

	memset(&body, 0, sizeof(body));
	snprintf(body.name, sizeof(body.name), "%s", name);
	fake_peer_send(fake, wire_message_encode_subscribe(&head, &body, fake->room));
}

static int subscribe(struct fake_peer *fake, const char *name)
{
	send_subscribe(fake, name);
	fake_peer_expect(fake, WIRE_SUBSCRIBED);
	return fake->message.head.status;
}

static void test_realtime__a_consumer_gets_memory_and_batches(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *consumer = fake_peer_join(0, WIRE_ROLE_CONSUMER);
	uint64_t handle = fake_peer_start(controller, "one");
	struct wire_subscribed subscribed;
	struct wire_batch batch;

	(void)state;
	assert_int_equal(subscribe(consumer, "ONE"), 0);
	assert_true(consumer->message.fds[0] >= 0);
	assert_int_equal(wire_message_decode_subscribed(consumer->message.datagram, &subscribed),
			 0);
	assert_int_equal(subscribed.session_id, handle);
	assert_true(subscribed.delivery_bytes > 0);
	assert_int_equal(subscribe(consumer, "one"), -EBUSY); /* one session a connection */
	fake_peer_control(controller, handle, WIRE_CONTROL_FLUSH);
	fake_peer_expect(consumer, WIRE_BATCH);
	assert_int_equal(wire_message_decode_batch(consumer->message.datagram, &batch), 0);
	assert_int_equal(batch.batch, 1);
	fake_peer_control(controller, handle, WIRE_CONTROL_STOP);
	do
		fixture_run_until(fake_peer_has_message, consumer);
	while (consumer->message.head.type == WIRE_BATCH);
	assert_int_equal(consumer->message.head.type, WIRE_SESSION_END);
	assert_null(etwd_client_of(consumer->peer)->consumer.subscription);
	fake_peer_free(controller);
	fake_peer_free(consumer);
}

static void test_realtime__who_may(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONSUMER);

	(void)state;
	(void)fake_peer_start(controller, "one");
	assert_int_equal(subscribe(stranger, "one"), -ENOENT);
	assert_int_equal(subscribe(stranger, "two"), -ENOENT);
	assert_int_equal(subscribe(stranger, ""), -ENOENT);
	fake_peer_free(controller);
	fake_peer_free(stranger);
}

static void test_realtime__a_consumer_that_leaves(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *consumer = fake_peer_join(0, WIRE_ROLE_CONSUMER);
	uint64_t handle = fake_peer_start(controller, "one");

	(void)state;
	assert_int_equal(subscribe(consumer, "one"), 0);
	fake_peer_leave(consumer);
	assert_null(fixture_host->realtime.first);
	assert_int_equal(fake_peer_control(controller, handle, WIRE_CONTROL_FLUSH), 0);
	fake_peer_free(controller);
}

/* One that does not read has one batch that says it all, however many there were. */
static void test_realtime__batches_are_held_for_one_that_does_not_read(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *consumer = fake_peer_join(0, WIRE_ROLE_CONSUMER);
	uint64_t handle = fake_peer_start(controller, "one");
	struct wire_batch batch = {0};
	uint32_t last = 0;

	(void)state;
	assert_int_equal(subscribe(consumer, "one"), 0);
	/* Something waits in its queue before the first batch. */
	while (!consumer->peer->first)
		etwd_peer_answer(consumer->peer, WIRE_REPLY, ++last, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fake_peer_control(controller, handle, WIRE_CONTROL_FLUSH), 0);
	assert_true(etwd_client_of(consumer->peer)->consumer.subscription->has_held);
	assert_int_equal(consumer->peer->queued_count, 1);
	for (uint32_t i = 1; i <= last; i++)
		fake_peer_expect(consumer, WIRE_REPLY);
	assert_int_equal(fake_peer_control(controller, handle, WIRE_CONTROL_FLUSH), 0);
	fake_peer_expect(consumer, WIRE_BATCH);
	assert_int_equal(wire_message_decode_batch(consumer->message.datagram, &batch), 0);
	assert_true(batch.batch >= 4);
	assert_false(etwd_client_of(consumer->peer)->consumer.subscription->has_held);
	fake_peer_free(controller);
	fake_peer_free(consumer);
}

static struct fake_peer *join_allowed(uint32_t uid)
{
	struct fake_peer *fake = fake_peer_join(uid, WIRE_ROLE_CONSUMER);

	fake->peer->is_privileged = true;
	return fake;
}

/* However many consumers somebody brings, root finds a place, and memory. */
static void test_realtime__one_uid_takes_a_part(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONSUMER);
	struct fake_peer *strangers[8];
	struct etwd_budget *budget = &fixture_host->budget;

	(void)state;
	(void)fake_peer_start(controller, "one");
	for (uint32_t i = 0; i < 8; i++)
		strangers[i] = join_allowed(STRANGER + i / 5);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(subscribe(strangers[i], "one"), 0);
	assert_int_equal(subscribe(strangers[4], "one"), -ETOOMANYREFS);
	assert_int_equal(subscribe(strangers[5], "one"), 0);
	assert_int_equal(subscribe(strangers[6], "one"), 0);
	assert_int_equal(subscribe(strangers[7], "one"), -EUSERS);
	assert_int_equal(subscribe(root, "one"), 0);
	assert_true(etwd_budget_used(budget, STRANGER, ETWD_DELIVERY_BYTES) > 0);
	fake_peer_leave(strangers[0]);
	/* A place, but no memory. */
	budget->limits[ETWD_DELIVERY_BYTES].each = 1;
	assert_int_equal(subscribe(strangers[4], "one"), -ETOOMANYREFS);
	for (uint32_t i = 1; i < 8; i++)
		fake_peer_leave(strangers[i]);
	assert_int_equal(budget->used_by_others[ETWD_DELIVERY_BYTES], 0);
	fake_peer_free(root);
	fake_peer_free(controller);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_realtime__##name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_consumer_gets_memory_and_batches),
		TEST(who_may),
		TEST(a_consumer_that_leaves),
		TEST(batches_are_held_for_one_that_does_not_read),
		TEST(one_uid_takes_a_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
