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
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <evntcons.h>
#include <evntrace.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "ipc/runtime.h"
#include "recording/hostile_reach.h"
#include "recording/storm_shared.h"
#include "ring/writer.h"
#include "wire/etl_event.h"
#include "wire/message.h"

#define CONNECTIONS_MOST 4096
#define ANSWER_MS        200
#define EVENT_BYTES_MOST 512
#define LATER_RINGS_MS   10000
#define LATER_EVENTS     100

static void rest_ms(uint32_t ms)
{
	usleep(ms * 1000);
}

/* Of any type, also one that there is not, and with a body that is too long, too short, or of another type. */
static size_t put_odd_body(struct attacker *self)
{
	struct wire_message head = {.type = attacker_below(self, 64), .request = 1};
	size_t head_bytes = wire_message_encode_plain(&head, self->room);
	size_t bytes = attacker_below(self, 3) ? attacker_below(self, 600)
					       : attacker_below(self, sizeof(self->room) - 64);

	for (size_t i = 0; i < bytes; i++)
		self->room[head_bytes + i] = (uint8_t)(i % 4 ? 0 : attacker_below(self, 256));
	return head_bytes + bytes;
}

/* Some message that is sound in itself, with numbers that need not be. */
static size_t put_any(struct attacker *self)
{
	static const uint32_t plain_types[] = {WIRE_LIST, WIRE_ENABLE_DONE, WIRE_REPLY,
					       WIRE_WELCOME};
	struct wire_message head = {.request = (uint32_t)attacker_any_number(self)};
	struct wire_unregister unregister = {(uint32_t)attacker_any_number(self)};
	struct wire_ring_set_ref ref = {(uint32_t)attacker_any_number(self)};
	struct wire_lease lease = {attacker_any_number(self)};
	struct wire_hello hello = {WIRE_PROTOCOL_VERSION, attacker_below(self, 5)};
	GUID guid = storm_provider;

	switch (attacker_below(self, 9)) {
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
		guid.Data1 = attacker_below(self, 1000);
		return attacker_put_register(self, &guid, (uint32_t)attacker_any_number(self));
	case 5:
	case 6:
		return put_odd_body(self);
	default:
		head.type = plain_types[attacker_below(self, ARRAY_SIZE(plain_types))];
		return wire_message_encode_plain(&head, self->room);
	}
}

static void send_garbage(struct attacker *self)
{
	size_t bytes = attacker_below(self, 4) ? put_any(self) : attacker_below(self, 4096);

	if (attacker_below(self, 4) == 0) {
		for (size_t i = 0; i < bytes; i++)
			self->room[i] = (uint8_t)attacker_below(self, 256);
	} else if (bytes && attacker_below(self, 2)) {
		self->room[attacker_below(self, (uint32_t)bytes)] = (uint8_t)attacker_below(self,
											    256);
	}
	if (self->socket < 0 || !attacker_say(self, bytes ? bytes : 1, NULL)) {
		if (attacker_below(self, 3))
			(void)attacker_join(self, (enum wire_role)(1 + attacker_below(self, 3)));
		else
			(void)attacker_connect(self);
	}
}

static void hold_connections(struct attacker *self)
{
	static int held[CONNECTIONS_MOST];
	unsigned count = 0;

	while (!attacker_is_over(self)) {
		int fd = count < CONNECTIONS_MOST ? attacker_connect_more(self) : -1;

		if (fd < 0) {
			rest_ms(20);
			if (count && attacker_below(self, 4) == 0)
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

	while (!attacker_is_over(self)) {
		guid.Data2 = (uint16_t)number;
		if (self->socket < 0 ||
		    !attacker_say(self, attacker_put_register(self, &guid, number++), NULL)) {
			take_answers(self);
			if (attacker_below(self, 50) == 0 || self->socket < 0)
				(void)attacker_join(self, WIRE_ROLE_PROVIDER);
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
					      .code = attacker_below(self, 3),
					      .timeout_ms = attacker_below(self, 2000)};

	while (!attacker_is_over(self)) {
		size_t bytes = 0;

		switch (attacker_below(self, 4)) {
		case 0:
			head.type = WIRE_CONTROL;
			control.code = attacker_below(self, 5);
			control.handle = attacker_below(self, 2) ? self->plan->session_id
								 : attacker_below(self, 70);
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
			config.buffer_kib = (uint32_t)attacker_any_number(self);
			config.maximum_buffers = (uint32_t)attacker_any_number(self);
			config.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
			bytes = wire_message_encode_session_config(&head, &config, self->room);
			break;
		default:
			head.type = WIRE_LIST;
			bytes = wire_message_encode_plain(&head, self->room);
			break;
		}
		if (self->socket < 0 || !attacker_say(self, bytes, NULL))
			(void)attacker_join(self, WIRE_ROLE_CONTROLLER);
		take_answers(self);
	}
}

static void stay_deaf(struct attacker *self)
{
	const struct wire_message head = {.type = WIRE_LIST, .request = 1};

	while (!attacker_is_over(self)) {
		size_t bytes = wire_message_encode_plain(&head, self->room);

		if (self->socket >= 0 && attacker_say(self, bytes, NULL))
			continue;
		rest_ms(10);
		if (self->socket < 0 || attacker_below(self, 30) == 0)
			(void)attacker_join(self, (enum wire_role)(1 + attacker_below(self, 3)));
	}
}

enum odd_file {
	ODD_PIPE_OUT,
	ODD_PIPE_IN,
	ODD_SOCKET,
	ODD_FOLDER,
	ODD_MEMORY, /* without seals; it is cut while it may be in use */
	ODD_ITSELF, /* the connection on which it is sent */
	ODD_FILES,
};

static bool open_odd_files(int files[ODD_FILES])
{
	int pair[2];

	if (pipe2(files, O_CLOEXEC) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	close(pair[1]);
	files[ODD_SOCKET] = pair[0];
	files[ODD_FOLDER] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	files[ODD_MEMORY] = memfd_create("odd", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	files[ODD_ITSELF] = -1;
	return files[ODD_FOLDER] >= 0 && files[ODD_MEMORY] >= 0;
}

static void send_descriptors(struct attacker *self)
{
	int files[ODD_FILES];

	if (!open_odd_files(files))
		return;
	while (!attacker_is_over(self)) {
		size_t bytes = put_any(self);
		uint32_t kind = attacker_below(self, ODD_FILES);

		(void)!ftruncate(files[ODD_MEMORY], attacker_below(self, 2) * 65536);
		files[ODD_ITSELF] = self->socket;
		if (self->socket < 0 || !attacker_say(self, bytes, &files[kind]))
			(void)attacker_connect(self);
	}
	for (int i = 0; i < ODD_ITSELF; i++)
		close(files[i]);
}

static void come_and_go(struct attacker *self)
{
	while (!attacker_is_over(self)) {
		if (attacker_below(self, 2)) {
			(void)attacker_join(self, (enum wire_role)(1 + attacker_below(self, 3)));
		} else {
			(void)attacker_connect(self);
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
		if (self->ring_count == HOSTILE_RINGS_MOST)
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
	return attacker_register(self) ? take_rings(self) : NULL;
}

/* Another's, none, or its own. */
static uint32_t any_pid(struct attacker *self)
{
	switch (attacker_below(self, 3)) {
	case 0:
		return self->plan->victim_pid;
	case 1:
		return attacker_below(self, 4);
	default:
		return (uint32_t)getpid();
	}
}

/* An event of the storm's provider, most often with something in it that is not true. */
static void forge(struct attacker *self, const struct etw_ring_set *rings)
{
	struct etw_ring_span span;
	uint32_t bytes = 16 + attacker_below(self, EVENT_BYTES_MOST);
	struct wire_event_header header = {
		.bytes = le16_of((uint16_t)bytes),
		.header_type = (uint8_t)(attacker_below(self, 4)
						 ? WIRE_HEADER_EVENT64
						 : attacker_below(self, WIRE_HEADER_TYPES)),
		.header_flag = attacker_below(self, 4) ? WIRE_EVENT_FLAG_TRACE
						       : WIRE_EVENT_FLAG_MESSAGE,
		.flags = le16_of((uint16_t)attacker_below(self, 4)),
		.process_id = le32_of(any_pid(self)),
		.thread_id = le32_of(self->plan->victim_pid),
	};
	uint8_t event[EVENT_BYTES_MOST + 16];

	if (etw_ring_reserve(rings, &self->clock, bytes, &span) < 0) {
		rest_ms(1);
		return;
	}
	for (uint32_t i = 0; i < bytes; i++)
		event[i] = (uint8_t)attacker_below(self, 256);
	header.time_raw = le64_of(attacker_below(self, 4) ? (uint64_t)span.time_raw
							  : attacker_any_number(self));
	memcpy(header.provider, &storm_provider, sizeof(header.provider));
	if (attacker_below(self, 4) == 0)
		header.provider[0] ^= 1;
	memcpy(event, &header, bytes < sizeof(header) ? bytes : sizeof(header));
	memcpy(span.at, event, bytes);
	etw_ring_commit(&span);
	self->done++;
}

static void forge_events(struct attacker *self)
{
	struct etw_ring_set *rings = NULL;

	while (!attacker_is_over(self)) {
		if (!rings || attacker_below(self, 10000) == 0)
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
			store_relaxed(&ring->lost_no_buffer, attacker_any_number(self));
			store_relaxed(&ring->lost_too_large, attacker_any_number(self));
			continue;
		}
		store_relaxed(&ring->word, attacker_any_number(self));
	}
	if (is_count)
		store_relaxed(&etw_ring_set_page(rings)->refused, attacker_any_number(self));
}

static void lie_about_loss(struct attacker *self)
{
	struct etw_ring_set *rings = NULL;

	while (!attacker_is_over(self)) {
		if (!rings)
			rings = get_rings(self);
		if (rings)
			write_ring_numbers(self, rings, /* is_count= */ true);
		self->done++;
		rest_ms(1 + attacker_below(self, 20));
	}
}

static void break_rings(struct attacker *self)
{
	while (!attacker_is_over(self)) {
		struct etw_ring_set *rings = get_rings(self);

		if (rings) {
			write_ring_numbers(self, rings, /* is_count= */ false);
			self->done++;
		}
		/* All that it ever had is filled again, also what the host has done with. */
		for (unsigned i = 0; i < self->ring_count && !attacker_is_over(self); i++) {
			const struct etw_ring_set *old = &self->rings[i];

			memset(old->memory + old->rings_at, (int)attacker_below(self, 256),
			       old->total_bytes - old->rings_at);
		}
		rest_ms(attacker_below(self, 20));
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
	case HOSTILE_CONSUME:
		attacker_consume(&self);
		break;
	case HOSTILE_CLAIM_MISSED:
		attacker_claim_missed(&self);
		break;
	case HOSTILE_TEAR:
		attacker_tear_memory(&self);
		break;
	case HOSTILE_ANSWER:
		attacker_answer_falsely(&self);
		break;
	default:
		while (!attacker_is_over(&self)) {
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
	while (!rings && !attacker_is_over(&self))
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
