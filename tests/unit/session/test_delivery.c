/* SPDX-License-Identifier: MIT */
/* Real-time consumers: batches, order, watermarks, slots that are not given back, and sessions with both. */
#include <sys/mman.h>

#include "fake_source.h"
#include "session/session_internal.h"
#include "trace_reading.h"
#include "wire/delivery_layout.h"
#include "wire/etl_buffer.h"
#include "wire/session_note.h"

#define EVENTS_MAX 4096

/* A consumer that reads each batch as soon as it is told. */
struct consumer {
	uint8_t *memory;
	size_t bytes;
	struct wire_delivery *page;
	uint32_t is_mapped; /* atomic */
	bool is_lazy;       /* gives nothing back */
	uint32_t batches, ends, buffers, markers, flagged;
	uint32_t lossy; /* buffers that say that events were lost */
	uint64_t events, doubled;
	struct wire_batch last;
	struct etw_session_subscribed subscribed;
	uint64_t early; /* events before the watermark of the batch before */
	int64_t watermark_raw;
	uint8_t seen
		[EVENTS_MAX]; /* by number: a writer that changes processors changes buffers, too */
};

/* What the host itself tells of a session of kernel events. */
static bool is_note(const uint8_t *event)
{
	static const GUID provider = WIRE_SESSION_NOTE_PROVIDER;

	return memcmp(event + offsetof(struct wire_event_header, provider), &provider,
		      sizeof(provider)) == 0;
}

static void consume_event(struct consumer *consumer, const uint8_t *event)
{
	struct fixture_payload payload;

	if ((int64_t)etw_load64(event + 0x10) < consumer->watermark_raw)
		consumer->early++;
	if (is_note(event))
		return;
	memcpy(&payload, event + sizeof(struct wire_event_header), sizeof(payload));
	assert_true(payload.writer == 0 && payload.number < EVENTS_MAX);
	consumer->doubled += consumer->seen[payload.number]++ != 0;
	consumer->events++;
}

static void consume_buffer(struct consumer *consumer, const uint8_t *buffer, bool is_last)
{
	uint32_t at = WIRE_BUFFER_HEADER_BYTES;
	uint32_t valid = etw_load32(buffer + 0x30);
	uint16_t flags = etw_load16(buffer + 0x34);

	assert_true(valid <= consumer->page->buffer_slots * consumer->page->slot_bytes);
	assert_int_equal(flags & WIRE_BUFFER_PROC_INDEX, WIRE_BUFFER_PROC_INDEX);
	assert_int_equal(flags & WIRE_BUFFER_FLUSH_MARKER, is_last);
	consumer->markers += (flags & WIRE_BUFFER_FLUSH_MARKER) != 0;
	consumer->lossy += (flags & WIRE_BUFFER_EVENTS_LOST) != 0;
	consumer->flagged += (flags & WIRE_BUFFER_BUFFER_LOST) != 0;
	while (at < valid) {
		consume_event(consumer, buffer + at);
		at += ALIGN_UP(etw_load16(buffer + at), 8u);
	}
}

static void on_batch(void *context, const struct wire_batch *batch, bool is_end)
{
	struct consumer *consumer = context;
	uint64_t at = batch->first_slot;
	struct wire_delivery *page;
	const uint8_t *buffer;

	/* The timer may be faster than the subscription. */
	while (!load_acquire(&consumer->is_mapped))
		(void)usleep(100);
	page = consumer->page;
	assert_true(load_acquire(&page->written) == batch->first_slot + batch->slot_count);
	for (uint32_t i = 0; i < batch->buffer_count; i++) {
		at = wire_delivery_begin(at, page->slot_count, page->buffer_slots);
		buffer = consumer->memory + page->slots_at +
			 at % page->slot_count * page->slot_bytes;
		consume_buffer(consumer, buffer, i + 1 == batch->buffer_count);
		consumer->buffers++;
		at += ALIGN_UP(etw_load32(buffer + 0x30), page->slot_bytes) / page->slot_bytes;
	}
	assert_int_equal(at, batch->first_slot + batch->slot_count);
	if (!consumer->is_lazy) {
		store_relaxed(&page->released_pieces, page->released_pieces + batch->buffer_count);
		store_release(&page->released, at);
	}
	consumer->watermark_raw = batch->watermark_raw;
	consumer->last = *batch;
	consumer->ends += is_end;
	store_release(&consumer->batches, consumer->batches + 1);
}

/* Handed out while it was there, and not found. */
static uint64_t buffers_lost(const struct consumer *consumer)
{
	return consumer->last.pieces - consumer->subscribed.pieces - consumer->buffers;
}

static uint64_t events_lost(const struct consumer *consumer)
{
	return consumer->last.events - consumer->subscribed.events - consumer->events;
}

static int try_subscribe(struct etw_session *session, uint64_t number, struct consumer *consumer)
{
	const struct etw_session_subscribe request = {
		.consumer = number, .notify = on_batch, .context = consumer};

	return etw_session_subscribe(session, &request, &consumer->subscribed);
}

static void subscribe(struct etw_session *session, uint64_t number, struct consumer *consumer)
{
	struct wire_delivery page;
	int fd;

	assert_int_equal(try_subscribe(session, number, consumer), 0);
	fd = consumer->subscribed.memory_fd;
	assert_int_equal(pread(fd, &page, sizeof(page), 0), sizeof(page));
	assert_int_equal(page.magic, WIRE_DELIVERY_MAGIC);
	consumer->bytes = page.slots_at + (size_t)page.slot_count * page.slot_bytes;
	consumer->memory = mmap(NULL, consumer->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(consumer->memory != MAP_FAILED);
	consumer->page = (void *)consumer->memory;
	store_release(&consumer->is_mapped, 1u);
	close(fd);
}

static void unsubscribe(struct etw_session *session, struct consumer *consumer)
{
	etw_session_unsubscribe(session, consumer->subscribed.subscriber);
	munmap(consumer->memory, consumer->bytes);
	free(consumer->subscribed.header_buffer);
}

static struct wire_session_config realtime_config(const struct fixture *fixture, bool has_file)
{
	struct wire_session_config config = fixture_config(fixture);

	config.log_file_mode |= EVENT_TRACE_REAL_TIME_MODE;
	config.flush_timer = 3600; /* batches close when a test wants them to */
	if (!has_file)
		config.log_file[0] = '\0';
	return config;
}

static void deliver(bool has_file)
{
	enum {
		ROUNDS = 50,
		EVENTS = 40
	};
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer;
	struct consumer consumer = {0};
	uint32_t before;

	fixture_open(&fixture);
	config = realtime_config(&fixture, has_file);
	session = fixture_start(&fixture, &config);
	subscribe(session, 0, &consumer);
	assert_int_equal(consumer.subscribed.header_bytes, 4096);
	assert_int_equal(etw_load16(consumer.subscribed.header_buffer + 0x36), WIRE_BUFFER_HEADER);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		for (uint32_t j = 0; j < EVENTS; j++)
			(void)fixture_write(&writer, 0x60);
		before = load_acquire(&consumer.batches);
		assert_int_equal(etw_session_flush(session), 0);
		assert_true(load_acquire(&consumer.batches) > before);
		assert_int_equal(consumer.events, writer.written);
	}
	(void)fixture_write(&writer, 0x60);
	etw_session_stop(session, &info);
	assert_int_equal(consumer.ends, 1);
	assert_int_equal(consumer.events, writer.written);
	assert_int_equal(consumer.doubled, 0);
	assert_int_equal(consumer.early, 0);
	assert_int_equal(buffers_lost(&consumer), 0);
	assert_int_equal(info.real_time_buffers_lost, 0);
	assert_int_equal(info.events, writer.written);
	unsubscribe(session, &consumer);
	etw_session_free(session);
	if (has_file) {
		struct reading reading;

		read_trace(fixture.path, &reading);
		assert_int_equal(reading.events, writer.written);
		assert_int_equal(reading.findings, 0);
		reading_done(&reading);
	}
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static void test_delivery__consumer_gets_everything(void **state)
{
	(void)state;
	deliver(false);
}

static void test_delivery__file_and_consumer(void **state)
{
	(void)state;
	deliver(true);
}

/* The timer closes batches, empty ones too: their watermark tells that nothing happened. */
static void test_delivery__timer(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct consumer consumer = {0};

	(void)state;
	fixture_open(&fixture);
	config = realtime_config(&fixture, false);
	config.log_file_mode |= 0x10; /* EVENT_TRACE_USE_MS_FLUSH_TIMER */
	config.flush_timer = 5;
	session = fixture_start(&fixture, &config);
	subscribe(session, 0, &consumer);
	while (load_acquire(&consumer.batches) < 3)
		(void)usleep(1000);
	etw_session_stop(session, &info);
	assert_int_equal(consumer.events, 0);
	assert_true(consumer.watermark_raw > 0);
	unsubscribe(session, &consumer);
	etw_session_free(session);
	fixture_close(&fixture);
}

/* A consumer that gives nothing back loses buffers, is told how many, and the next buffer says so. */
static void test_delivery__slow_consumer_loses_buffers(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer;
	struct consumer consumer = {.is_lazy = true};
	uint64_t slots;

	(void)state;
	fixture_open(&fixture);
	config = realtime_config(&fixture, false);
	config.buffer_kib = 4; /* a piece takes a slot */
	session = fixture_start(&fixture, &config);
	subscribe(session, 0, &consumer);
	slots = consumer.page->slot_count;
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	for (uint64_t i = 0; i < slots + 5; i++) {
		assert_int_equal(fixture_write(&writer, 0x60), 0);
		assert_int_equal(etw_session_flush(session), 0);
	}
	assert_int_equal(consumer.events, slots);
	assert_int_equal(buffers_lost(&consumer), 5);
	assert_int_equal(events_lost(&consumer), 5);
	/* Believed only as far as is possible. */
	store_release(&consumer.page->released_pieces, UINT64_MAX);
	store_release(&consumer.page->released, UINT64_MAX);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	assert_int_equal(etw_session_flush(session), 0);
	assert_int_equal(consumer.events, slots + 1);
	assert_int_equal(consumer.flagged, 1);
	etw_session_stop(session, &info);
	assert_int_equal(info.real_time_buffers_lost, 5);
	unsubscribe(session, &consumer);
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static void test_delivery__errors(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct consumer consumers[9] = {{0}};

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	session = fixture_start(&fixture, &config);
	assert_int_equal(try_subscribe(session, 0, &consumers[0]),
			 -EINVAL); /* not a real-time session */
	etw_session_free(session);
	config = realtime_config(&fixture, false);
	session = fixture_start(&fixture, &config);
	for (uint64_t i = 0; i < 8; i++)
		subscribe(session, i, &consumers[i]);
	assert_int_equal(try_subscribe(session, 7, &consumers[8]), -EBUSY); /* there already */
	assert_int_equal(try_subscribe(session, 0, &consumers[8]), -EBUSY);
	for (int i = 0; i < 8; i++)
		unsubscribe(session, &consumers[i]);
	etw_session_unsubscribe(session, NULL);
	etw_session_stop(session, &info);
	assert_int_equal(try_subscribe(session, 0, &consumers[0]), -ESHUTDOWN);
	etw_session_free(session);
	fixture_close(&fixture);
}

/* Three batches while an event is being written: returns whether it was in time to be taken. */
static bool deliver_beside_a_gap(struct etw_session *session, struct fixture_writer *writer,
				 const struct consumer *consumer)
{
	struct fixture_payload payload = {writer->id, writer->written++};
	struct wire_session_info before, after;
	uint32_t batches = load_acquire(&consumer->batches);
	struct etw_ring_span span;

	etw_session_info(session, &before);
	assert_int_equal(etw_ring_reserve(&writer->set, writer->clock, 0x60, &span), 0);
	while (load_acquire(&consumer->batches) < batches + 3)
		(void)usleep(500);
	fixture_make_event(span.at, 0x60, span.time_raw);
	memcpy(span.at + sizeof(struct wire_event_header), &payload, sizeof(payload));
	etw_ring_commit(&span);
	assert_int_equal(etw_session_flush(session), 0);
	etw_session_info(session, &after);
	return after.loss.gaps == before.loss.gaps;
}

/* A gap lasts for 100 ms, and the timer does not wait for it. */
static void test_delivery__timer_does_not_wait_for_gaps(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct etw_session *session;
	struct fixture_writer writer;
	struct consumer consumer = {0};
	int tries = 1;

	(void)state;
	fixture_open(&fixture);
	config = realtime_config(&fixture, false);
	config.log_file_mode |= EVENT_TRACE_USE_MS_FLUSH_TIMER;
	config.flush_timer = 5;
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	subscribe(session, 1, &consumer);
	while (!deliver_beside_a_gap(session, &writer, &consumer)) /* a machine that is busy */
		assert_true(tries++ < 50);
	unsubscribe(session, &consumer);
	etw_session_stop(session, NULL);
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* One event that a buffer can hold, to tell of @lost ones that none can. */
static void lose(struct etw_session *session, struct fixture_writer *writer, int lost)
{
	for (int i = 0; i < lost; i++)
		assert_int_equal(fixture_write(writer, 5000), -EMSGSIZE);
	assert_int_equal(fixture_write(writer, 0x60), 0);
	assert_int_equal(etw_session_flush(session), 0);
}

/* Breaks the set, and waits until it is closed; the writer has the next one. */
static void change_set(struct fixture *fixture, struct etw_session *session,
		       struct fixture_writer *writer)
{
	struct wire_session_info before, info;
	uint32_t old, next;
	int refusal;
	struct etw_ring_set_fds fds;

	etw_session_info(session, &before);
	assert_int_equal(fixture_ring_set(session, getuid(), &old), 0);
	store_relaxed((uint64_t *)(void *)etw_ring_at(&writer->set, 0), UINT64_MAX);
	while (load_relaxed(&fixture->replaced) == 0) {
		etw_context_kick(&session->context);
		(void)usleep(1000);
	}
	etw_ring_set_unmap(&writer->set);
	assert_int_equal(etw_session_ring_set(session, getuid(), &next, &fds, &refusal), 0);
	assert_int_equal(etw_ring_set_map(&fds, &writer->set), 0);
	etw_ring_set_close(&fds);
	etw_session_ring_set_gone(session, old);
	do {
		(void)usleep(1000);
		etw_session_info(session, &info);
	} while (info.number_of_buffers != before.number_of_buffers);
}

/* Buffers tell of each loss: also of fewer events than a ring lost that is closed by now, and of a source's. */
static void test_delivery__every_loss_is_flagged(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct etw_session *session;
	struct fixture_writer writer;
	struct consumer consumer = {0};

	(void)state;
	fixture_open(&fixture);
	fake_source_attach(&fixture);
	config = realtime_config(&fixture, false);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING |
				EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	session = fixture_start(&fixture, &config);
	subscribe(session, 11, &consumer);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	lose(session, &writer, 0);
	assert_int_equal(consumer.lossy, 0);
	lose(session, &writer, 3);
	assert_int_equal(consumer.lossy, 1);
	change_set(&fixture, session, &writer);
	lose(session, &writer, 0);
	assert_int_equal(consumer.lossy, 1);
	lose(session, &writer, 2);
	assert_int_equal(consumer.lossy, 2);
	store_relaxed(&fake_source_memory->lost, UINT64_C(1));
	lose(session, &writer, 0);
	assert_int_equal(consumer.lossy, 3);
	etw_session_stop(session, NULL);
	unsubscribe(session, &consumer);
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
	fake_source_detach();
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delivery__timer_does_not_wait_for_gaps),
		cmocka_unit_test(test_delivery__consumer_gets_everything),
		cmocka_unit_test(test_delivery__file_and_consumer),
		cmocka_unit_test(test_delivery__timer),
		cmocka_unit_test(test_delivery__slow_consumer_loses_buffers),
		cmocka_unit_test(test_delivery__errors),
		cmocka_unit_test(test_delivery__every_loss_is_flagged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
