/* SPDX-License-Identifier: MIT */
#include "daemon/peer.h"

#include <sys/ioctl.h>
#include <sys/un.h>

#include "unit/daemon/fixture.h"

static void test_peer__is_found_until_it_is_doomed(void **state)
{
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	uint64_t serial = fake->peer->serial;

	(void)state;
	assert_ptr_equal(etwd_peer_find(&fixture_host->peers, serial), fake->peer);
	assert_null(etwd_peer_find(&fixture_host->peers, serial + ETWD_PEER_BUCKETS));
	etwd_peer_doom(fake->peer, "is tested");
	etwd_peer_doom(fake->peer, "is tested once more");
	assert_null(etwd_peer_find(&fixture_host->peers, serial));
	fake_peer_expect_end(fake);
	assert_int_equal(fixture_host->peers.count, 0);
	assert_int_equal(fixture_host->budget.account_count, 0);
	fake_peer_free(fake);
}

/* The connections of one uid, of all who are not trusted, and root's room behind them. */
static void test_peer__connections_are_limited_and_root_has_room(void **state)
{
	enum {
		EACH = 3,
		OTHERS = 5,
		ALL = 7
	};
	struct fake_peer *fakes[ALL + 1];
	unsigned count = 0;

	(void)state;
	fixture_host->budget.limits[ETWD_CONNECTIONS] = (struct etwd_limit){ALL, OTHERS, EACH};
	while (count < EACH)
		fakes[count++] = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	fakes[count] = fake_peer_make(STRANGER);
	assert_null(fakes[count]->peer);
	/* It is told why, although it has said nothing yet. */
	assert_int_equal(etw_ipc_receive(fakes[count]->fd, &fakes[count]->message), 0);
	assert_int_equal(fakes[count]->message.head.type, WIRE_WELCOME);
	assert_int_equal(fakes[count]->message.head.status, -ETOOMANYREFS);
	fake_peer_expect_end(fakes[count]);
	fake_peer_free(fakes[count]);
	while (count < OTHERS)
		fakes[count++] = fake_peer_join(STRANGER + 1, WIRE_ROLE_PROVIDER);
	fakes[count] = fake_peer_make(STRANGER + 2);
	assert_null(fakes[count]->peer);
	assert_int_equal(etw_ipc_receive(fakes[count]->fd, &fakes[count]->message), 0);
	assert_int_equal(fakes[count]->message.head.status, -EUSERS);
	fake_peer_free(fakes[count]);
	while (count < ALL)
		fakes[count++] = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	fakes[count] = fake_peer_make(0);
	assert_null(fakes[count]->peer);
	fake_peer_free(fakes[count]);
	fake_peer_leave(fakes[0]);
	fakes[0] = fake_peer_join(STRANGER + 2, WIRE_ROLE_PROVIDER);
	for (unsigned i = 0; i < ALL; i++)
		fake_peer_leave(fakes[i]);
	assert_int_equal(fixture_host->budget.account_count, 0);
}

static int connect_to_host(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_true((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s/control",
				     fixture_options.directory) < sizeof(address.sun_path));
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static bool has_peer(void *context)
{
	(void)context;
	return fixture_host->peers.count == 1;
}

/* Who stands in the queue behind those who came and went is met, and they have cost nothing but a look. */
static void test_peer__those_who_connect_and_close_are_never_peers(void **state)
{
	uint64_t before = fixture_host->peers.last_serial;
	int last;

	(void)state;
	for (int i = 0; i < 100; i++)
		(void)close(connect_to_host());
	last = connect_to_host();
	fixture_run_until(has_peer, NULL);
	assert_int_equal(fixture_host->peers.last_serial, before + 1);
	(void)close(last);
	while (fixture_host->peers.count)
		fixture_step();
	/* What one has said before it closed is heard. */
	last = connect_to_host();
	assert_int_equal(send(last, "", 1, MSG_NOSIGNAL), 1);
	(void)close(last);
	while (fixture_host->peers.last_serial == before + 1)
		fixture_step();
	while (fixture_host->peers.count)
		fixture_step();
	assert_int_equal(fixture_host->budget.account_count, 0);
}

static void send_list(struct fake_peer *fake)
{
	struct wire_message head = fake_peer_head(fake, WIRE_LIST);

	fake_peer_send(fake, wire_message_encode_plain(&head, fake->room));
}

/* Root's question is answered in the round that sees it, however much of others lies there. */
static void test_peer__root_is_served_before_a_flood(void **state)
{
	enum {
		FLOODERS = 8,
		MESSAGES = 100,
		REST = FLOODERS * MESSAGES - ETWD_TURN_OTHERS_MAX
	};
	struct fake_peer *flooders[FLOODERS];
	struct fake_peer *root;

	(void)state;
	for (int i = 0; i < FLOODERS; i++)
		flooders[i] = fake_peer_join(STRANGER + (uid_t)i, WIRE_ROLE_CONTROLLER);
	root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	for (int i = 0; i < FLOODERS; i++) {
		for (int k = 0; k < MESSAGES; k++)
			send_list(flooders[i]);
	}
	send_list(root);
	fixture_step();
	assert_int_equal(etw_ipc_receive(root->fd, &root->message), 0);
	assert_int_equal(root->message.head.type, WIRE_SESSIONS);
	assert_true(fixture_host->budget.turn <= ETWD_TURN_OTHERS_MAX);
	/* Nobody is refused: all is answered in the end. */
	for (int i = 0; i < FLOODERS; i++) {
		for (int k = 0; k < MESSAGES; k++)
			fake_peer_expect(flooders[i], WIRE_SESSIONS);
		fake_peer_free(flooders[i]);
	}
	fake_peer_free(root);
}

/* How many of these have something that the host has not read. */
static unsigned unread_of(struct fake_peer *const *fakes, unsigned count)
{
	unsigned unread = 0;

	for (unsigned i = 0; i < count; i++) {
		int bytes = 0;

		assert_int_equal(ioctl(fakes[i]->peer->fd, FIONREAD, &bytes), 0);
		unread += bytes > 0;
	}
	return unread;
}

/* One uid with many connections does not take another's turns. */
static void test_peer__uids_take_turns(void **state)
{
	enum {
		MANY = 40
	};
	struct fake_peer *many[MANY];
	struct fake_peer *one;

	(void)state;
	for (int i = 0; i < MANY; i++)
		many[i] = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	one = fake_peer_join(STRANGER + 1, WIRE_ROLE_CONTROLLER);
	for (int i = 0; i < MANY; i++) {
		for (int k = 0; k < 50; k++)
			send_list(many[i]);
	}
	send_list(one);
	fake_peer_expect(one, WIRE_SESSIONS);
	/* A round of the slowest machine has one message: the others are far from done. */
	assert_true(unread_of(many, MANY) > 0);
	for (int i = 0; i < MANY; i++)
		fake_peer_free(many[i]);
	fake_peer_free(one);
}

/* Where each message uses up a whole round, the one in front does not get all of them. */
static void test_peer__slow_messages_take_turns(void **state)
{
	enum {
		MANY = 16,
		MESSAGES = 30
	};
	struct fake_peer *many[MANY];
	unsigned unread;

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		many[i] = fake_peer_join(STRANGER + i, WIRE_ROLE_CONTROLLER);
	for (unsigned i = 0; i < MANY * MESSAGES; i++)
		send_list(many[i % MANY]);
	for (int i = 0; i < MANY; i++) {
		etwd_budget_next_round(&fixture_host->budget);
		fixture_host->budget.turn = ETWD_TURN_OTHERS_MAX - 1; /* room for one */
		fixture_host->budget.turn_end_ns = UINT64_MAX;
		etwd_peers_ready(&fixture_host->peers);
	}
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(etw_ipc_receive(many[i]->fd, &many[i]->message), 0);
		assert_true(fake_peer_is_silent(many[i]));
	}
	unread = unread_of(many, MANY);
	assert_int_equal(unread, MANY);
	for (int i = 0; i < MANY; i++)
		fake_peer_free(many[i]);
}

static void test_peer__one_that_does_not_read_is_disconnected(void **state)
{
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	struct fake_peer *second = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	uint64_t queued = 0;

	(void)state;
	fixture_host->budget.limits[ETWD_QUEUED_BYTES].each = 64 * 1024;
	for (int i = 0; i < 100000 && !fake->peer->is_doomed; i++) {
		uint64_t now;

		etwd_peer_answer(fake->peer, WIRE_REPLY, 1, 0);
		etwd_peer_answer(second->peer, WIRE_REPLY, 1, 0);
		now = etwd_budget_used(&fixture_host->budget, STRANGER, ETWD_QUEUED_BYTES);
		queued = now > queued ? now : queued;
	}
	assert_true(fake->peer->is_doomed || second->peer->is_doomed);
	assert_true(queued > 32 * 1024 && queued <= 64 * 1024);
	fake_peer_leave(fake);
	fake_peer_leave(second);
	assert_int_equal(fixture_host->budget.used[ETWD_QUEUED_BYTES], 0);
}

/* Descriptors that wait with a message are the host's own, and few. */
static void test_peer__descriptors_in_queues_are_limited(void **state)
{
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	struct wire_message head = {.type = WIRE_RING_SET};
	struct wire_ring_set_ref ref = {1};

	(void)state;
	fixture_host->budget.limits[ETWD_QUEUED_FDS].each = 10;
	for (int i = 0; i < 100000 && !fake->peer->is_doomed; i++)
		etwd_peer_send(
			fake->peer,
			wire_message_encode_ring_set_ref(&head, &ref, fixture_host->peers.outgoing),
			STDERR_FILENO);
	assert_true(fake->peer->is_doomed);
	assert_int_equal(etwd_budget_used(&fixture_host->budget, STRANGER, ETWD_QUEUED_FDS), 10);
	fake_peer_leave(fake);
	assert_int_equal(fixture_host->budget.used[ETWD_QUEUED_FDS], 0);
}

static void test_peer__what_waits_goes_out_in_order(void **state)
{
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);

	(void)state;
	for (uint32_t i = 1; i <= 5000; i++)
		etwd_peer_answer(fake->peer, WIRE_REPLY, i, 0);
	assert_non_null(fake->peer->first);
	for (uint32_t i = 1; i <= 5000; i++) {
		fake_peer_expect(fake, WIRE_REPLY);
		assert_int_equal(fake->message.head.request, i);
	}
	assert_null(fake->peer->first);
	assert_int_equal(fake->peer->queued_bytes, 0);
	fake_peer_free(fake);
}

static void test_peer__one_that_says_nothing_is_disconnected(void **state)
{
	struct fake_peer *silent = fake_peer_make(STRANGER);
	struct fake_peer *later = fake_peer_make(STRANGER);
	struct fake_peer *greeted = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	uint64_t first_ms = silent->peer->hello_by_ms;

	(void)state;
	assert_int_equal(etwd_peers_check_hello(&fixture_host->peers, first_ms - 1), first_ms);
	later->peer->hello_by_ms = first_ms + 7;
	assert_int_equal(etwd_peers_check_hello(&fixture_host->peers, first_ms), first_ms + 7);
	assert_true(silent->peer->is_doomed);
	assert_int_equal(etwd_peers_check_hello(&fixture_host->peers, UINT64_MAX - 1), UINT64_MAX);
	assert_true(later->peer->is_doomed);
	assert_false(greeted->peer->is_doomed);
	fake_peer_expect_end(silent);
	fake_peer_free(silent);
	fake_peer_free(later);
	fake_peer_free(greeted);
}

/* A process with many registrations that dies does not hold the loop. */
static void test_peer__registrations_of_the_dead_end_in_slices(void **state)
{
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	unsigned rounds = 0;

	(void)state;
	for (uint32_t i = 0; i < ETWD_REGISTRATIONS_PER_PEER_MAX; i++) {
		struct wire_register body = {.registration = i, .provider = fixture_guid(i)};
		struct etwd_registration *registration;

		assert_int_equal(etwd_providers_register(&fixture_host->providers, fake->peer,
							 &etwd_client_of(fake->peer)->registrations,
							 &body, &registration),
				 0);
	}
	etwd_peer_doom(fake->peer, NULL);
	while (fixture_host->peers.count) {
		size_t before = fixture_host->providers.registration_count;

		fixture_step();
		rounds++;
		assert_true(before - fixture_host->providers.registration_count <=
			    ETWD_SWEEP_PIECES_MAX);
	}
	assert_true(rounds >= ETWD_REGISTRATIONS_PER_PEER_MAX / ETWD_SWEEP_PIECES_MAX);
	assert_int_equal(fixture_host->providers.registration_count, 0);
	assert_int_equal(fixture_host->budget.account_count, 0);
	fake_peer_free(fake);
}

/* As on a kernel that cannot refuse them. */
static void test_peer__descriptors_of_a_guarded_peer_stay_where_they_are(void **state)
{
	const struct etw_peer who = {getpid(), STRANGER, STRANGER};
	struct etwd_peer *peer;
	uint8_t room[64];
	int ends[2], kept[2];
	size_t bytes = wire_message_encode_plain(&(struct wire_message){WIRE_LIST, 1, 0},
						 fixture_host->peers.outgoing);

	(void)state;
	memcpy(room, fixture_host->peers.outgoing, bytes);
	assert_int_equal(pipe2(kept, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(etw_ipc_send(ends[0], room, bytes, &kept[1], 1), 0);
	close(kept[1]);
	assert_int_equal(etwd_peers_add(&fixture_host->peers, ends[1], &who, &peer), 0);
	assert_true(peer->is_guarded);
	while (fixture_host->peers.count)
		fixture_step();
	assert_int_equal(fixture_host->peers.parked.count, 1);
	assert_int_equal(fixture_host->peers.parked.fds[0], ends[1]);
	assert_int_equal(read(kept[0], room, 1), -1); /* the other end is open */
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(recv(ends[0], room, 1, 0), 0); /* but the connection has ended */
	assert_int_equal(fixture_host->budget.account_count, 0);
	close(ends[0]);
	close(kept[0]);
	close(ends[1]);
	fixture_host->peers.parked.count = 0;
}

static void test_peer__controllers_are_counted(void **state)
{
	struct fake_peer *silent = fake_peer_make(0);
	struct fake_peer *provider = fake_peer_join(0, WIRE_ROLE_PROVIDER);
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);

	(void)state;
	assert_int_equal(fixture_host->peers.controller_count, 2);
	fake_peer_greet(silent, WIRE_ROLE_CONSUMER);
	assert_int_equal(fixture_host->peers.controller_count, 1);
	fake_peer_leave(controller);
	assert_int_equal(fixture_host->peers.controller_count, 0);
	fake_peer_leave(provider);
	fake_peer_leave(stranger);
	fake_peer_leave(silent);
	assert_int_equal(fixture_host->peers.controller_count, 0);
}

static void test_peer__sentences(void **state)
{
	(void)state;
	assert_non_null(strstr(etwd_peer_limit(-ETOOMANYREFS), "the uid"));
	assert_non_null(strstr(etwd_peer_limit(-EUSERS), "all uids"));
	assert_string_equal(etwd_peer_limit(-ENOMEM), strerror(ENOMEM));
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_peer__##name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_found_until_it_is_doomed),
		TEST(connections_are_limited_and_root_has_room),
		TEST(those_who_connect_and_close_are_never_peers),
		TEST(root_is_served_before_a_flood),
		TEST(uids_take_turns),
		TEST(slow_messages_take_turns),
		TEST(one_that_does_not_read_is_disconnected),
		TEST(descriptors_in_queues_are_limited),
		TEST(what_waits_goes_out_in_order),
		TEST(one_that_says_nothing_is_disconnected),
		TEST(registrations_of_the_dead_end_in_slices),
		TEST(descriptors_of_a_guarded_peer_stay_where_they_are),
		TEST(controllers_are_counted),
		TEST(sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
