/* SPDX-License-Identifier: MIT */
/*
 * A host that lies: messages of every kind that a provider hears with anything in them, descriptors that are no rings or
 * change behind its back, and rings that it writes into while threads write events. The process does what it can believe,
 * ends the conversation or refuses the event; it never dies, and no write stands still.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/atomic.h"
#include "fake_host/fake_session.h"
#include "provider/event.h"
#include "provider/link.h"
#include "provider/link_message.h"
#include "provider/lock.h"
#include "provider/ring_sets.h"
#include "wire/clock_page.h"

#define ROUNDS       6000
#define SESSIONS     3
#define WRITERS      2
#define BUFFER_BYTES 4096
#define SEED         0x9E3779B97F4A7C15
#define SEALS        (F_SEAL_SHRINK | F_SEAL_GROW)

static const GUID some_provider = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID activity;

static struct etw_link the_link;
static struct etw_ipc_message message;
static struct fake_session sessions[SESSIONS];
static uint8_t room[WIRE_MESSAGE_BYTES_MAX];
static uint64_t state_of_random = SEED;
static int host; /* the other end */
static struct etw_clock_page clock_page;
static uint64_t handle;
static uint32_t number;
static bool is_over; /* atomic */

static uint64_t any(void)
{
	state_of_random ^= state_of_random << 13;
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return state_of_random;
}

static uint32_t below(uint32_t limit)
{
	return (uint32_t)(any() >> 16) % limit;
}

/* Mostly small numbers, as those that mean something are. */
static uint64_t some_number(void)
{
	switch (below(4)) {
	case 0:
		return below(8);
	case 1:
		return UINT64_C(1) << below(64);
	case 2:
		return (uint64_t)-1 - below(8);
	default:
		return any();
	}
}

static int make_clock(void)
{
	const struct wire_clock_page page = {.magic = WIRE_CLOCK_PAGE_MAGIC,
					     .version = 1,
					     .kind = WIRE_CLOCK_MONOTONIC_RAW,
					     .frequency = 1000000000};
	const int fd = memfd_create("clock", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, WIRE_CLOCK_PAGE_BYTES) ||
	    pwrite(fd, &page, sizeof(page), 0) != sizeof(page) || fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		return -1;
	return fd;
}

static void connect_link(void)
{
	static const struct etw_runtime_places places = {.first = "/nonexistent/etw"};
	int ends[2];

	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	etw_link_init(&the_link, 0, &places);
	the_link.state = ETW_LINK_CONNECTED;
	the_link.clock = clock_page.page;
	the_link.socket = etw_own_fd_take(ends[0]);
	host = ends[1];
}

static int set_up(void **state)
{
	struct etw_registration *registration;
	int fd = make_clock();

	(void)state;
	if (fd < 0 || etw_clock_page_map(fd, &clock_page) < 0)
		return -1;
	(void)close(fd);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		if (fake_session_open(&sessions[i], i + 1, 4, BUFFER_BYTES,
				      i == 1 ? WIRE_RING_INDEPENDENT : 0) < 0)
			return -1;
	}
	etw_ipc_message_init(&message);
	etw_provider_lock();
	if (etw_fork_prepare() < 0)
		return -1;
	connect_link();
	registration = etw_registration_open(&some_provider, NULL, NULL);
	if (!registration)
		return -1;
	handle = etw_registration_handle(registration);
	number = etw_registration_number(registration);
	registration->links[0].is_sent = true;
	etw_provider_unlock();
	store_release(&is_over, false);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	etw_provider_lock();
	the_link.state = ETW_LINK_ABSENT;
	etw_link_end_states(&the_link);
	etw_link_abandon(&the_link);
	(void)close(host);
	etw_registration_close(etw_registration_of_handle(handle));
	etw_provider_unlock();
	etw_ipc_message_done(&message);
	for (unsigned i = 0; i < SESSIONS; i++)
		fake_session_close(&sessions[i]);
	etw_clock_page_unmap(&clock_page);
	return 0;
}

/* Sends @bytes of the room; the provider does what they say, and connects anew when it ends the conversation. */
static void say(size_t bytes, const int *fds, unsigned fd_count)
{
	/* It may have ended the conversation behind its last answer. */
	const int r = etw_ipc_send(host, room, bytes, fds, fd_count);

	assert_true(r == 0 || r == -EPIPE);
	if (r == 0 && etw_ipc_receive(the_link.socket.number, &message) == 0 &&
	    etw_link_handle(&the_link, &message) == 0) {
		/* What it answered is of no interest. */
		while (recv(host, room, sizeof(room), MSG_DONTWAIT | MSG_TRUNC) > 0)
			;
		return;
	}
	etw_provider_lock();
	etw_link_abandon(&the_link);
	(void)close(host);
	connect_link();
	etw_provider_unlock();
}

static struct wire_enable some_enable(void)
{
	static uint8_t filter[300];
	struct wire_enable enable = {
		.registration = below(8) ? number : (uint32_t)some_number(),
		.control_code = below(8) ? below(3) : (uint32_t)some_number(),
		.has_callback = below(2),
		.level = (uint8_t)any(),
		.match_any = some_number(),
		.match_all = some_number(),
		.filter_type = (uint32_t)some_number(),
		.filter = {filter, below(sizeof(filter))},
	};

	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		enable.slots[i] = (struct wire_enable_slot){
			.is_used = below(2),
			.session_id = (uint32_t)some_number(),
			.ring_set = below(8) ? below(2 * SESSIONS) : (uint32_t)some_number(),
			.level = (uint8_t)(below(3) ? 255 : any()),
			.property = below(2) ? 0 : (uint32_t)some_number(),
			.match_any = below(2) ? UINT64_MAX : some_number(),
			.match_all = below(2) ? 0 : some_number(),
		};
	}
	return enable;
}

/* A memfd of a set that cannot be: of another size than it says, unsealed, or with numbers that make no sense. */
static int forged_page(void)
{
	struct wire_ring_set header;
	int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(pread(sessions[0].fds.page, &header, sizeof(header), 0), sizeof(header));
	for (unsigned i = below(3); i > 0; i--)
		((uint32_t *)&header)[below(sizeof(header) / 4)] = (uint32_t)some_number();
	assert_int_equal(ftruncate(fd, below(2) ? sessions[0].set.rings_at : below(8192)), 0);
	(void)!pwrite(fd, &header, sizeof(header), 0);
	if (below(4))
		(void)fcntl(fd, F_ADD_SEALS, SEALS);
	return fd;
}

static void say_ring_set(void)
{
	const struct wire_message head = {.type = WIRE_RING_SET,
					  .request = (uint32_t)some_number()};
	const struct wire_ring_set_ref ref = {below(8) ? 1 + below(SESSIONS)
						       : (uint32_t)some_number()};
	const struct fake_session *session = &sessions[ref.ring_set % SESSIONS];
	const size_t bytes = wire_message_encode_ring_set_ref(&head, &ref, room);
	const int forged = forged_page();
	int fds[2] = {session->fds.page, session->fds.rings};
	unsigned count = 2;

	switch (below(8)) {
	case 0:
		fds[0] = forged;
		break;
	case 1:
		fds[1] = forged;
		break;
	case 2:
		fds[0] = host;
		break;
	case 3:
		fds[0] = session->fds.rings;
		fds[1] = session->fds.page;
		break;
	case 4:
		count = below(2);
		break;
	default:
		break;
	}
	say(bytes, fds, count);
	(void)close(forged);
}

static void say_enable(void)
{
	const struct wire_message head = {.type = WIRE_ENABLE, .request = below(3)};
	const struct wire_enable enable = some_enable();
	size_t bytes = wire_message_encode_enable(&head, &enable, room);

	if (!bytes) /* a number that cannot be sent */
		return;
	if (!below(16))
		bytes = 1 + below((uint32_t)bytes);
	say(bytes, NULL, 0);
}

static void say_retire(void)
{
	const struct wire_message head = {.type = WIRE_RING_RETIRE, .request = below(3)};
	const struct wire_ring_set_ref ref = {below(2 * SESSIONS)};

	say(wire_message_encode_ring_set_ref(&head, &ref, room), NULL, 0);
}

static void say_reply(void)
{
	const struct wire_message head = {.type = WIRE_REPLY,
					  .request = (uint32_t)some_number(),
					  .status = -(int32_t)below(140)};

	say(wire_message_encode_plain(&head, room), NULL, 0);
}

static void say_anything(void)
{
	const size_t bytes = 1 + below(600);

	for (size_t i = 0; i < bytes; i++)
		room[i] = (uint8_t)any();
	if (below(4)) {
		memset(room, 0, bytes < 4 ? bytes : 4);
		room[0] = (uint8_t)below(60);
	}
	say(bytes, NULL, 0);
}

/* Into the control page and the heads, queues and maps of rings, which writers go by. */
static void scribble(void)
{
	const struct fake_session *session = &sessions[below(SESSIONS)];
	const uint64_t bytes = session->set.total_bytes;
	uint64_t at = below(2) ? any() % bytes : any() % (session->set.rings_at + 4096);

	for (unsigned i = below(8); i > 0 && at + 8 <= bytes; i--, at += 8)
		store_release((uint64_t *)(void *)(session->set.memory + (at & ~UINT64_C(7))),
			      some_number());
}

/* Returns how many writes returned. */
static void *write_events(void *context)
{
	static const char payload[200] = "payload";
	const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 1};
	EVENT_DATA_DESCRIPTOR data[2];
	uintptr_t *count = context;

	EventDataDescCreate(&data[0], payload, sizeof(payload));
	EventDataDescCreate(&data[1], payload, 9);
	while (!load_acquire(&is_over)) {
		(void)etw_provider_write(handle, &(struct etw_event_request){
							 .descriptor = &descriptor,
							 .data = data,
							 .data_count = 2,
							 .activity = &activity,
						 });
		add_relaxed(count, (uintptr_t)1);
	}
	return NULL;
}

static void run(void (*const *lies)(void), unsigned lie_count)
{
	uintptr_t counts[WRITERS] = {0};
	pthread_t threads[WRITERS];

	for (unsigned i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_events, &counts[i]), 0);
	for (unsigned i = 0; i < ROUNDS; i++)
		lies[below(lie_count)]();
	/* Each of them still gets on. */
	for (unsigned i = 0; i < WRITERS; i++) {
		const uintptr_t before = load_relaxed(&counts[i]);

		while (load_relaxed(&counts[i]) == before)
			(void)usleep(1000);
	}
	store_release(&is_over, true);
	for (unsigned i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void test_hostile_host__says_anything(void **state)
{
	static void (*const lies[])(void) = {say_enable, say_enable,   say_ring_set, say_retire,
					     say_reply,  say_anything, say_ring_set};

	(void)state;
	run(lies, sizeof(lies) / sizeof(lies[0]));
}

static void test_hostile_host__writes_into_its_rings(void **state)
{
	static void (*const lies[])(void) = {scribble, scribble,   scribble,
					     scribble, say_enable, say_ring_set};

	(void)state;
	run(lies, sizeof(lies) / sizeof(lies[0]));
}

/* Memory that a host could shorten under its writers is not taken: to read behind its end is a SIGBUS. */
static void test_hostile_host__unsealed_clocks_are_refused(void **state)
{
	struct wire_clock_page page;
	struct etw_clock_page clock;
	int fd = memfd_create("clock", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	(void)state;
	memcpy(&page, (const void *)clock_page.page, sizeof(page));
	assert_int_equal(ftruncate(fd, WIRE_CLOCK_PAGE_BYTES), 0);
	assert_int_equal(pwrite(fd, &page, sizeof(page), 0), sizeof(page));
	assert_int_equal(etw_clock_page_map(fd, &clock), -EPROTO);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(etw_clock_page_map(fd, &clock), 0);
	etw_clock_page_unmap(&clock);
	(void)close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_hostile_host__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(says_anything),
		TEST(writes_into_its_rings),
		TEST(unsealed_clocks_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
