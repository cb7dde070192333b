/* SPDX-License-Identifier: MIT */
/* Ring sets of a session: one for each uid, gaps, hostile memory, replacement. */
#include <sys/stat.h>
#include <time.h>

#include "fixture.h"
#include "session/session_internal.h"
#include "trace_reading.h"

static pthread_t flusher;

static void *flush(void *session)
{
	assert_int_equal(etw_session_flush(session), 0);
	return NULL;
}

/* Looks at the open buffers, as long as they have gaps. */
static void begin_flush(struct etw_session *session)
{
	assert_int_equal(pthread_create(&flusher, NULL, flush, session), 0);
}

static void end_flush(void)
{
	assert_int_equal(pthread_join(flusher, NULL), 0);
}

static void test_ring_sets__one_set_for_each_uid(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	uint32_t first, again, other;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	session = fixture_start(&fixture, &config);
	assert_int_equal(fixture_ring_set(session, 1, &first), 0);
	assert_int_equal(fixture_ring_set(session, 1, &again), 0);
	assert_int_equal(fixture_ring_set(session, 2, &other), 0);
	assert_int_equal(first, again);
	assert_int_not_equal(first, other);
	for (uid_t uid = 3; uid <= 48; uid++)
		assert_int_equal(fixture_ring_set(session, uid + 100000, &other), 0);
	/* Many users leave places to root; and those that have a set keep it. */
	assert_int_equal(fixture_ring_set(session, 65, &other), -ENOSPC);
	assert_int_equal(fixture_ring_set(session, 0, &other), 0);
	assert_int_equal(fixture_ring_set(session, 1, &again), 0);
	assert_int_equal(first, again);
	etw_session_stop(session, &info);
	assert_int_equal(fixture_ring_set(session, 1, &other), -ESHUTDOWN);
	etw_session_free(session);
	for (int i = 0; i < FIXTURE_FDS; i++) /* nothing of it is kept any more */
		assert_int_equal(fixture.kept[i].name[0], 0);
	fixture_close(&fixture);
}

/* An event that is never committed costs 100 ms and itself, and nothing behind it. */
static void test_ring_sets__gap_is_counted(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer;
	struct etw_ring_span span;
	struct reading reading;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	assert_int_equal(etw_ring_reserve(&writer.set, writer.clock, 0x60, &span), 0);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	assert_int_equal(etw_session_flush(session), 0);
	etw_session_info(session, &info);
	assert_int_equal(info.events, 2);
	assert_int_equal(info.loss.gaps, 1);
	etw_session_stop(session, &info);
	assert_int_equal(info.events, 2);
	assert_int_equal(info.events_lost, 1);
	etw_session_free(session);
	read_trace(fixture.path, &reading);
	assert_int_equal(reading.events, 2);
	reading_done(&reading);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* Behind a gap events lie as close as ever: what fits ten buffers needs no more. */
static void test_ring_sets__gap_uses_up_no_buffers(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer;
	struct etw_ring_span span;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	config.maximum_buffers = 1; /* the fewest that there can be */
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	assert_int_equal(etw_ring_reserve(&writer.set, writer.clock, 0x60, &span), 0);
	for (int i = 0; i < 90; i++) {
		assert_int_equal(fixture_write(&writer, 400), 0);
		if (i == 0)
			begin_flush(session);
		(void)usleep(1000);
	}
	end_flush();
	etw_session_stop(session, &info);
	assert_int_equal(info.events, 90);
	assert_int_equal(info.events_lost, 1);
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* Buffers that keep their gaps wear a set out: there is a new one, and the old one goes in the end. */
static void test_ring_sets__worn_out_set_is_replaced(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer;
	struct etw_ring_span span;
	uint32_t ring_set, old;
	bool is_written;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	assert_int_equal(fixture_ring_set(session, getuid(), &old), 0);
	while (load_relaxed(&fixture.replaced) == 0) {
		/* One gap for each buffer: nothing else fits beside it. */
		if (etw_ring_reserve(&writer.set, writer.clock, 4000, &span) < 0)
			(void)usleep(1000);
	}
	assert_int_equal(load_relaxed(&fixture.last_replaced), old);
	assert_int_equal(fixture_ring_set(session, getuid(), &ring_set), 0);
	assert_int_not_equal(ring_set, old);
	/* Who has not heard of it yet goes on, if there is a buffer left. */
	is_written = fixture_write(&writer, 0x60) == 0;
	etw_session_ring_set_gone(session, old);
	while (!load_acquire(&etw_ring_set_page(&writer.set)->is_retired))
		(void)usleep(1000);
	assert_int_equal(etw_ring_reserve(&writer.set, writer.clock, 4000, &span), -ESTALE);
	etw_ring_set_unmap(&writer.set);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	assert_int_equal(etw_session_flush(session), 0);
	etw_session_info(session, &info);
	assert_int_equal(info.events, 1 + is_written);
	assert_true(info.loss.gaps > 0);
	etw_session_stop(session, &info);
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static uint32_t count_kept(struct fixture *fixture)
{
	uint32_t count = 0;

	pthread_mutex_lock(&fixture->lock);
	for (int i = 0; i < FIXTURE_FDS; i++)
		count += fixture->kept[i].name[0] != '\0';
	pthread_mutex_unlock(&fixture->lock);
	return count;
}

/* The memory behind the descriptors that are kept of ring sets. */
static uint64_t kept_ring_bytes(struct fixture *fixture)
{
	uint64_t bytes = 0;

	pthread_mutex_lock(&fixture->lock);
	for (int i = 0; i < FIXTURE_FDS; i++) {
		struct stat status;

		if (strncmp(fixture->kept[i].name, "session-7/page-", 15) != 0 &&
		    strncmp(fixture->kept[i].name, "session-7/ring-", 15) != 0)
			continue;
		assert_int_equal(fstat(fixture->kept[i].fd, &status), 0);
		bytes += (uint64_t)status.st_blocks * 512;
	}
	pthread_mutex_unlock(&fixture->lock);
	return bytes;
}

/* Gives the writer's set as many gaps as wear it out, and no more: then waits until it is retired. */
static void wear_out(struct fixture *fixture, struct etw_session *session,
		     struct fixture_writer *writer)
{
	uint32_t before = load_relaxed(&fixture->replaced);
	struct etw_ring_span span;
	uint32_t old;

	assert_int_equal(fixture_ring_set(session, getuid(), &old), 0);
	for (uint32_t i = 0; i <= (writer->set.buffer_count + 1) / 2; i++)
		assert_int_equal(etw_ring_reserve(&writer->set, writer->clock, 4000, &span), 0);
	while (load_relaxed(&fixture->replaced) == before)
		(void)usleep(1000);
	etw_session_ring_set_gone(session, old);
	while (!load_acquire(&etw_ring_set_page(&writer->set)->is_retired))
		(void)usleep(1000);
}

/* Who was not told that a set is replaced writes on: each event counts, also when the set is long closed. */
static void test_ring_sets__what_a_replaced_set_refuses_is_counted(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info before, info;
	struct etw_session *session;
	struct fixture_writer first, second;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &first);
	wear_out(&fixture, session, &first);
	assert_int_equal(etw_ring_refuse(&first.set), -ENOBUFS);
	etw_session_info(session, &info);
	assert_int_equal(info.loss.replaced, 1);
	fixture_attach(&fixture, session, getuid(), 0, &second);
	wear_out(&fixture, session, &second);
	do { /* until both are closed and this is all that is left of their memory */
		(void)usleep(1000);
		etw_session_info(session, &before);
	} while (before.free_buffers != before.number_of_buffers);
	assert_int_equal(count_kept(&fixture), 4); /* state, file, two pages */
	/* Whoever still has the old rings mapped fills memory of his own alone. */
	memset(etw_ring_at(&first.set, 0), 0x5A, first.set.ring_stride);
	assert_int_equal(kept_ring_bytes(&fixture), 2 * first.set.rings_at);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(fixture_write(&first, 0x60), -ESTALE);
		assert_int_equal(etw_ring_refuse(&first.set), -ENOBUFS);
	}
	assert_int_equal(etw_ring_refuse(&second.set), -ENOBUFS);
	etw_session_info(session, &info);
	assert_int_equal(info.loss.replaced, 12);
	assert_int_equal(info.events_lost, before.events_lost + 11);
	etw_session_stop(session, &info);
	/* Now nobody wants them. */
	assert_int_equal(etw_ring_refuse(&first.set), 0);
	assert_int_equal(etw_ring_refuse(&second.set), 0);
	assert_int_equal(info.loss.replaced, 12);
	assert_int_equal(info.events_lost, before.events_lost + 11);
	assert_int_equal(count_kept(&fixture), 0);
	etw_session_free(session);
	etw_ring_set_unmap(&first.set);
	etw_ring_set_unmap(&second.set);
	fixture_close(&fixture);
}

static void await_free_buffers(struct etw_session *session)
{
	struct wire_session_info info;

	do {
		(void)usleep(1000);
		etw_session_info(session, &info);
	} while (info.free_buffers != info.number_of_buffers);
}

/* One gap does not wear a set out; but who left it is dead, and its buffer comes back with another set. */
static void test_ring_sets__buffer_of_a_dead_writer_comes_back(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer;
	struct etw_ring_span span;
	uint32_t old;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	assert_int_equal(fixture_ring_set(session, getuid(), &old), 0);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	etw_session_ring_set_left(session, old, false); /* in peace */
	assert_int_equal(etw_session_flush(session), 0);
	await_free_buffers(session);
	assert_int_equal(etw_ring_reserve(&writer.set, writer.clock, 0x60, &span), 0);
	assert_int_equal(etw_session_flush(session), 0);
	etw_session_info(session, &info);
	assert_int_equal(info.loss.gaps, 1);
	assert_true(info.free_buffers < info.number_of_buffers);
	/* And one in the open buffer, which nobody has looked at. */
	assert_int_equal(etw_ring_reserve(&writer.set, writer.clock, 0x60, &span), 0);
	etw_session_ring_set_left(session, old, false);
	while (load_relaxed(&fixture.replaced) == 0)
		(void)usleep(1000);
	assert_int_equal(load_relaxed(&fixture.last_replaced), old);
	etw_session_ring_set_gone(session, old);
	await_free_buffers(session);
	etw_session_stop(session, &info);
	assert_int_equal(info.events, 1);
	assert_int_equal(info.loss.gaps, 2);
	assert_int_equal(load_relaxed(&fixture.replaced), 1);
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* Leaves as many gaps in the uid's set as wear it out. */
static void leave_gaps(struct fixture *fixture, struct etw_session *session, uid_t uid)
{
	struct fixture_writer writer;
	struct etw_ring_span span;

	fixture_attach(fixture, session, uid, 0, &writer);
	for (uint32_t i = 0; i <= (writer.set.buffer_count + 1) / 2; i++)
		assert_int_equal(etw_ring_reserve(&writer.set, writer.clock, 4000, &span), 0);
	etw_context_kick(&session->context);
	etw_ring_set_unmap(&writer.set);
}

/* The session sends the processes of a uid elsewhere, and they never go. Returns the set that they keep. */
static uint32_t spoil_set(struct fixture *fixture, struct etw_session *session, uid_t uid)
{
	uint32_t before = load_relaxed(&fixture->replaced);

	leave_gaps(fixture, session, uid);
	while (load_relaxed(&fixture->replaced) == before)
		(void)usleep(1000);
	return load_relaxed(&fixture->last_replaced);
}

static struct etw_session *start_with_few_buffers(struct fixture *fixture)
{
	struct wire_session_config config = fixture_config(fixture);

	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	config.maximum_buffers = 1; /* the fewest that there can be */
	return fixture_start(fixture, &config);
}

/* A process that spoils each set that it gets, and gives none back, takes no place of others. */
static void test_ring_sets__spoilt_sets_of_a_uid_are_limited(void **state)
{
	struct fixture fixture;
	struct etw_session *session;
	uint32_t last = 0, ring_set;

	(void)state;
	fixture_open(&fixture);
	session = start_with_few_buffers(&fixture);
	for (int i = 0; i < 7; i++)
		last = spoil_set(&fixture, session, 1);
	leave_gaps(&fixture, session, 1);
	assert_int_equal(fixture_ring_set(session, 2, &ring_set), 0);
	assert_int_equal(etw_session_flush(session), 0);
	/* The eighth is used on until one comes back, which makes room for another. */
	assert_int_equal(load_relaxed(&fixture.replaced), 7);
	etw_session_ring_set_gone(session, last);
	while (load_relaxed(&fixture.replaced) == 7) {
		(void)usleep(1000);
		assert_int_equal(etw_session_flush(session), 0);
	}
	etw_session_stop(session, NULL);
	etw_session_free(session);
	fixture_close(&fixture);
}

/* Of a broken set nothing is read any more: its memory is not kept for a process that does not give it back. */
static void test_ring_sets__a_broken_set_is_closed_whoever_keeps_it(void **state)
{
	struct fixture fixture;
	struct etw_session *session;
	struct fixture_writer writers[12];

	(void)state;
	fixture_open(&fixture);
	session = start_with_few_buffers(&fixture);
	for (uint32_t i = 0; i < 12; i++) {
		fixture_attach(&fixture, session, 1, 0, &writers[i]);
		store_relaxed((uint64_t *)(void *)etw_ring_at(&writers[i].set, 0), UINT64_MAX);
		while (load_relaxed(&fixture.replaced) == i) {
			etw_context_kick(&session->context);
			(void)usleep(1000);
		}
		/* As long as it is there it counts; it goes by itself. */
		while (fixture_kept_count(&fixture, "session-7/ring-") > 0)
			(void)usleep(1000);
	}
	etw_session_stop(session, NULL);
	etw_session_free(session);
	for (uint32_t i = 0; i < 12; i++)
		etw_ring_set_unmap(&writers[i].set);
	fixture_close(&fixture);
}

/* How often the session's thread has gone to sleep. */
static unsigned long count_sleeps(struct etw_session *session)
{
	struct wire_session_info info;
	unsigned long count = 0;
	char path[64], line[128];
	FILE *file;

	etw_session_info(session, &info);
	(void)snprintf(path, sizeof(path), "/proc/self/task/%u/status", info.logger_thread_id);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) &&
	       sscanf(line, "voluntary_ctxt_switches: %lu", &count) != 1)
		;
	(void)fclose(file);
	return count;
}

/* A gap that cannot be got rid of, because the uid has its sets already, keeps nobody awake. */
static void test_ring_sets__gap_that_stays_lets_the_session_sleep(void **state)
{
	struct fixture fixture;
	struct etw_session *session;
	struct fixture_writer writer;
	struct etw_ring_span span;
	unsigned long before;
	uint32_t last;

	(void)state;
	fixture_open(&fixture);
	session = start_with_few_buffers(&fixture);
	for (int i = 0; i < 7; i++)
		(void)spoil_set(&fixture, session, 1);
	fixture_attach(&fixture, session, 1, 0, &writer);
	assert_int_equal(fixture_ring_set(session, 1, &last), 0);
	assert_int_equal(etw_ring_reserve(&writer.set, writer.clock, 0x60, &span), 0);
	assert_int_equal(etw_session_flush(session), 0);
	etw_session_ring_set_left(session, last, false);
	(void)usleep(1200000); /* what a process left is known after a second */
	before = count_sleeps(session);
	(void)usleep(500000);
	assert_true(count_sleeps(session) - before < 50);
	assert_int_equal(load_relaxed(&fixture.replaced), 7);
	etw_session_stop(session, NULL);
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* Memory that a hostile process writes to at will is a race by its nature. */
#if defined(__SANITIZE_THREAD__)
#define IS_RACE_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_RACE_CHECKED 1
#endif
#endif

#ifndef IS_RACE_CHECKED
struct scribbler {
	struct etw_ring_set *set;
	uint32_t is_done; /* atomic */
	unsigned seed;
	bool all; /* the page and the words too, else what lies in buffers and maps */
};

static void *scribble(void *context)
{
	struct scribbler *own = context;
	uint64_t from = own->all ? 0x100 : own->set->rings_at + own->set->maps_at;

	while (!load_relaxed(&own->is_done)) {
		for (int i = 0; i < 200; i++) {
			uint64_t at = from + ((uint64_t)rand_r(&own->seed) * 31 +
					      (uint64_t)rand_r(&own->seed)) %
						     (own->set->total_bytes - from);

			store_relaxed(own->set->memory + at, (uint8_t)rand_r(&own->seed));
		}
		(void)usleep(50);
	}
	return NULL;
}

/* Another uid's ring is scribbled over while this one's is written: nothing of this one is lost. */
static void survive(bool all)
{
	enum {
		EVENTS = 20000
	};
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer, hostile;
	struct scribbler scribbler = {
		.set = &hostile.set, .seed = (unsigned)time(NULL), .all = all};
	pthread_t thread;
	struct reading reading;

	print_message("seed %u\n", scribbler.seed);
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.maximum_buffers = 400;
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	fixture_attach(&fixture, session, getuid() + 1, 1, &hostile);
	assert_int_equal(pthread_create(&thread, NULL, scribble, &scribbler), 0);
	for (uint32_t i = 0; i < EVENTS; i++) {
		(void)fixture_write(&writer, 0x60);
		if (i % 16 == 0)
			(void)fixture_write(&hostile, 0x60);
		if (i % 64 == 0)
			(void)usleep(200);
	}
	store_relaxed(&scribbler.is_done, 1u);
	pthread_join(thread, NULL);
	etw_session_stop(session, &info);
	etw_session_free(session);
	/* Its own numbers may be anything, and may show up in the account; the file is sound. */
	fixture_count_only(fixture.path, &reading);
	assert_int_equal(reading.out_of_order, 0);
	assert_int_equal(reading.findings, 0);
	assert_int_equal(reading.by_writer[0], writer.written);
	reading_done(&reading);
	etw_ring_set_unmap(&writer.set);
	etw_ring_set_unmap(&hostile.set);
	fixture_close(&fixture);
}

static void test_ring_sets__hostile_events(void **state)
{
	(void)state;
	survive(false);
}

static void test_ring_sets__hostile_words(void **state)
{
	(void)state;
	survive(true);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_sets__one_set_for_each_uid),
		cmocka_unit_test(test_ring_sets__gap_is_counted),
		cmocka_unit_test(test_ring_sets__gap_uses_up_no_buffers),
		cmocka_unit_test(test_ring_sets__worn_out_set_is_replaced),
		cmocka_unit_test(test_ring_sets__what_a_replaced_set_refuses_is_counted),
		cmocka_unit_test(test_ring_sets__buffer_of_a_dead_writer_comes_back),
		cmocka_unit_test(test_ring_sets__spoilt_sets_of_a_uid_are_limited),
		cmocka_unit_test(test_ring_sets__a_broken_set_is_closed_whoever_keeps_it),
		cmocka_unit_test(test_ring_sets__gap_that_stays_lets_the_session_sleep),
#ifndef IS_RACE_CHECKED
		cmocka_unit_test(test_ring_sets__hostile_events),
		cmocka_unit_test(test_ring_sets__hostile_words),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
