/* SPDX-License-Identifier: MIT */
/*
 * Nothing that a host says is used without a check: numbers are bounded by a copy of the memory's layout, and what a
 * buffer's header says is fetched once and judged as a file's would be. Events are checked, once, and read where they are.
 *
 * What was lost follows from two counts of the host, of everything that it ever handed out, at the first
 * subscription and at a batch: what of the difference was not found in the memory is lost, however.
 */
#include "consumer/live.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/patience.h"
#include "base/time.h"
#include "consumer/live_memory.h"
#include "ipc/connection.h"
#include "ipc/runtime.h"
#include "wire/etl_buffer.h"

#define ANSWER_MS 5000 /* a host answers at once; one that is stopped does not */
#define RETRY_MS  50
#define BUSY_MS   10000 /* so long a host may take to notice that the last connection is gone */
#define FIRST_HOST_MS \
	2000 /* for a host that is being replaced, of a consumer that has not met one yet */
#define NO_DESCRIPTOR (-1)

enum stage {
	AWAY,    /* no host, no socket */
	CALLING, /* said hello: the call breaks when neither the host nor its keeper is left */
	ASKING,  /* sent SUBSCRIBE */
	SUBSCRIBED,
};

struct etw_live {
	struct wire_subscribe request; /* the names, and the last batch seen */
	enum etw_instance instance;
	bool is_nameless; /* the name asked for is longer than any session's */
	enum stage stage;
	int socket; /* owned; non-blocking; NO_DESCRIPTOR while away */
	uint64_t handle;
	struct etw_ipc_message *message; /* owned */
	uint8_t *header;                 /* owned; empty until subscribed */
	size_t header_bytes;
	struct etw_live_memory
		*memory; /* owned; of the last subscription, also while there is none */
	uint64_t pieces_was, events_was;   /* handed out before the first subscription */
	uint64_t pieces_seen, events_seen; /* found in the memory; notes left out */
	struct etw_live_loss loss;
	uint64_t told_buffers, told_events; /* of the loss, those of the session */
	bool has_told_events;               /* in the batch that is being loaded */
	uint64_t retry_ns;                  /* while away: when to call again */
	struct etw_patience busy;           /* with a host that refuses for now */
	uint64_t
		unread; /* buffers that lay in the memory of the last host, in no batch that came */
	bool is_over, is_cut;
};

int etw_live_create(const char *session, struct etw_live **ret)
{
	struct etw_live *live = calloc(1, sizeof(*live));
	size_t bytes = strlen(session);

	if (!live)
		return -ENOMEM;
	live->socket = NO_DESCRIPTOR;
	live->message = malloc(sizeof(*live->message));
	if (!live->message) {
		free(live);
		return -ENOMEM;
	}
	etw_ipc_message_init(live->message);
	/* Without a number of its own it does not find its memory again: then that counts as lost. */
	if (getrandom(&live->request.consumer, sizeof(live->request.consumer), 0) !=
	    (ssize_t)sizeof(live->request.consumer))
		live->request.consumer = 0;
	if (bytes <= WIRE_MESSAGE_NAME_MAX)
		memcpy(live->request.name, session, bytes);
	else
		live->is_nameless = true;
	*ret = live;
	return 0;
}

void etw_live_want_memory(struct etw_live *live, uint64_t bytes)
{
	live->request.memory_bytes = bytes;
}

static void disconnect(struct etw_live *live)
{
	if (live->socket != NO_DESCRIPTOR)
		(void)close(live->socket);
	live->socket = NO_DESCRIPTOR;
	live->stage = AWAY;
	etw_ipc_message_done(live->message);
	etw_ipc_message_init(live->message);
}

/* Who leaves in good order wants nothing more: only of a consumer that dies what it has not read counts as lost. */
static void give_all_back(const struct etw_live *live)
{
	struct wire_delivery *page;

	if (!live->memory)
		return;
	page = live->memory->page;
	store_relaxed(&page->released_pieces, load_relaxed(&page->written_pieces));
	store_release(&page->released, load_acquire(&page->written));
}

void etw_live_free(struct etw_live *live)
{
	if (!live)
		return;
	give_all_back(live);
	disconnect(live);
	etw_live_memory_free(live->memory);
	etw_ipc_message_done(live->message);
	free(live->message);
	free(live->header);
	free(live);
}

/* Memory of older hosts is kept for as long as something in it is read. */
static void free_unread(struct etw_live *live)
{
	struct etw_live_memory **at = &live->memory->older;

	while (*at) {
		struct etw_live_memory *memory = *at;

		if (memory->count) {
			at = &memory->older;
			continue;
		}
		*at = TAKE(memory->older);
		etw_live_memory_free(memory);
	}
}

/* The memory that it has already, or a new one in front of it. */
static int take_memory(struct etw_live *live, int fd, uint64_t from)
{
	struct etw_live_memory *memory;

	if (live->memory && etw_live_memory_is(live->memory, fd)) {
		live->memory->next = live->memory->taken = from;
		return 0;
	}
	TRY(etw_live_memory_map(fd, from, (uint32_t)live->pieces_seen, &memory));
	memory->older = live->memory;
	live->memory = memory;
	free_unread(live);
	return 0;
}

/* The header of the first subscription stays: the session is the same, and its clock too. */
static int keep_header(struct etw_live *live, struct etw_bytes header)
{
	if (live->header)
		return 0;
	live->header = malloc(header.left ? header.left : 1);
	if (!live->header)
		return -ENOMEM;
	memcpy(live->header, header.at, header.left);
	live->header_bytes = header.left;
	return 0;
}

/* Takes the answer to WIRE_SUBSCRIBE. */
static int accept_answer(struct etw_live *live)
{
	struct etw_ipc_message *message = live->message;
	bool is_again = live->header != NULL;
	struct wire_subscribed subscribed;

	if (message->head.status)
		return message->head.status > 0 ? -EPROTO : message->head.status;
	if (message->head.type != WIRE_SUBSCRIBED)
		return -EPROTO;
	TRY(wire_message_decode_subscribed(message->datagram, &subscribed));
	/* Another session of the same name: the one that was read is over. */
	if (is_again && subscribed.handle != live->handle)
		return -ENOENT;
	live->handle = subscribed.handle;
	if (message->is_cut)
		return -EMFILE;
	TRY(take_memory(live, message->fds[0], subscribed.next_slot));
	if (!is_again) {
		live->pieces_was = subscribed.pieces;
		live->events_was = subscribed.events;
	}
	return keep_header(live, subscribed.header_buffer);
}

static int send_request(struct etw_live *live)
{
	const struct wire_message head = {.type = WIRE_SUBSCRIBE, .request = 1};
	CLEANUP(freep) uint8_t *room = malloc(WIRE_MESSAGE_BYTES_MAX);
	size_t bytes;

	if (!room)
		return -ENOMEM;
	bytes = wire_message_encode_subscribe(&head, &live->request, room);
	return bytes ? etw_ipc_send(live->socket, room, bytes, NULL, 0) : -EINVAL;
}

/* Without waiting for the host. The errors of etw_runtime_call(). */
static int call_host(struct etw_live *live, enum etw_instance instance)
{
	char directory[PATH_MAX];

	TRY(etw_runtime_directory(instance, directory));
	TRY(etw_runtime_call(directory, WIRE_ROLE_CONSUMER, &live->socket));
	live->instance = instance;
	live->stage = CALLING;
	return 0;
}

/* Takes the host's answers. Returns 0: subscribed; -EAGAIN: not yet; or why not. */
static int advance(struct etw_live *live)
{
	struct wire_welcome welcome;

	if (live->stage == CALLING) {
		TRY(etw_runtime_answered(live->socket, live->message, &welcome));
		TRY(send_request(live));
		live->stage = ASKING;
	}
	TRY(etw_ipc_receive(live->socket, live->message));
	TRY(accept_answer(live));
	live->stage = SUBSCRIBED;
	return 0;
}

static int milliseconds_until(uint64_t ns)
{
	uint64_t now_ns = etw_monotonic_ns();

	return ns > now_ns ? (int)((ns - now_ns) / ETW_NS_PER_MS) + 1 : 0;
}

static int subscribe_at(struct etw_live *live, enum etw_instance instance)
{
	struct etw_patience patience = etw_patience_begin(ANSWER_MS, etw_monotonic_ns());
	int result = call_host(live, instance);

	if (result)
		return result == -EAGAIN ? -ETIMEDOUT : result;
	while ((result = advance(live)) == -EAGAIN) {
		struct pollfd wait = {.fd = live->socket, .events = POLLIN};

		if (etw_patience_look(&patience, etw_monotonic_ns())) {
			result = -ETIMEDOUT;
			break;
		}
		(void)poll(&wait, 1, milliseconds_until(etw_patience_next_ns(&patience)));
	}
	if (result)
		disconnect(live);
	return result == -EPIPE ? -ECONNREFUSED : result;
}

/* Whether the discovery page says that there is a host; one that died is still there for it. */
static bool is_hosted(enum etw_instance instance)
{
	const struct wire_discovery_page *page = NULL;
	char directory[PATH_MAX];
	bool result;

	if (etw_runtime_directory(instance, directory) || etw_runtime_page(directory, &page))
		return false;
	result = load_relaxed(&page->epoch) & 1;
	etw_runtime_page_unmap(page);
	return result;
}

static int subscribe_anywhere(struct etw_live *live)
{
	static const enum etw_instance order[] = {ETW_INSTANCE_USER, ETW_INSTANCE_SYSTEM};
	size_t count = etw_runtime_is_one() ? 1 : ARRAY_SIZE(order);
	int first = -ENOENT;

	for (size_t i = 0; i < count; i++) {
		int result = subscribe_at(live, order[i]);

		if (result != -ENOENT && result != -ECONNREFUSED)
			return result;
		/* Refused where a host should be: it may be the one that has the session. */
		if (result == -ECONNREFUSED && is_hosted(order[i]))
			first = result;
	}
	return first;
}

/* Of connecting to a host that dies, or that has died and is being replaced. */
static bool is_passing(int result)
{
	return result == -ECONNREFUSED || result == -EPIPE || result == -ECONNRESET;
}

int etw_live_subscribe(struct etw_live *live)
{
	struct etw_patience patience = etw_patience_begin(FIRST_HOST_MS, etw_monotonic_ns());
	int result;

	if (live->header)
		return 0;
	if (live->is_nameless)
		return -ENOENT;
	for (;;) {
		result = subscribe_anywhere(live);
		if (!is_passing(result))
			return result;
		if (etw_patience_look(&patience, etw_monotonic_ns()))
			return result == -ECONNREFUSED ? -ENOENT : result;
		(void)usleep(RETRY_MS * 1000);
	}
}

struct etw_bytes etw_live_header(const struct etw_live *live)
{
	return (struct etw_bytes){live->header, live->header_bytes};
}

static void call_again_later(struct etw_live *live)
{
	disconnect(live);
	live->retry_ns = etw_monotonic_ns() + RETRY_MS * ETW_NS_PER_MS;
}

/* The host went away. Its memory comes back with the next one. */
static int lose_host(struct etw_live *live)
{
	uint64_t written = load_relaxed(&live->memory->page->written_pieces);
	uint64_t taken = live->memory->taken_pieces;

	live->unread = written > taken ? written - taken : 0;
	if (live->unread > live->memory->layout.slot_count)
		live->unread = live->memory->layout.slot_count;
	call_again_later(live);
	live->busy = etw_patience_begin(BUSY_MS, etw_monotonic_ns());
	return -EAGAIN;
}

/*
 * Nobody tells how much the session had for this consumer: at least what lay in the memory, and the last batch, which
 * every session ends with.
 */
static int cut_off(struct etw_live *live)
{
	disconnect(live);
	live->is_over = live->is_cut = true;
	live->loss.buffers += live->unread ? live->unread : 1;
	return ETW_END;
}

/* Refused for now: the host has not noticed yet that the last connection is gone, or has no room. */
static bool is_busy(int result)
{
	return result == -EBUSY || result == -ENOMEM || result == -EMFILE || result == -ENFILE ||
	       result == -ENOBUFS || result == -EUSERS || result == -ETOOMANYREFS;
}

/*
 * Between two hosts. As long as the keeper has the listening socket, a host will come that knows the session or that
 * it is over, however long that takes. Nobody is left when the call is refused.
 */
static int find_host(struct etw_live *live)
{
	int result = 0;

	if (live->stage == AWAY) {
		if (etw_monotonic_ns() < live->retry_ns)
			return -EAGAIN;
		result = call_host(live, live->instance);
		if (result == -ECONNREFUSED)
			return cut_off(live);
	}
	if (!result)
		result = advance(live);
	if (result == 0 || (result == -EAGAIN && live->stage != AWAY))
		return -EAGAIN;
	if (!is_passing(result) && result != -EAGAIN &&
	    !(is_busy(result) && !etw_patience_look(&live->busy, etw_monotonic_ns())))
		return cut_off(live);
	call_again_later(live);
	return -EAGAIN;
}

static int take_batch(struct etw_live *live, struct etw_live_batch *ret)
{
	struct etw_live_memory *memory = live->memory;
	struct wire_batch batch;
	/* Pairs with the host's store of `written` behind the slots' bytes. */
	uint64_t written = load_acquire(&memory->page->written);

	TRY(wire_message_decode_batch(live->message->datagram, &batch));
	if (batch.slot_count > memory->layout.slot_count || batch.buffer_count > batch.slot_count ||
	    batch.first_slot < memory->taken || batch.first_slot > written ||
	    batch.slot_count > written - batch.first_slot)
		return -EPROTO;
	memory->next = batch.first_slot;
	*ret = (struct etw_live_batch){
		.end_slot = batch.first_slot + batch.slot_count,
		.buffer_count = batch.buffer_count,
		.watermark_raw = batch.watermark_raw,
		.batch = batch.batch,
		.pieces = batch.pieces,
		.events = batch.events,
		.events_lost = batch.events_lost,
	};
	return 0;
}

int etw_live_receive(struct etw_live *live, struct etw_live_batch *ret)
{
	int result;

	if (live->is_over)
		return ETW_END;
	if (live->stage != SUBSCRIBED)
		return find_host(live);
	result = etw_ipc_receive(live->socket, live->message);
	if (result == -EPIPE || result == -ECONNRESET)
		return lose_host(live);
	TRY(result);
	if (live->message->head.type == WIRE_SESSION_END)
		live->is_over = true;
	else if (live->message->head.type != WIRE_BATCH)
		return -EAGAIN; /* of a newer host: nothing that this one has to know */
	return take_batch(live, ret);
}

/* More than was expected is nobody's loss. */
static uint64_t missing(uint64_t now, uint64_t was, uint64_t seen)
{
	return now > was && now - was > seen ? now - was - seen : 0;
}

/* A buffer's sequence number is one more than what was handed out before it. */
static void note_flags(struct etw_live *live, const struct etw_etl_buffer *buffer)
{
	if (buffer->flags & WIRE_BUFFER_BUFFER_LOST)
		live->told_buffers = missing((uint64_t)buffer->sequence - 1, live->pieces_was,
					     live->pieces_seen);
	if (buffer->flags & WIRE_BUFFER_EVENTS_LOST)
		live->has_told_events = true;
}

/* Returns a static sentence: why there is nothing to be read in a piece. */
static const char *judge(const struct etw_live *live, const struct etw_etl_buffer *buffer,
			 uint32_t bytes)
{
	const char *sentence = etw_etl_buffer_fault(buffer);

	if (sentence)
		return sentence;
	if (buffer->stride >
		    (uint64_t)live->memory->layout.buffer_slots * live->memory->layout.slot_bytes ||
	    buffer->valid_bytes != bytes || (buffer->flags & WIRE_BUFFER_COMPRESSED))
		return "the buffer does not fit its place";
	return NULL;
}

static int load_piece(struct etw_live *live, const uint8_t *at, uint32_t bytes,
		      struct etw_etl_block *block, struct etw_findings *findings)
{
	uint32_t number = (uint32_t)live->pieces_seen;
	uint64_t offset = (uint64_t)(at - (const uint8_t *)live->memory->page);
	struct wire_buffer_header header;
	struct etw_etl_buffer buffer;
	const char *sentence;

	memcpy(&header, at, sizeof(header));
	etw_etl_buffer_read((const uint8_t *)&header, &buffer);
	note_flags(live, &buffer);
	live->pieces_seen++;
	buffer.offset = offset;
	buffer.number = number;
	sentence = judge(live, &buffer, bytes);
	if (sentence) {
		etw_findings_add(findings, ETW_FINDING_SKIPPED, offset, bytes, number, sentence);
		etw_live_memory_give_back(live->memory, number);
		return 0;
	}
	TRY(etw_etl_block_borrow(at, bytes, &buffer, block, findings));
	live->events_seen += block->count - MIN(block->count, le64_get(header.reference_start));
	return 0;
}

int etw_live_load(struct etw_live *live, const struct etw_live_batch *batch,
		  struct etw_etl_block *block, struct etw_findings *findings)
{
	const uint8_t *at;
	uint32_t bytes;

	block->count = 0;
	block->buffer = (struct etw_etl_buffer){0}; /* its flags tell of nothing either */
	block->raw = NULL;
	TRY(etw_live_memory_take(live->memory, batch->end_slot, &at, &bytes));
	if (at)
		return load_piece(live, at, bytes, block, findings);
	etw_findings_add(findings, ETW_FINDING_SKIPPED, 0, 0, (uint32_t)live->pieces_seen,
			 "a buffer is not where it should be");
	return 0;
}

void etw_live_give_back(struct etw_live *live, const struct etw_etl_block *block)
{
	struct etw_live_memory *memory = live->memory;

	while (memory && !etw_live_memory_has(memory, block->raw))
		memory = memory->older;
	if (!memory)
		return;
	etw_live_memory_give_back(memory, block->buffer.number);
	if (memory != live->memory)
		free_unread(live);
}

size_t etw_live_memory_bytes(const struct etw_live *live)
{
	return live->memory ? live->memory->bytes : 0;
}

bool etw_live_is_scarce(const struct etw_live *live)
{
	return live->memory && etw_live_memory_is_scarce(live->memory);
}

void etw_live_release(struct etw_live *live, const struct etw_live_batch *batch)
{
	live->request.last_batch = batch->batch;
	live->request.pieces = batch->pieces;
	live->loss = (struct etw_live_loss){
		.buffers = missing(batch->pieces, live->pieces_was, live->pieces_seen),
		.events = missing(batch->events, live->events_was, live->events_seen),
		.session_events = batch->events_lost,
	};
	if (live->has_told_events)
		live->told_events = batch->events_lost;
	live->has_told_events = false;
	etw_live_memory_end_batch(live->memory, batch->end_slot, batch->buffer_count);
}

struct etw_live_loss etw_live_loss(const struct etw_live *live)
{
	return live->loss;
}

void etw_live_set_lost_before(struct etw_live *live, uint64_t events)
{
	live->loss.session_events = events;
	live->told_events = events;
}

uint16_t etw_live_untold(struct etw_live *live)
{
	uint16_t result = 0;

	if (live->loss.session_events > live->told_events)
		result |= WIRE_BUFFER_EVENTS_LOST;
	if (live->loss.buffers > live->told_buffers)
		result |= WIRE_BUFFER_BUFFER_LOST;
	live->told_events = live->loss.session_events;
	live->told_buffers = live->loss.buffers;
	return result;
}

bool etw_live_is_cut(const struct etw_live *live)
{
	return live->is_cut;
}

int etw_live_socket(const struct etw_live *live)
{
	return live->socket;
}

int etw_live_retry_ms(const struct etw_live *live)
{
	return live->stage == AWAY && !live->is_over ? milliseconds_until(live->retry_ns) : -1;
}
