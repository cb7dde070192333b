/* SPDX-License-Identifier: MIT */
/*
 * The attackers of hostile.c: a process of some other uid that knows the protocol and the layout of rings and
 * delivery memory. Nothing here needs to succeed; what counts is what the others notice.
 */
#include "recording/hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <evntcons.h>
#include <evntrace.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "ipc/connection.h"
#include "ipc/runtime.h"
#include "recording/storm_shared.h"
#include "ring/writer.h"
#include "wire/etl_event.h"
#include "wire/message.h"

#define CONNECTIONS_MOST 4096
#define RINGS_MOST       64
#define ANSWER_MS        200
#define EVENT_BYTES_MOST 512
#define LATER_RINGS_MS   10000
#define LATER_EVENTS     100

struct attacker {
	const struct hostile_plan *plan;
	uint64_t end_ms;
	uint64_t done;
	unsigned chance;
	int socket; /* -1: none */
	struct etw_clock_page clock;
	struct etw_ring_set rings[RINGS_MOST];
	unsigned ring_count;
	uint8_t room[WIRE_MESSAGE_BYTES_MAX];
	struct etw_ipc_message message;
};

static uint32_t below(struct attacker *self, uint32_t limit)
{
	return (uint32_t)rand_r(&self->chance) % limit;
}

static uint64_t any_number(struct attacker *self)
{
	static const uint64_t corners[] = {0, 1, 7, 8, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, UINT64_MAX};

	if (below(self, 2))
		return corners[below(self, ARRAY_SIZE(corners))];
	return (uint64_t)below(self, UINT32_MAX) << 32 | below(self, UINT32_MAX);
}

static bool is_over(const struct attacker *self)
{
	return etw_monotonic_ms() >= self->end_ms;
}

static void rest_ms(uint32_t ms)
{
	usleep(ms * 1000);
}

static void leave(struct attacker *self)
{
	if (self->socket >= 0)
		close(self->socket);
	self->socket = -1;
}

/* Past the library: it would give up where this goes on. */
static int connect_raw(const struct attacker *self)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	size_t chars = strlen(self->plan->directory);

	if (fd < 0 || chars + sizeof("/" ETW_RUNTIME_SOCKET) > sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, self->plan->directory, chars);
	memcpy(address.sun_path + chars, "/" ETW_RUNTIME_SOCKET, sizeof("/" ETW_RUNTIME_SOCKET));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool join(struct attacker *self, enum wire_role role)
{
	struct wire_welcome welcome;
	int clock_fd = -1;

	leave(self);
	if (etw_runtime_connect(self->plan->directory, role, &self->socket, &welcome, &clock_fd) <
	    0) {
		self->socket = -1;
		rest_ms(5);
		return false;
	}
	if (!self->clock.page)
		(void)etw_clock_page_map(clock_fd, &self->clock);
	close(clock_fd);
	(void)fcntl(self->socket, F_SETFL, O_NONBLOCK);
	return true;
}

static bool say(struct attacker *self, size_t bytes, const int *fd)
{
	int r = etw_ipc_send(self->socket, self->room, bytes, fd, fd ? 1 : 0);

	self->done += r == 0;
	return r == 0;
}

static size_t put_register(struct attacker *self, const GUID *provider, uint32_t number)
{
	const struct wire_message head = {.type = WIRE_REGISTER, .request = number};
	const struct wire_register body = {.registration = number, .provider = *provider};

	return wire_message_encode_register(&head, &body, self->room);
}

/* Some message that is sound in itself, with numbers that need not be. */
static size_t put_any(struct attacker *self)
{
	static const uint32_t plain_types[] = {WIRE_LIST, WIRE_ENABLE_DONE, WIRE_REPLY,
					       WIRE_WELCOME};
	struct wire_message head = {.request = (uint32_t)any_number(self)};
	struct wire_unregister unregister = {(uint32_t)any_number(self)};
	struct wire_ring_set_ref ref = {(uint32_t)any_number(self)};
	struct wire_lease lease = {any_number(self)};
	struct wire_hello hello = {WIRE_PROTOCOL_VERSION, below(self, 5)};
	GUID guid = storm_provider;

	switch (below(self, 7)) {
	case 0:
		head.type = WIRE_UNREGISTER;
		return wire_message_encode_unregister(&head, &unregister, self->room);
	case 1:
		head.type = WIRE_RING_RETIRED;
		return wire_message_encode_ring_set_ref(&head, &ref, self->room);
	case 2:
		head.type = WIRE_LEASE;
		return wire_message_encode_lease(&head, &lease, self->room);
	case 3:
		head.type = WIRE_HELLO;
		return wire_message_encode_hello(&head, &hello, self->room);
	case 4:
		guid.Data1 = below(self, 1000);
		return put_register(self, &guid, (uint32_t)any_number(self));
	default:
		head.type = plain_types[below(self, ARRAY_SIZE(plain_types))];
		return wire_message_encode_plain(&head, self->room);
	}
}

static void send_garbage(struct attacker *self)
{
	size_t bytes = below(self, 4) ? put_any(self) : below(self, 4096);

	if (below(self, 4) == 0) {
		for (size_t i = 0; i < bytes; i++)
			self->room[i] = (uint8_t)below(self, 256);
	} else if (bytes && below(self, 2)) {
		self->room[below(self, (uint32_t)bytes)] = (uint8_t)below(self, 256);
	}
	if (self->socket < 0 || !say(self, bytes ? bytes : 1, NULL)) {
		if (below(self, 3))
			(void)join(self, (enum wire_role)(1 + below(self, 3)));
		else
			self->socket = connect_raw(self);
	}
}

static void hold_connections(struct attacker *self)
{
	static int held[CONNECTIONS_MOST];
	unsigned count = 0;

	while (!is_over(self)) {
		int fd = count < CONNECTIONS_MOST ? connect_raw(self) : -1;

		if (fd < 0) {
			rest_ms(20);
			if (count && below(self, 4) == 0)
				close(held[--count]);
			continue;
		}
		held[count++] = fd;
		self->done++;
	}
	while (count)
		close(held[--count]);
}

static void take_answers(struct attacker *self)
{
	while (self->socket >= 0 && etw_ipc_receive(self->socket, &self->message) == 0)
		;
}

static void flood_registrations(struct attacker *self)
{
	GUID guid = storm_provider;
	uint32_t number = 1;

	while (!is_over(self)) {
		guid.Data2 = (uint16_t)number;
		if (self->socket < 0 || !say(self, put_register(self, &guid, number++), NULL)) {
			take_answers(self);
			if (below(self, 50) == 0 || self->socket < 0)
				(void)join(self, WIRE_ROLE_PROVIDER);
		}
	}
}

static void control_others(struct attacker *self)
{
	static struct wire_session_config config;
	static struct wire_control control;
	struct wire_message head = {.request = 1};
	struct wire_enable_provider enable = {.provider = storm_provider,
					      .handle = self->plan->session_id,
					      .code = below(self, 3),
					      .timeout_ms = below(self, 2000)};

	while (!is_over(self)) {
		size_t bytes = 0;

		switch (below(self, 4)) {
		case 0:
			head.type = WIRE_CONTROL;
			control.code = below(self, 5);
			control.handle = below(self, 2) ? self->plan->session_id : below(self, 70);
			strcpy(control.name, STORM_SESSION);
			bytes = wire_message_encode_control(&head, &control, self->room);
			break;
		case 1:
			head.type = WIRE_ENABLE_PROVIDER;
			bytes = wire_message_encode_enable_provider(&head, &enable, self->room);
			break;
		case 2:
			head.type = WIRE_START;
			strcpy(config.name, "attack");
			config.buffer_kib = (uint32_t)any_number(self);
			config.maximum_buffers = (uint32_t)any_number(self);
			config.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
			bytes = wire_message_encode_session_config(&head, &config, self->room);
			break;
		default:
			head.type = WIRE_LIST;
			bytes = wire_message_encode_plain(&head, self->room);
			break;
		}
		if (self->socket < 0 || !say(self, bytes, NULL))
			(void)join(self, WIRE_ROLE_CONTROLLER);
		take_answers(self);
	}
}

static void stay_deaf(struct attacker *self)
{
	const struct wire_message head = {.type = WIRE_LIST, .request = 1};

	while (!is_over(self)) {
		size_t bytes = wire_message_encode_plain(&head, self->room);

		if (self->socket >= 0 && say(self, bytes, NULL))
			continue;
		rest_ms(10);
		if (self->socket < 0 || below(self, 30) == 0)
			(void)join(self, (enum wire_role)(1 + below(self, 3)));
	}
}

static void send_descriptors(struct attacker *self)
{
	int files[2];

	if (pipe2(files, O_CLOEXEC) < 0)
		return;
	while (!is_over(self)) {
		size_t bytes = put_any(self);

		if (self->socket < 0 || !say(self, bytes, &files[below(self, 2)])) {
			leave(self);
			self->socket = connect_raw(self);
		}
	}
	close(files[0]);
	close(files[1]);
}

static void come_and_go(struct attacker *self)
{
	while (!is_over(self)) {
		if (below(self, 2)) {
			(void)join(self, (enum wire_role)(1 + below(self, 3)));
		} else {
			leave(self);
			self->socket = connect_raw(self);
		}
		self->done += self->socket >= 0;
	}
}

/* Waits for messages and maps what rings come with them; the old ones stay. */
static struct etw_ring_set *take_rings(struct attacker *self)
{
	struct pollfd ready = {self->socket, POLLIN, 0};
	struct etw_ring_set *newest = NULL;

	while (poll(&ready, 1, ANSWER_MS) > 0 &&
	       etw_ipc_receive(self->socket, &self->message) == 0) {
		const struct etw_ring_set_fds fds = {self->message.fds[0], self->message.fds[1]};

		if (self->message.head.type != WIRE_RING_SET || fds.page < 0 || fds.rings < 0)
			continue;
		if (self->ring_count == RINGS_MOST)
			etw_ring_set_unmap(&self->rings[--self->ring_count]);
		if (etw_ring_set_map(&fds, &self->rings[self->ring_count]) == 0)
			newest = &self->rings[self->ring_count++];
	}
	return newest;
}

static struct etw_ring_set *get_rings(struct attacker *self)
{
	struct etw_ring_set *rings = self->socket >= 0 ? take_rings(self) : NULL;

	if (rings)
		return rings;
	if (!join(self, WIRE_ROLE_PROVIDER) ||
	    !say(self, put_register(self, &storm_provider, 1), NULL))
		return NULL;
	return take_rings(self);
}

/* Another's, none, or its own. */
static uint32_t any_pid(struct attacker *self)
{
	switch (below(self, 3)) {
	case 0:
		return self->plan->victim_pid;
	case 1:
		return below(self, 4);
	default:
		return (uint32_t)getpid();
	}
}

/* An event of the storm's provider, most often with something in it that is not true. */
static void forge(struct attacker *self, const struct etw_ring_set *rings)
{
	struct etw_ring_span span;
	uint32_t bytes = 16 + below(self, EVENT_BYTES_MOST);
	struct wire_event_header header = {
		.bytes = le16_of((uint16_t)bytes),
		.header_type = (uint8_t)(below(self, 4) ? WIRE_HEADER_EVENT64
							: below(self, WIRE_HEADER_TYPES)),
		.header_flag = below(self, 4) ? WIRE_EVENT_FLAG_TRACE : WIRE_EVENT_FLAG_MESSAGE,
		.flags = le16_of((uint16_t)below(self, 4)),
		.process_id = le32_of(any_pid(self)),
		.thread_id = le32_of(self->plan->victim_pid),
	};
	uint8_t event[EVENT_BYTES_MOST + 16];

	if (etw_ring_reserve(rings, &self->clock, bytes, &span) < 0) {
		rest_ms(1);
		return;
	}
	for (uint32_t i = 0; i < bytes; i++)
		event[i] = (uint8_t)below(self, 256);
	header.time_raw = le64_of(below(self, 4) ? (uint64_t)span.time_raw : any_number(self));
	memcpy(header.provider, &storm_provider, sizeof(header.provider));
	if (below(self, 4) == 0)
		header.provider[0] ^= 1;
	memcpy(event, &header, bytes < sizeof(header) ? bytes : sizeof(header));
	memcpy(span.at, event, bytes);
	etw_ring_commit(&span);
	self->done++;
}

static void forge_events(struct attacker *self)
{
	struct etw_ring_set *rings = NULL;

	while (!is_over(self)) {
		if (!rings || below(self, 10000) == 0)
			rings = get_rings(self);
		for (int i = 0; rings && i < 64; i++)
			forge(self, rings);
		rest_ms(1);
	}
}

static void write_ring_numbers(struct attacker *self, const struct etw_ring_set *rings,
			       bool is_count)
{
	for (uint32_t cpu = 0; cpu < rings->cpu_count; cpu++) {
		struct wire_ring *ring = (void *)etw_ring_at(rings, cpu);

		if (is_count) {
			store_relaxed(&ring->lost_no_buffer, any_number(self));
			store_relaxed(&ring->lost_too_large, any_number(self));
			continue;
		}
		store_relaxed(&ring->word, any_number(self));
	}
	if (is_count)
		store_relaxed(&etw_ring_set_page(rings)->refused, any_number(self));
}

static void lie_about_loss(struct attacker *self)
{
	struct etw_ring_set *rings = NULL;

	while (!is_over(self)) {
		if (!rings)
			rings = get_rings(self);
		if (rings)
			write_ring_numbers(self, rings, /* is_count= */ true);
		self->done++;
		rest_ms(1 + below(self, 20));
	}
}

static void break_rings(struct attacker *self)
{
	while (!is_over(self)) {
		struct etw_ring_set *rings = get_rings(self);

		if (rings) {
			write_ring_numbers(self, rings, /* is_count= */ false);
			self->done++;
		}
		/* All that it ever had is filled again, also what the host has done with. */
		for (unsigned i = 0; i < self->ring_count && !is_over(self); i++) {
			const struct etw_ring_set *old = &self->rings[i];

			memset(old->memory + old->rings_at, (int)below(self, 256),
			       old->total_bytes - old->rings_at);
		}
		rest_ms(below(self, 20));
	}
}

uint64_t hostile_attack(const struct hostile_plan *plan, enum hostile_attack attack,
			uint32_t seconds, unsigned chance)
{
	static struct attacker self;

	self.plan = plan;
	self.end_ms = etw_monotonic_ms() + seconds * UINT64_C(1000);
	self.chance = chance;
	self.socket = -1;
	etw_ipc_message_init(&self.message);
	switch (attack) {
	case HOSTILE_HOLD_CONNECTIONS:
		hold_connections(&self);
		break;
	case HOSTILE_REGISTRATIONS:
		flood_registrations(&self);
		break;
	case HOSTILE_CONTROL:
		control_others(&self);
		break;
	case HOSTILE_DEAF:
		stay_deaf(&self);
		break;
	case HOSTILE_DESCRIPTORS:
		send_descriptors(&self);
		break;
	case HOSTILE_COMING_AND_GOING:
		come_and_go(&self);
		break;
	case HOSTILE_FORGE:
		forge_events(&self);
		break;
	case HOSTILE_COUNT:
		lie_about_loss(&self);
		break;
	case HOSTILE_BREAK:
		break_rings(&self);
		break;
	default:
		while (!is_over(&self)) {
			send_garbage(&self);
			take_answers(&self);
		}
		break;
	}
	etw_ipc_message_done(&self.message);
	return self.done;
}

uint64_t hostile_forge_for_later(const struct hostile_plan *plan)
{
	static struct attacker self;
	struct etw_ring_set *rings = NULL;
	struct etw_ring_span gap, span;
	struct wire_event_header header = {
		.bytes = le16_of(sizeof(header)),
		.header_type = WIRE_HEADER_EVENT64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.process_id = le32_of(plan->victim_pid),
		.thread_id = le32_of(plan->victim_pid),
	};
	cpu_set_t one;

	self.plan = plan;
	self.end_ms = etw_monotonic_ms() + LATER_RINGS_MS;
	self.socket = -1;
	etw_ipc_message_init(&self.message);
	memcpy(header.provider, &storm_provider, sizeof(header.provider));
	/* All in one ring, behind the gap. */
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
	while (!rings && !is_over(&self))
		rings = get_rings(&self);
	if (!rings || etw_ring_reserve(rings, &self.clock, sizeof(header), &gap) < 0)
		return 0;
	for (; self.done < LATER_EVENTS; self.done++) {
		if (etw_ring_reserve(rings, &self.clock, sizeof(header), &span) < 0)
			break;
		header.time_raw = le64_of((uint64_t)span.time_raw);
		memcpy(span.at, &header, sizeof(header));
		etw_ring_commit(&span);
	}
	return self.done;
}
