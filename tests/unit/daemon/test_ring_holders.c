/* SPDX-License-Identifier: MIT */
#include "daemon/ring_holders.h"

#include "unit/daemon/fixture.h"

static struct fake_peer *controller, *one, *two;
static uint64_t handle;

/* Two processes of one uid with the rings of a session. Returns the set's number. */
static uint32_t make_both_enabled(void)
{
	struct wire_enable enable;
	unsigned sets;
	uint32_t ring_set;

	controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	one = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	two = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	handle = fake_peer_start(controller, "one");
	assert_int_equal(fake_peer_enable(controller, handle, fixture_guid(1)), 0);
	assert_int_equal(fake_peer_register(one, 1, fixture_guid(1)), 0);
	fake_peer_take_enable(one, &enable, &sets);
	ring_set = enable.slots[0].ring_set;
	assert_int_equal(fake_peer_register(two, 1, fixture_guid(1)), 0);
	fake_peer_take_enable(two, &enable, &sets);
	assert_int_equal(enable.slots[0].ring_set, ring_set);
	return ring_set;
}

static void free_all(void)
{
	fake_peer_free(one);
	fake_peer_free(two);
	fake_peer_free(controller);
}

static void take_retire(struct fake_peer *fake, uint32_t ring_set)
{
	struct wire_ring_set_ref ref;

	fake_peer_expect(fake, WIRE_RING_RETIRE);
	assert_int_equal(wire_message_decode_ring_set_ref(fake->message.datagram, &ref), 0);
	assert_int_equal(ref.ring_set, ring_set);
}

static void send_retired(struct fake_peer *fake, uint32_t ring_set)
{
	struct wire_message head = {.type = WIRE_RING_RETIRED};
	struct wire_ring_set_ref ref = {ring_set};

	fake_peer_send(fake, wire_message_encode_ring_set_ref(&head, &ref, fake->room));
	fixture_step();
}

static void test_ring_holders__another_uid_has_another_set(void **state)
{
	uint32_t ring_set = make_both_enabled();
	struct fake_peer *other = fake_peer_join(STRANGER + 1, WIRE_ROLE_PROVIDER);
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	assert_int_equal(fake_peer_register(other, 1, fixture_guid(1)), 0);
	fake_peer_take_enable(other, &enable, &sets);
	assert_int_equal(sets, 1);
	assert_int_not_equal(enable.slots[0].ring_set, ring_set);
	fake_peer_free(other);
	free_all();
}

/* Each process is told once, and the set is forgotten when each has answered. */
static void test_ring_holders__retiring(void **state)
{
	uint32_t ring_set = make_both_enabled();

	(void)state;
	send_retired(one, ring_set); /* nobody asked: it means nothing */
	assert_int_equal(etwd_client_of(one->peer)->holder.count, 1);
	etwd_ring_holders_retire(&fixture_host->ring_holders, (uint32_t)handle, ring_set);
	etwd_ring_holders_retire(&fixture_host->ring_holders, (uint32_t)handle, ring_set);
	take_retire(one, ring_set);
	take_retire(two, ring_set);
	assert_true(fake_peer_is_silent(one));
	send_retired(one, ring_set + 1);
	assert_int_equal(etwd_client_of(one->peer)->holder.count, 1);
	send_retired(one, ring_set);
	send_retired(one, ring_set);
	assert_int_equal(etwd_client_of(one->peer)->holder.count, 0);
	assert_int_equal(etwd_client_of(two->peer)->holder.count, 1);
	fake_peer_leave(two);
	two = NULL;
	free_all();
}

static void test_ring_holders__a_session_that_ends_takes_them_back(void **state)
{
	uint32_t ring_set = make_both_enabled();
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	assert_int_equal(fake_peer_control(controller, handle, WIRE_CONTROL_STOP), 0);
	fake_peer_take_enable(one, &enable, &sets);
	assert_int_equal(enable.slots[0].is_used, 0);
	take_retire(one, ring_set);
	free_all();
}

#define TEST(name)                                                                 \
	cmocka_unit_test_setup_teardown(test_ring_holders__##name, fixture_set_up, \
					fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(another_uid_has_another_set),
		TEST(retiring),
		TEST(a_session_that_ends_takes_them_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
