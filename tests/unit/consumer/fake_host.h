/* SPDX-License-Identifier: MIT */
/*
 * A host for one real-time session, in a thread of the test: it speaks the conversation and fills a delivery
 * memory with the buffers of a made-up trace, as a test's script says.
 */
#ifndef ETW_TESTS_UNIT_CONSUMER_FAKE_HOST_H
#define ETW_TESTS_UNIT_CONSUMER_FAKE_HOST_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "ipc/connection.h"
#include "ipc/runtime.h"
#include "synthetic/maker.h"
#include "wire/delivery_layout.h"

#define FAKE_SLOTS        64
#define FAKE_BUFFER_BYTES 4096
#define FAKE_T0_RAW       1000000
#define FAKE_STEP_RAW     1000
#define FAKE_WAIT_MS      120000

/* A trace of whole buffers of FAKE_BUFFER_BYTES; the first is the header buffer. */
struct fake_trace {
	uint8_t *bytes; /* owned */
	size_t count;
};

struct fake_host {
	char directory[64];
	struct wire_discovery_page *page;
	int listener;
	int socket; /* of the consumer; -1: none */
	struct wire_delivery *memory;
	int memory_fd;
	size_t memory_bytes;
	uint32_t slot_bytes; /* 0: FAKE_BUFFER_BYTES */
	uint64_t next_batch;
	bool keeps_memory;                    /* across fake_hang_up(), for the next SUBSCRIBE */
	uint64_t pieces, events, events_lost; /* what SUBSCRIBED and BATCH say */
	int subscribe_status;                 /* what SUBSCRIBE is answered with */
	struct wire_delivery *spoil; /* fields that differ from the right ones; NULL: none */
	struct wire_subscribe asked; /* the last SUBSCRIBE */
	struct fake_trace *trace;
	void (*script)(struct fake_host *host);
	pthread_t thread;
};

#define FAKE_ASSERT(condition)                                                \
	do {                                                                  \
		if (!(condition)) {                                           \
			(void)fprintf(stderr, "fake host: %s\n", #condition); \
			abort();                                              \
		}                                                             \
	} while (0)

static inline int fake_await(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	return poll(&wait, 1, FAKE_WAIT_MS);
}

static inline void fake_make_memory(struct fake_host *host)
{
	host->slot_bytes += host->slot_bytes ? 0 : FAKE_BUFFER_BYTES;
	host->memory_bytes = 4096 + (size_t)FAKE_SLOTS * host->slot_bytes;
	host->memory_fd = memfd_create("delivery", MFD_CLOEXEC);
	FAKE_ASSERT(host->memory_fd >= 0 && !ftruncate(host->memory_fd, (off_t)host->memory_bytes));
	host->memory = mmap(NULL, host->memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			    host->memory_fd, 0);
	FAKE_ASSERT(host->memory != MAP_FAILED);
	*host->memory = (struct wire_delivery){.magic = WIRE_DELIVERY_MAGIC,
					       .version = WIRE_DELIVERY_VERSION,
					       .buffer_slots = 1,
					       .slot_count = FAKE_SLOTS,
					       .slot_bytes = host->slot_bytes,
					       .slots_at = 4096};
	if (host->spoil)
		*host->memory = *host->spoil;
	host->next_batch += !host->next_batch;
}

static inline void fake_send(struct fake_host *host, size_t bytes, const uint8_t *room, int fd)
{
	FAKE_ASSERT(bytes);
	FAKE_ASSERT(!etw_ipc_send(host->socket, room, bytes, fd >= 0 ? &fd : NULL, fd >= 0));
}

/* Takes a consumer and answers its HELLO and SUBSCRIBE. */
static inline void fake_accept(struct fake_host *host)
{
	static __thread struct etw_ipc_message message;
	static __thread uint8_t room[WIRE_MESSAGE_BYTES_MAX];
	struct wire_welcome welcome = {.protocol = WIRE_PROTOCOL_VERSION, .incarnation = 1};
	struct wire_subscribed subscribed = {.handle = 5, .session_id = 5};
	struct wire_message head;
	int clock = memfd_create("clock", MFD_CLOEXEC);

	etw_ipc_message_init(&message);
	FAKE_ASSERT(fake_await(host->listener) == 1);
	FAKE_ASSERT(!etw_ipc_accept(host->listener, &host->socket));
	FAKE_ASSERT(fake_await(host->socket) == 1);
	FAKE_ASSERT(!etw_ipc_receive(host->socket, &message) && message.head.type == WIRE_HELLO);
	head = (struct wire_message){.type = WIRE_WELCOME, .request = message.head.request};
	fake_send(host, wire_message_encode_welcome(&head, &welcome, room), room, clock);
	(void)close(clock);
	FAKE_ASSERT(fake_await(host->socket) == 1);
	FAKE_ASSERT(!etw_ipc_receive(host->socket, &message) &&
		    message.head.type == WIRE_SUBSCRIBE);
	FAKE_ASSERT(!wire_message_decode_subscribe(message.datagram, &host->asked));
	head = (struct wire_message){.type = WIRE_SUBSCRIBED,
				     .request = message.head.request,
				     .status = host->subscribe_status};
	if (host->subscribe_status) {
		head.type = WIRE_REPLY;
		fake_send(host, wire_message_encode_plain(&head, room), room, -1);
	} else {
		if (!host->memory)
			fake_make_memory(host);
		subscribed.next_slot = load_acquire(&host->memory->taken);
		subscribed.pieces = host->pieces;
		subscribed.events = host->events;
		subscribed.delivery_bytes = (uint32_t)host->memory_bytes;
		subscribed.header_buffer = (struct etw_bytes){host->trace->bytes,
							      FAKE_BUFFER_BYTES};
		fake_send(host, wire_message_encode_subscribed(&head, &subscribed, room), room,
			  host->memory_fd);
	}
	etw_ipc_message_done(&message);
}

/* Puts a buffer of the trace, by its number there, into the next slot. */
static inline uint8_t *fake_put(struct fake_host *host, size_t number)
{
	uint64_t slot = host->memory->written % FAKE_SLOTS;
	uint8_t *at = (uint8_t *)host->memory + 4096 + slot * host->slot_bytes;

	FAKE_ASSERT((number + 1) * FAKE_BUFFER_BYTES <= host->trace->count);
	memcpy(at, host->trace->bytes + number * FAKE_BUFFER_BYTES, FAKE_BUFFER_BYTES);
	host->memory->written_pieces++;
	store_release(&host->memory->written, host->memory->written + 1);
	return at;
}

/* Announces the last @count buffers put. */
static inline void fake_announce(struct fake_host *host, uint32_t type, uint32_t count,
				 int64_t watermark_raw)
{
	static __thread uint8_t room[WIRE_MESSAGE_BYTES_MAX];
	const struct wire_message head = {.type = type};
	struct wire_batch batch = {.batch = host->next_batch++,
				   .first_slot = host->memory->written - count,
				   .slot_count = count,
				   .buffer_count = count,
				   .watermark_raw = watermark_raw,
				   .pieces = host->pieces,
				   .events = host->events,
				   .events_lost = host->events_lost};

	fake_send(host, wire_message_encode_batch(&head, &batch, room), room, -1);
}

/* A batch of buffers @from up to @to, exclusive. */
static inline void fake_batch(struct fake_host *host, size_t from, size_t to, int64_t watermark_raw)
{
	for (size_t i = from; i < to; i++)
		(void)fake_put(host, i);
	fake_announce(host, WIRE_BATCH, (uint32_t)(to - from), watermark_raw);
}

static inline void fake_end(struct fake_host *host)
{
	fake_announce(host, WIRE_SESSION_END, 0, INT64_MAX);
}

/* Waits until the consumer has taken everything; it may be reading it yet. */
static inline void fake_await_taken(struct fake_host *host)
{
	for (int i = 0; i < FAKE_WAIT_MS; i++) {
		if (load_acquire(&host->memory->taken) == host->memory->written)
			return;
		(void)usleep(1000);
	}
	FAKE_ASSERT(load_acquire(&host->memory->taken) == host->memory->written);
}

/* The host dies, as far as the consumer can see; the listening socket stays. */
static inline void fake_hang_up(struct fake_host *host)
{
	(void)close(host->socket);
	host->socket = -1;
	if (host->keeps_memory)
		return;
	if (host->memory)
		(void)munmap(host->memory, host->memory_bytes);
	host->memory = NULL;
	(void)close(host->memory_fd);
}

/* Waits until the consumer hangs up. */
static inline void fake_await_close(struct fake_host *host)
{
	static __thread struct etw_ipc_message message;

	etw_ipc_message_init(&message);
	FAKE_ASSERT(fake_await(host->socket) == 1);
	(void)etw_ipc_receive(host->socket, &message);
	etw_ipc_message_done(&message);
}

static inline void *fake_run(void *context)
{
	struct fake_host *host = context;

	host->script(host);
	host->keeps_memory = false;
	if (host->socket >= 0)
		fake_hang_up(host);
	return NULL;
}

/* Starts the host in a folder of its own and lets this process find it. */
static inline void fake_start(struct fake_host *host)
{
	host->socket = -1;
	host->memory_fd = -1;
	(void)snprintf(host->directory, sizeof(host->directory), "/tmp/etw-fake-XXXXXX");
	FAKE_ASSERT(mkdtemp(host->directory));
	FAKE_ASSERT(!setenv("ETW_RUNTIME_DIR", host->directory, 1));
	FAKE_ASSERT(!etw_runtime_prepare(host->directory, &host->page));
	FAKE_ASSERT(!etw_runtime_listen(host->directory, &host->listener));
	FAKE_ASSERT(!pthread_create(&host->thread, NULL, fake_run, host));
}

static inline void fake_stop(struct fake_host *host)
{
	static const char *const names[] = {ETW_RUNTIME_SOCKET, ETW_RUNTIME_PAGE, "lock"};
	char path[128];

	(void)pthread_join(host->thread, NULL);
	(void)close(host->listener);
	etw_runtime_page_unmap(host->page);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", host->directory, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(host->directory);
}

/*
 * A trace of @events events on two processors in turn, one FAKE_STEP_RAW after the other; every @per_flush
 * events both processors' buffers are written.
 */
static inline struct fake_trace fake_trace_make(unsigned events, unsigned per_flush, uint16_t flags)
{
	static const GUID provider = {0x11111111, 0x2222, 0x3333, {4, 4, 5, 5, 5, 5, 5, 5}};
	static struct made_event event;
	struct maker_options options = {.buffer_bytes = FAKE_BUFFER_BYTES, .t0_raw = FAKE_T0_RAW};
	struct maker *maker = maker_open(&options, NULL);
	struct fake_trace trace;

	for (unsigned i = 0; i < events; i++) {
		struct made_descriptor descriptor = {.provider = &provider, .id = (uint16_t)i};
		struct made_ids ids = {.process_id = 1, .thread_id = 2};

		made_modern(&event, WIRE_HEADER_EVENT64, &descriptor,
			    FAKE_T0_RAW + (int64_t)(i + 1) * FAKE_STEP_RAW, &ids);
		made_u32(&event, i);
		maker_add(maker, i % 2, &event);
		if (flags && i == 0)
			maker_flag(maker, 0, flags);
		if ((i + 1) % per_flush == 0)
			maker_flush_all(maker);
	}
	trace.bytes = maker_close(maker, &trace.count);
	return trace;
}

#endif
