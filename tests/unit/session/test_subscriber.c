/* SPDX-License-Identifier: MIT */
/*
 * Consumers of a host that is killed: at random and at every point of handing out. The consumer is this
 * process; each host subscribes it anew as soon as it has read what the last one told. In the end every event
 * came once.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "recovery_host.h"
#include "session/subscriber.h"
#include "wire/delivery_layout.h"
#include "wire/etl_buffer.h"
#include "wire/session_note.h"

#define WRITERS      2
#define RANDOM_KILLS 40
#define POINT_KILLS  8
#define BATCHES_MAX  100000
#define EVENTS_MAX   (1u << 22) /* of each writer */
#define CONSUMER     42

/* Shared with the hosts. */
struct mail {
	uint32_t count, taken; /* batches told and read; atomic */
	uint32_t is_first;     /* of the hosts */
	uint32_t is_end;
	struct wire_batch batches[BATCHES_MAX];
	struct etw_session_subscribed first, last; /* what SUBSCRIBED said */
	int32_t result;
	uint64_t seen_batch, seen_pieces; /* as the consumer says in SUBSCRIBE */
};

struct scene {
	struct fixture fixture;
	struct recovery recovery;
	struct fixture_writer writers[WRITERS];
	pthread_t threads[WRITERS], reader;
	uint32_t is_done; /* atomic */
	uint8_t *memory;
	uint64_t taken;
	uint64_t events, notes, buffers;
	/* Of the reader's thread, which cannot fail the test itself. */
	uint32_t doubled, strange, misplaced, miscounted, flagged;
	uint8_t seen[WRITERS][EVENTS_MAX];
};

static struct mail *mail;

static void post_batch(void *context, const struct wire_batch *batch, bool is_end)
{
	uint32_t count = load_relaxed(&mail->count);

	(void)context;
	mail->batches[count] = *batch;
	mail->is_end |= is_end;
	store_release(&mail->count, count + 1);
}

/* In the host. As the library does, the consumer reads everything first. */
static void subscribe_again(struct recovery *recovery, struct etw_session *session)
{
	struct etw_session_subscribe request = {.consumer = CONSUMER, .notify = post_batch};

	(void)recovery;
	while (load_acquire(&mail->taken) < load_acquire(&mail->count))
		(void)usleep(100);
	request.last_batch = mail->seen_batch;
	request.pieces = mail->seen_pieces;
	mail->result = etw_session_subscribe(session, &request, &mail->last);
	if (mail->is_first)
		mail->first = mail->last;
	mail->is_first = 0;
}

static void map_memory(struct scene *scene)
{
	int fd = fixture_kept(&scene->fixture, "session-7/delivery-0");
	struct wire_delivery page;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &page, sizeof(page), 0), sizeof(page));
	scene->memory = mmap(NULL, page.slots_at + (size_t)page.slot_count * page.slot_bytes,
			     PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(scene->memory != MAP_FAILED);
	close(fd);
}

static void read_buffer(struct scene *scene, const uint8_t *buffer)
{
	static const GUID of_host = WIRE_SESSION_NOTE_PROVIDER;
	uint32_t valid = etw_load32(buffer + 0x30);

	for (uint32_t at = WIRE_BUFFER_HEADER_BYTES; at < valid;
	     at += ALIGN_UP(etw_load16(buffer + at), 8u)) {
		GUID provider =
			etw_guid_read(buffer + at + offsetof(struct wire_event_header, provider));
		struct fixture_payload payload;

		if (etw_guid_equal(&provider, &of_host)) {
			scene->notes++;
			continue;
		}
		memcpy(&payload, buffer + at + sizeof(struct wire_event_header), sizeof(payload));
		scene->events++;
		if (payload.writer < WRITERS && payload.number < EVENTS_MAX)
			scene->doubled += scene->seen[payload.writer][payload.number]++ != 0;
		else
			scene->strange++;
	}
	scene->flagged += (etw_load16(buffer + 0x34) & WIRE_BUFFER_BUFFER_LOST) != 0;
	scene->buffers++;
}

static void read_batch(struct scene *scene, const struct wire_batch *batch)
{
	struct wire_delivery *page;

	if (!scene->memory)
		map_memory(scene);
	page = (void *)scene->memory;
	scene->misplaced += batch->first_slot != scene->taken ||
			    batch->slot_count != batch->buffer_count;
	for (uint32_t i = 0; i < batch->buffer_count; i++)
		read_buffer(scene, scene->memory + page->slots_at +
					   scene->taken++ % page->slot_count * page->slot_bytes);
	mail->seen_batch = batch->batch;
	mail->seen_pieces = batch->pieces;
	/* All that was ever handed out is here. */
	scene->miscounted += scene->buffers != batch->pieces - mail->first.pieces ||
			     scene->events + scene->notes != batch->events - mail->first.events;
	store_release(&page->released_pieces, scene->taken);
	store_release(&page->released, scene->taken);
}

static void *read_all(void *context)
{
	struct scene *scene = context;
	uint32_t taken = 0;

	for (;;) {
		bool is_done = load_acquire(&scene->is_done) == 2;

		while (taken < load_acquire(&mail->count)) {
			read_batch(scene, &mail->batches[taken++]);
			store_release(&mail->taken, taken);
		}
		if (is_done)
			return NULL;
		(void)usleep(200);
	}
}

struct writing {
	struct scene *scene;
	struct fixture_writer *writer;
};

static void *write_until_done(void *context)
{
	struct writing *own = context;

	while (load_relaxed(&own->scene->is_done) == 0) {
		for (int i = 0; i < 8; i++)
			(void)fixture_write(own->writer, 0x58 + 8 * own->writer->id);
		(void)usleep(200);
	}
	return NULL;
}

static struct writing writing[WRITERS];

static void map_ring_set(struct scene *scene, uint32_t id)
{
	struct etw_ring_set_fds fds = fixture_kept_set(
		&scene->fixture, scene->recovery.shared->ring_sets[id % RECOVERY_UIDS]);

	scene->writers[id] = (struct fixture_writer){.clock = &scene->fixture.clock, .id = id};
	assert_int_equal(etw_ring_set_map(&fds, &scene->writers[id].set), 0);
	etw_ring_set_close(&fds);
}

static void begin_scene(struct scene *scene)
{
	struct wire_session_config config;

	memset(scene, 0, sizeof(*scene));
	mail = mmap(NULL, sizeof(*mail), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(mail != MAP_FAILED);
	mail->is_first = 1;
	fixture_open(&scene->fixture);
	config = fixture_config(&scene->fixture);
	config.log_file[0] = '\0';
	config.log_file_mode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_USE_MS_FLUSH_TIMER;
	config.flush_timer = 3;
	config.maximum_buffers = 400; /* of 4 KB: enough for the time without a host */
	recovery_open(&scene->fixture, &config, &scene->recovery);
	scene->recovery.on_session = subscribe_again;
	recovery_fork(&scene->recovery, NULL);
	assert_int_equal(scene->recovery.shared->failure, 0);
	assert_int_equal(mail->result, 0);
	scene->reader = recovery_start_thread(read_all, scene);
	for (uint32_t i = 0; i < WRITERS; i++) {
		map_ring_set(scene, i);
		writing[i] = (struct writing){scene, &scene->writers[i]};
		scene->threads[i] = recovery_start_thread(write_until_done, &writing[i]);
	}
}

static void end_scene(struct scene *scene)
{
	const struct wire_session_info *info = &scene->recovery.shared->info;
	uint64_t written = 0, refused[WRITERS];

	store_release(&scene->is_done, 1u);
	for (uint32_t i = 0; i < WRITERS; i++) {
		pthread_join(scene->threads[i], NULL);
		written += scene->writers[i].written;
		refused[i] = scene->writers[i].refused;
	}
	recovery_stop(&scene->recovery);
	store_release(&scene->is_done, 2u);
	pthread_join(scene->reader, NULL);
	print_message("%lu events, %lu and %lu refused, %lu buffers in %u batches\n", written,
		      refused[0], refused[1], scene->buffers, mail->count);
	assert_int_equal(mail->is_end, 1);
	assert_int_equal(scene->doubled, 0);
	assert_int_equal(scene->strange, 0);
	assert_int_equal(scene->misplaced, 0);
	assert_int_equal(scene->miscounted, 0);
	assert_int_equal(scene->flagged, 0);
	assert_int_equal(scene->events, written);
	assert_int_equal(info->loss.no_buffer, refused[0]);
	assert_int_equal(info->loss.others, refused[1]);
	assert_int_equal(info->loss.disregarded, 0);
	assert_int_equal(scene->notes, refused[1] > 0);
	assert_int_equal(info->events, written + scene->notes);
	assert_int_equal(info->real_time_buffers_lost, 0);
	for (uint32_t i = 0; i < WRITERS; i++)
		etw_ring_set_unmap(&scene->writers[i].set);
	recovery_close(&scene->recovery);
	fixture_close(&scene->fixture);
	munmap(mail, sizeof(*mail));
}

static void test_subscriber__killed_at_random(void **state)
{
	static struct scene scene;
	unsigned seed = (unsigned)time(NULL);

	(void)state;
	print_message("seed %u\n", seed);
	begin_scene(&scene);
	for (int i = 0; i < RANDOM_KILLS; i++) {
		(void)usleep((useconds_t)(rand_r(&seed) % 20000));
		recovery_kill(&scene.recovery);
		recovery_fork(&scene.recovery, NULL);
	}
	end_scene(&scene);
}

#ifdef ETW_SCHED_POINTS
static const char *const points[] = {
	"session.piece.copied",    "session.commit.before",   "session.commit.written",
	"session.commit.done",     "session.seal.recorded",   "session.seal.done",
	"session.batch.committed", "session.batch.announced",
};

static void test_subscriber__killed_at_points(void **state)
{
	static struct scene scene;
	struct recovery_shared *shared;

	(void)state;
	begin_scene(&scene);
	shared = scene.recovery.shared;
	for (size_t i = 0; i < ARRAY_SIZE(points) * POINT_KILLS; i++) {
		recovery_kill(&scene.recovery);
		(void)snprintf(shared->point, sizeof(shared->point), "%s",
			       points[i % ARRAY_SIZE(points)]);
		shared->countdown = (uint32_t)(1 + i / 3);
		recovery_fork(&scene.recovery, NULL);
		(void)waitpid(scene.recovery.host, NULL, 0); /* it dies by itself */
	}
	shared->point[0] = '\0';
	recovery_fork(&scene.recovery, NULL);
	end_scene(&scene);
}
#endif

static void ignore_batch(void *context, const struct wire_batch *batch, bool is_end)
{
	struct wire_batch *last = context;

	(void)is_end;
	*last = *batch;
}

/* As the library does, when it has read what it was told of. */
static void give_all_back(struct etw_subscriber *subscriber)
{
	struct wire_delivery *page = etw_subscriber_page(subscriber);

	store_release(&page->released_pieces, load_acquire(&page->written_pieces));
	store_release(&page->released, load_acquire(&page->written));
}

/* Its memory grows by slots, and what there is stays. */
static void test_subscriber__grows(void **state)
{
	const struct etw_session_plan plan = {.buffer_bytes = 4096, .output_count = 1};
	struct etw_subscriber *subscriber;
	struct stat stat;

	(void)state;
	assert_int_equal(etw_subscriber_create(&plan, 0, 0, &subscriber), 0);
	assert_int_equal(subscriber->grown, 0);
	assert_int_equal(fstat(subscriber->fd, &stat), 0);
	assert_int_equal(stat.st_size, subscriber->memory_bytes);
	assert_int_equal(stat.st_blocks * 512, subscriber->slots_at);
	assert_int_equal(etw_subscriber_grow(subscriber, 3), 0);
	assert_int_equal(etw_subscriber_grow(subscriber, 2), 0);
	assert_int_equal(subscriber->grown, 3);
	assert_int_equal(fstat(subscriber->fd, &stat), 0);
	assert_int_equal(stat.st_blocks * 512, subscriber->slots_at + 3 * subscriber->slot_bytes);
	etw_subscriber_free(subscriber);
}

static uint32_t slots_for(uint64_t bytes)
{
	const struct etw_session_plan plan = {
		.buffer_bytes = 65536, .output_count = 2, .ring_buffers = 16};
	struct etw_subscriber *subscriber;
	uint32_t result;

	assert_int_equal(etw_subscriber_create(&plan, 0, bytes, &subscriber), 0);
	result = subscriber->slot_count;
	etw_subscriber_free(subscriber);
	return result;
}

/* What a consumer asks for is raised to the session's own buffers, and limited. */
static void test_subscriber__memory_as_asked_for(void **state)
{
	(void)state;
	/* Of 4 KiB each. The rings take 2 MiB. */
	assert_int_equal(slots_for(0), 512 + 512 / 5 + 1 + 512);
	assert_int_equal(slots_for(1), 512);
	assert_int_equal(slots_for(UINT64_C(4) << 20), 1024);
	assert_int_equal(slots_for(UINT64_C(64) << 20), 16384);
	assert_int_equal(slots_for(UINT64_MAX), 65536);
}

/* One that comes back and whose memory is gone has lost what went by meanwhile; the session counts it. */
static void test_subscriber__comes_back_without_memory(void **state)
{
	struct etw_session_subscribe request = {.consumer = CONSUMER, .notify = ignore_batch};
	struct etw_session_subscribed first, second;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;
	struct wire_batch batch, other;
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_REAL_TIME_MODE;
	config.flush_timer = 3600;
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	request.context = &batch;
	assert_int_equal(etw_session_subscribe(session, &request, &first), 0);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	assert_int_equal(etw_session_flush(session), 0);
	assert_int_equal(batch.pieces, 1);
	give_all_back(first.subscriber);
	etw_session_unsubscribe(session, first.subscriber);
	/* Another one sees to it that something goes by. */
	request.consumer = CONSUMER + 1;
	request.context = &other;
	assert_int_equal(etw_session_subscribe(session, &request, &second), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(fixture_write(&writer, 0x60), 0);
		assert_int_equal(etw_session_flush(session), 0);
	}
	free(first.header_buffer);
	close(first.memory_fd);
	request.consumer = CONSUMER;
	request.context = &batch;
	request.last_batch = batch.batch;
	request.pieces = batch.pieces;
	assert_int_equal(etw_session_subscribe(session, &request, &first), 0);
	assert_int_equal(first.next_slot, 0);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	assert_int_equal(etw_session_flush(session), 0);
	assert_int_equal(batch.pieces, 5);
	assert_int_equal(batch.events, 5);
	assert_int_equal(batch.first_slot, 0);
	assert_int_equal(batch.buffer_count, 1);
	/* The flag of the first buffer says it. */
	assert_true(etw_load16(etw_subscriber_last(first.subscriber) + 0x34) &
		    WIRE_BUFFER_BUFFER_LOST);
	give_all_back(first.subscriber);
	etw_session_unsubscribe(session, first.subscriber);
	etw_session_stop(session, &info);
	assert_int_equal(info.real_time_buffers_lost, 3); /* also after it has left */
	etw_session_unsubscribe(session, second.subscriber);
	etw_session_free(session);
	free(first.header_buffer);
	free(second.header_buffer);
	close(first.memory_fd);
	close(second.memory_fd);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_subscriber__killed_at_random),
#ifdef ETW_SCHED_POINTS
		cmocka_unit_test(test_subscriber__killed_at_points),
#endif
		cmocka_unit_test(test_subscriber__grows),
		cmocka_unit_test(test_subscriber__memory_as_asked_for),
		cmocka_unit_test(test_subscriber__comes_back_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
