/* SPDX-License-Identifier: MIT */
/*
 * Attackers that use what the host gives them: a consumer that scribbles over its delivery memory and gives back what it never
 * got, one that claims to have missed everything, a provider that takes the pages out of its rings from under the host, and one
 * that answers what nobody asked for. Where one reaches what it must not reach it ends with HOSTILE_REACHED.
 */
#include "recording/hostile_reach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "recording/storm_shared.h"
#include "wire/delivery_layout.h"

#define ANSWER_MS   200
#define MEMORY_MOST (64u << 20)

struct delivery {
	uint8_t *memory;
	size_t bytes;
	int fd;
};

static void give_up(struct delivery *delivery)
{
	if (delivery->memory)
		(void)munmap(delivery->memory, delivery->bytes);
	if (delivery->fd >= 0)
		(void)close(delivery->fd);
	*delivery = (struct delivery){.fd = -1};
}

/* One of the few numbers that attackers of all processes use, or one of its own. */
static uint64_t any_consumer(struct attacker *self)
{
	return attacker_below(self, 2) ? 1 + attacker_below(self, 4) : attacker_any_number(self);
}

static bool ask_for_delivery(struct attacker *self)
{
	const struct wire_message head = {.type = WIRE_SUBSCRIBE, .request = 1};
	struct wire_subscribe body = {
		.name = STORM_SESSION,
		.consumer = any_consumer(self),
		.memory_bytes = attacker_below(self, 2) ? attacker_any_number(self)
							: attacker_below(self, MEMORY_MOST),
	};

	if (attacker_below(self, 2)) {
		body.last_batch = attacker_any_number(self);
		body.pieces = attacker_any_number(self);
	}
	return attacker_join(self, WIRE_ROLE_CONSUMER) &&
	       attacker_say(self, wire_message_encode_subscribe(&head, &body, self->room), NULL);
}

static void take_delivery(struct attacker *self, struct delivery *ret)
{
	struct stat info;

	if (self->message.head.type != WIRE_SUBSCRIBED || self->message.fds[0] < 0)
		return;
	give_up(ret);
	ret->fd = fcntl(self->message.fds[0], F_DUPFD_CLOEXEC, 0);
	if (ret->fd < 0 || fstat(ret->fd, &info) < 0)
		return;
	ret->bytes = (size_t)info.st_size;
	ret->memory = mmap(NULL, ret->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ret->fd, 0);
	if (ret->memory == MAP_FAILED)
		ret->memory = NULL;
}

/* Descriptors that the host maps keep their size, whatever is tried. */
static void cut(int fd)
{
	struct stat before, after;

	if (fstat(fd, &before) < 0)
		return;
	(void)!ftruncate(fd, 0);
	(void)!ftruncate(fd, before.st_size * 2);
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE);
	if (fstat(fd, &after) == 0 && after.st_size != before.st_size)
		_exit(HOSTILE_REACHED);
}

static void make_holes(struct attacker *self, int fd, size_t bytes)
{
	const off_t at = (off_t)attacker_below(self, (uint32_t)(bytes / 4096)) * 4096;

	(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			attacker_below(self, 4) ? at : 0, (off_t)bytes);
}

static void scribble(struct attacker *self, const struct delivery *delivery)
{
	struct wire_delivery *page = (void *)delivery->memory;
	const size_t at = attacker_below(self, (uint32_t)delivery->bytes - 4096);

	switch (attacker_below(self, 6)) {
	case 0:
		store_release(&page->released, attacker_any_number(self));
		break;
	case 1: /* all that there is, got or not */
		store_release(&page->released, load_acquire(&page->written));
		break;
	case 2:
		store_release(&page->written, attacker_any_number(self));
		page->slot_bytes = (uint32_t)attacker_any_number(self);
		page->slot_count = (uint32_t)attacker_any_number(self);
		page->slots_at = (uint32_t)attacker_any_number(self);
		break;
	case 3:
		make_holes(self, delivery->fd, delivery->bytes);
		break;
	case 4:
		cut(delivery->fd);
		break;
	default:
		memset(delivery->memory + at, (int)attacker_below(self, 256), 4096);
		break;
	}
	self->done++;
}

void attacker_consume(struct attacker *self)
{
	struct delivery delivery = {.fd = -1};

	while (!attacker_is_over(self)) {
		struct pollfd ready = {self->socket, POLLIN, 0};

		if (self->socket < 0 || attacker_below(self, 200) == 0)
			(void)ask_for_delivery(self);
		ready.fd = self->socket;
		/* Some batches it never reads. */
		if (attacker_below(self, 3) &&
		    poll(&ready, 1, delivery.memory ? 1 : ANSWER_MS) > 0 &&
		    etw_ipc_receive(self->socket, &self->message) == 0)
			take_delivery(self, &delivery);
		if (delivery.memory)
			scribble(self, &delivery);
		if (attacker_below(self, 5000) == 0)
			_exit(0); /* without a word */
	}
	give_up(&delivery);
}

/* Comes and says each time that it had got nothing of what it was to get. */
void attacker_claim_missed(struct attacker *self)
{
	const struct wire_message head = {.type = WIRE_SUBSCRIBE, .request = 1};
	const struct wire_subscribe body = {
		.name = STORM_SESSION, .consumer = 1 + attacker_below(self, 4), .last_batch = 1};

	while (!attacker_is_over(self)) {
		struct pollfd ready;

		if (!attacker_join(self, WIRE_ROLE_CONSUMER) ||
		    !attacker_say(self, wire_message_encode_subscribe(&head, &body, self->room),
				  NULL))
			continue;
		ready = (struct pollfd){self->socket, POLLIN, 0};
		if (poll(&ready, 1, ANSWER_MS) > 0)
			self->done += etw_ipc_receive(self->socket, &self->message) == 0;
	}
}

/* What is the host's alone to write. */
static void try_clock(const struct etw_ipc_message *message)
{
	char path[64];
	int fd;

	if (message->head.type != WIRE_WELCOME || message->fds[0] < 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", message->fds[0]);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED ||
	    pwrite(fd, "", 1, 0) >= 0 ||
	    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0)
		_exit(HOSTILE_REACHED);
	(void)close(fd);
}

/* Greets past the library, which would keep the clock's descriptor to itself. */
static void look_at_welcome(struct attacker *self)
{
	const struct wire_message head = {.type = WIRE_HELLO, .request = 1};
	const struct wire_hello hello = {WIRE_PROTOCOL_VERSION, WIRE_ROLE_PROVIDER};
	struct pollfd ready;

	if (!attacker_connect(self))
		return;
	(void)attacker_say(self, wire_message_encode_hello(&head, &hello, self->room), NULL);
	ready = (struct pollfd){self->socket, POLLIN, 0};
	if (poll(&ready, 1, ANSWER_MS) > 0 && etw_ipc_receive(self->socket, &self->message) == 0)
		try_clock(&self->message);
}

/* Takes the memory away that the host reads, again and again, and holds a lock that it may want. */
static void tear(struct attacker *self, int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	struct stat info;

	if (fstat(fd, &info) < 0 || info.st_size < 4096)
		return;
	(void)fcntl(fd, F_OFD_SETLK, &lock);
	(void)fcntl(fd, F_SETLEASE, F_WRLCK);
	cut(fd);
	make_holes(self, fd, (size_t)info.st_size);
	self->done++;
}

void attacker_tear_memory(struct attacker *self)
{
	int fds[8];
	unsigned count = 0;

	look_at_welcome(self);
	(void)attacker_register(self);
	while (!attacker_is_over(self)) {
		struct pollfd ready = {self->socket, POLLIN, 0};

		if (self->socket < 0 && !attacker_register(self))
			continue;
		if (poll(&ready, 1, 1) > 0) {
			if (etw_ipc_receive(self->socket, &self->message) < 0) {
				(void)attacker_register(self);
				continue;
			}
			for (unsigned i = 0; i < WIRE_MESSAGE_FDS_MAX; i++) {
				if (self->message.fds[i] < 0 || count == ARRAY_SIZE(fds))
					continue;
				fds[count++] = fcntl(self->message.fds[i], F_DUPFD_CLOEXEC, 0);
			}
		}
		for (unsigned i = 0; i < count; i++)
			tear(self, fds[i]);
		/* Its next rings. */
		if (count == ARRAY_SIZE(fds) && attacker_below(self, 50) == 0) {
			while (count)
				(void)close(fds[--count]);
			(void)attacker_register(self);
		}
	}
	while (count)
		(void)close(fds[--count]);
}

/* An answer to a request that there was, or was not, or that came before; and words that nobody waits for. */
static size_t put_answer(struct attacker *self, uint32_t request)
{
	struct wire_message head = {
		.request = attacker_below(self, 2) ? request : (uint32_t)attacker_any_number(self),
		.status = (int32_t)attacker_any_number(self)};
	const struct wire_ring_set_ref ref = {attacker_below(self, 2)
						      ? attacker_below(self, 64)
						      : (uint32_t)attacker_any_number(self)};
	const struct wire_undelivered undelivered = {
		.session_id = attacker_below(self, 2) ? self->plan->session_id
						      : (uint32_t)attacker_any_number(self),
		.events = attacker_any_number(self),
		.late_ms = attacker_any_number(self),
	};

	switch (attacker_below(self, 3)) {
	case 0:
		head.type = WIRE_ENABLE_DONE;
		return wire_message_encode_plain(&head, self->room);
	case 1:
		head.type = WIRE_RING_RETIRED;
		return wire_message_encode_ring_set_ref(&head, &ref, self->room);
	default:
		head.type = WIRE_UNDELIVERED;
		return wire_message_encode_undelivered(&head, &undelivered, self->room);
	}
}

void attacker_answer_falsely(struct attacker *self)
{
	uint32_t request = 0;

	while (!attacker_is_over(self)) {
		if (self->socket < 0 && !attacker_register(self))
			continue;
		while (etw_ipc_receive(self->socket, &self->message) == 0)
			request = self->message.head.request;
		if (!attacker_say(self, put_answer(self, request), NULL) ||
		    attacker_below(self, 1000) == 0)
			(void)attacker_register(self);
	}
}
