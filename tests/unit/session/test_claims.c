/* SPDX-License-Identifier: MIT */
/* Counters in memory that hostile processes write: what is believed, and of whom. */
#include "session/common/claims.h"

#include <sched.h>

#include "consumer/trace.h"
#include "fixture.h"
#include "session/common/account.h"
#include "session/session_internal.h"

#define OTHER        4000
#define ANOTHER      4001
#define QUESTIONS    400
#define CLAIMS       200000
#define THREADS_MOST 32768 /* that Linux has numbers for, unless told otherwise */

struct scene {
	struct fixture fixture;
	struct etw_session *session;
	struct fixture_writer own, other;
	struct wire_session_info info;
};

static void begin(struct scene *scene)
{
	struct wire_session_config config;

	fixture_open(&scene->fixture);
	config = fixture_config(&scene->fixture);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	scene->session = fixture_start(&scene->fixture, &config);
	fixture_attach(&scene->fixture, scene->session, getuid(), 0, &scene->own);
	fixture_attach(&scene->fixture, scene->session, OTHER, 1, &scene->other);
}

static void look(struct scene *scene)
{
	assert_int_equal(etw_session_flush(scene->session), 0);
	etw_session_info(scene->session, &scene->info);
}

static void end(struct scene *scene)
{
	etw_session_free(scene->session);
	etw_ring_set_unmap(&scene->own.set);
	etw_ring_set_unmap(&scene->other.set);
	fixture_close(&scene->fixture);
}

static struct wire_ring *ring_of(const struct fixture_writer *writer)
{
	return (struct wire_ring *)(void *)etw_ring_at(&writer->set, 0);
}

/*
 * Writes until an event is refused. The session's thread asks under its lock in each round whether to stop, so it takes
 * nothing meanwhile: neither does it keep up, nor does it see a gap where this thread has to wait inside a write.
 */
static void overflow(struct scene *scene, struct fixture_writer *writer)
{
	pthread_mutex_lock(&scene->session->flushes.lock);
	while (writer->refused == 0)
		(void)fixture_write(writer, 0x60);
	pthread_mutex_unlock(&scene->session->flushes.lock);
}

static void test_claims__what_is_true_is_told_of_whom_it_is(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	overflow(&scene, &scene.own);
	overflow(&scene, &scene.other);
	look(&scene);
	assert_int_equal(scene.info.loss.no_buffer, scene.own.refused);
	assert_int_equal(scene.info.loss.others, scene.other.refused);
	assert_int_equal(scene.info.loss.others_counted, scene.other.refused);
	assert_int_equal(scene.info.loss.claims[0].uid, OTHER);
	assert_int_equal(scene.info.loss.claims[0].events, scene.other.refused);
	assert_int_equal(scene.info.loss.claims[1].events, 0);
	assert_int_equal(scene.info.loss.disregarded, 0);
	assert_int_equal(scene.info.events_lost, scene.own.refused + scene.other.refused);
	assert_int_equal(scene.info.complaint[0], 0);
	etw_session_stop(scene.session, &scene.info);
	assert_int_equal(scene.info.loss.no_buffer, scene.own.refused);
	assert_int_equal(scene.info.loss.others, scene.other.refused);
	end(&scene);
}

/* The counter says that there was no buffer, and there always was one. */
static void test_claims__a_ring_that_was_never_full_refused_nobody(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	assert_int_equal(fixture_write(&scene.other, 0x60), 0);
	look(&scene);
	store_relaxed(&ring_of(&scene.other)->lost_no_buffer, UINT64_C(1000000));
	look(&scene);
	assert_int_equal(scene.info.events_lost, 0);
	assert_int_equal(scene.info.loss.others, 0);
	assert_int_equal(scene.info.loss.disregarded, 1000000);
	assert_int_equal(scene.info.loss.claims[0].uid, OTHER);
	assert_int_equal(scene.info.loss.claims[0].disregarded, 1000000);
	assert_non_null(strstr(scene.info.complaint, "user 4000 claims"));
	etw_session_stop(scene.session, &scene.info);
	assert_int_equal(scene.info.events_lost, 0);
	end(&scene);
}

/* A thread that found no buffer may be suspended before it counts, and there may be very many threads. */
static void regress_claims__each_thread_may_count_late(void **state)
{
	static struct scene scene;
	uint64_t counted;

	(void)state;
	begin(&scene);
	overflow(&scene, &scene.other);
	look(&scene);
	/* The next rise was before the ring got a buffer, for all that is known; those behind it were not. */
	counted = load_relaxed(&ring_of(&scene.other)->lost_no_buffer) + 1;
	store_relaxed(&ring_of(&scene.other)->lost_no_buffer, counted);
	look(&scene);
	for (int i = 0; i < 2; i++) {
		counted += THREADS_MOST / 2;
		store_relaxed(&ring_of(&scene.other)->lost_no_buffer, counted);
		look(&scene);
		assert_int_equal(scene.info.loss.others, counted);
		assert_int_equal(scene.info.loss.disregarded, 0);
	}
	store_relaxed(&ring_of(&scene.other)->lost_no_buffer, counted + 1);
	look(&scene);
	assert_int_equal(scene.info.loss.others, counted);
	assert_int_equal(scene.info.loss.disregarded, 1);
	end(&scene);
}

/* However long the session runs, no processor counts as fast as this. */
static void test_claims__no_number_hides_what_is_known(void **state)
{
	static const uint64_t numbers[] = {UINT32_MAX * UINT64_C(1000000), UINT64_MAX,
					   UINT64_MAX - 1, UINT64_MAX / 2 + 5};
	static struct scene scene;

	(void)state;
	begin(&scene);
	overflow(&scene, &scene.own);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		overflow(&scene, &scene.other);
		store_relaxed(&ring_of(&scene.other)->lost_no_buffer, numbers[i]);
		store_relaxed(&ring_of(&scene.other)->lost_too_large, numbers[i]);
		look(&scene);
		assert_int_equal(scene.info.loss.no_buffer, scene.own.refused);
		assert_int_equal(scene.info.loss.too_large, 0);
		assert_true(scene.info.loss.others <= scene.other.refused);
		assert_true(scene.info.events_lost <= scene.own.refused + scene.other.refused);
		assert_true(scene.info.events_lost >= scene.own.refused);
	}
	assert_true(scene.info.loss.disregarded == UINT64_MAX);
	assert_ptr_equal(strstr(strstr(scene.info.complaint, "claims") + 1, "claims"), NULL);
	end(&scene);
}

/* An event of eight bytes, which is none. */
static void write_junk(struct fixture *fixture, struct fixture_writer *writer)
{
	struct etw_ring_span span;

	assert_int_equal(etw_ring_reserve(&writer->set, &fixture->clock, 8, &span), 0);
	etw_store64(span.at, 8);
	etw_ring_commit(&span);
}

/* Junk is counted as it is read, and a process makes more than the field can count in some minutes. */
static void test_claims__junk_hides_nothing_either(void **state)
{
	static struct scene scene;
	struct etw_state_counts counts;
	struct wire_session_loss loss = {0};

	(void)state;
	begin(&scene);
	write_junk(&scene.fixture, &scene.own);
	write_junk(&scene.fixture, &scene.other);
	write_junk(&scene.fixture, &scene.other);
	look(&scene);
	assert_int_equal(scene.info.loss.rejected, 3);
	assert_int_equal(scene.info.events_lost, 3);
	etw_account_counts(&scene.session->context.state, &counts);
	assert_int_equal(counts.others_rejected, 2);
	counts.rejected += UINT64_C(1) << 40;
	counts.others_rejected += UINT64_C(1) << 40;
	counts.gaps = counts.others_gaps = UINT64_C(1) << 41;
	etw_account_refused(&counts, &loss);
	assert_int_equal(loss.rejected, ETW_CLAIM_COUNTED_MAX + 1);
	assert_int_equal(loss.gaps, ETW_CLAIM_COUNTED_MAX);
	assert_int_equal(loss.others, (UINT64_C(3) << 40) + 2 - 2 * ETW_CLAIM_COUNTED_MAX);
	assert_true(etw_account_events_lost(&loss) < UINT32_MAX);
	end(&scene);
}

/* A counter that falls takes nothing back, and counts on from there. */
static void test_claims__what_was_told_stays(void **state)
{
	static struct scene scene;
	uint64_t refused;

	(void)state;
	begin(&scene);
	overflow(&scene, &scene.other);
	look(&scene);
	refused = scene.other.refused;
	store_relaxed(&ring_of(&scene.other)->lost_no_buffer, UINT64_C(0));
	look(&scene);
	assert_int_equal(scene.info.loss.others, refused);
	(void)add_relaxed(&ring_of(&scene.other)->lost_too_large, UINT64_C(7));
	look(&scene);
	assert_int_equal(scene.info.loss.others, refused + 7);
	end(&scene);
}

static struct etw_session *asked_session;
static struct wire_session_loss asked_loss;

/* What anybody is told who asks while the memory of a set is already given back, and its place is not. */
static void forget_and_ask(void *context, const char *name)
{
	asked_loss = (struct wire_session_loss){0};
	etw_claims_sum(&asked_session->sets, &asked_loss);
	fixture_forget(context, name);
}

/* The counters of rings that are being closed fall to nothing; that is no lie of their writers. */
static void test_claims__nobody_lies_whose_set_is_closed(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	overflow(&scene, &scene.own);
	(void)add_relaxed(&ring_of(&scene.own)->lost_too_large, UINT64_C(7));
	look(&scene);
	asked_session = scene.session;
	scene.session->context.host.forget_fd = forget_and_ask;
	etw_session_stop(scene.session, &scene.info);
	assert_int_equal(asked_loss.no_buffer, scene.own.refused);
	assert_int_equal(asked_loss.too_large, 7);
	assert_int_equal(scene.info.loss.no_buffer, scene.own.refused);
	assert_int_equal(scene.info.loss.too_large, 7);
	assert_int_equal(scene.info.loss.disregarded, 0);
	assert_int_equal(scene.info.complaint[0], 0);
	end(&scene);
}

/* What one uid claims is told as a whole; the 32 bits of EventsLost have a part of it. */
static void test_claims__each_user_has_a_part_of_events_lost(void **state)
{
	static struct scene scene;
	struct etw_state_user *users;

	(void)state;
	begin(&scene);
	overflow(&scene, &scene.own);
	users = scene.session->context.state.head->users;
	for (uint32_t i = 5; i <= ETW_STATE_USERS; i++)
		users[i] = (struct etw_state_user){.uid = ANOTHER + i,
						   .is_used = 1,
						   .no_buffer = UINT64_C(1) << 40 << (i % 2)};
	look(&scene);
	assert_true(scene.info.loss.others > UINT64_C(1) << 45);
	assert_int_equal(scene.info.loss.others_counted,
			 (ETW_STATE_USERS + 1 - 5) * ETW_CLAIM_COUNTED_MAX);
	assert_int_equal(scene.info.events_lost,
			 scene.own.refused + scene.info.loss.others_counted);
	for (uint32_t i = 0; i < WIRE_CLAIMS_MAX; i++)
		assert_true(scene.info.loss.claims[i].events == UINT64_C(1) << 41);
	end(&scene);
}

/* Users that have nothing to claim give their place to others; the rest share the last. */
static void test_claims__places_of_users(void **state)
{
	static struct scene scene;
	struct etw_session_sets *sets;

	(void)state;
	begin(&scene);
	sets = &scene.session->sets;
	pthread_mutex_lock(&sets->lock);
	assert_int_equal(etw_claims_user(sets, getuid()), 0);
	assert_true(etw_claims_user(sets, 0) <= 1);
	for (uint32_t uid = 10000; uid < 20000; uid++)
		assert_true(etw_claims_user(sets, uid) < ETW_STATE_USERS);
	for (uint32_t uid = 30000; uid < 30200; uid++) {
		uint32_t place = etw_claims_user(sets, uid);

		sets->context->state.head->users[place].too_large = 1;
		assert_true(uid >= 30000 + ETW_STATE_USERS ? place == ETW_STATE_USERS
							   : place <= ETW_STATE_USERS);
	}
	assert_true(etw_claims_user(sets, OTHER) < ETW_STATE_USERS); /* has rings */
	pthread_mutex_unlock(&sets->lock);
	end(&scene);
}

static int take_note(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		     const EVENT_RECORD *record, struct etw_event_address address)
{
	static const GUID provider = WIRE_SESSION_NOTE_PROVIDER;
	const EVENT_HEADER_EXTENDED_DATA_ITEM *item;

	(void)buffer;
	(void)header_type;
	(void)address;
	if (!etw_guid_equal(&record->EventHeader.ProviderId, &provider))
		return 0;
	item = &record->ExtendedData[1];
	assert_true(wire_session_note_decode(
		(struct etw_bytes){(const uint8_t *)(uintptr_t)item->DataPtr, item->DataSize},
		(struct etw_bytes){record->UserData, record->UserDataLength},
		(struct wire_session_note *)context));
	return 0;
}

static void test_claims__the_file_tells_them(void **state)
{
	static struct scene scene;
	struct wire_session_note note = {.kind = WIRE_NOTE_KINDS};
	struct etw_trace_visitor visitor = {.context = &note, .event = take_note};
	struct etw_trace *trace;
	struct etw_fault fault;

	(void)state;
	begin(&scene);
	overflow(&scene, &scene.own);
	(void)add_relaxed(&ring_of(&scene.other)->lost_too_large, UINT64_C(7));
	look(&scene);
	store_relaxed(&ring_of(&scene.other)->lost_too_large, UINT64_MAX);
	etw_session_stop(scene.session, &scene.info);
	assert_int_equal(etw_trace_open(scene.fixture.path, &trace, &fault), 0);
	assert_int_equal(etw_trace_each_buffer(trace, &visitor), 0);
	/* Gaps: a loaded machine may keep a writer from its processor in the midst of an event. */
	assert_int_equal(etw_trace_header(trace)->events_lost,
			 scene.own.refused + 7 + scene.info.loss.gaps);
	etw_trace_close(trace);
	assert_int_equal(note.kind, WIRE_NOTE_CLAIMED_LOSS);
	assert_int_equal(note.numbers[0], OTHER);
	assert_int_equal(note.numbers[1], 7);
	assert_true(note.numbers[2] == UINT64_MAX - 7);
	assert_non_null(strstr(note.message, "processes of user 4000 say that they lost 7 events"));
	end(&scene);
}

static void *claim_often(void *context)
{
	struct scene *scene = context;

	for (uint64_t i = 1; i <= CLAIMS; i++) {
		store_relaxed(&ring_of(&scene->other)->lost_no_buffer, i);
		(void)sched_yield();
	}
	return NULL;
}

static void *ask_often(void *context)
{
	struct scene *scene = context;

	for (int i = 0; i < QUESTIONS; i++)
		etw_session_info(scene->session, &scene->info);
	return NULL;
}

/* For the thread sanitizer: whoever asks for a session judges claims as its thread does, which also seals buffers. */
static void test_claims__a_question_and_a_flush_at_once_agree(void **state)
{
	static struct scene scene;
	struct wire_session_config config;
	pthread_t claimer, asker;

	(void)state;
	fixture_open(&scene.fixture);
	config = fixture_config(&scene.fixture);
	config.log_file[0] = '\0';
	config.log_file_mode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	scene.session = fixture_start(&scene.fixture, &config);
	fixture_attach(&scene.fixture, scene.session, getuid(), 0, &scene.own);
	fixture_attach(&scene.fixture, scene.session, OTHER, 1, &scene.other);
	assert_int_equal(pthread_create(&claimer, NULL, claim_often, &scene), 0);
	assert_int_equal(pthread_create(&asker, NULL, ask_often, &scene), 0);
	for (int i = 0; i < QUESTIONS; i++) {
		assert_int_equal(fixture_write(&scene.own, 0x60), 0);
		assert_int_equal(etw_session_flush(scene.session), 0);
	}
	assert_int_equal(pthread_join(asker, NULL), 0);
	assert_int_equal(pthread_join(claimer, NULL), 0);
	look(&scene);
	assert_int_equal(scene.info.events, QUESTIONS);
	assert_int_equal(scene.info.loss.others + scene.info.loss.disregarded, CLAIMS);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claims__what_is_true_is_told_of_whom_it_is),
		cmocka_unit_test(test_claims__a_ring_that_was_never_full_refused_nobody),
		cmocka_unit_test(regress_claims__each_thread_may_count_late),
		cmocka_unit_test(test_claims__no_number_hides_what_is_known),
		cmocka_unit_test(test_claims__junk_hides_nothing_either),
		cmocka_unit_test(test_claims__what_was_told_stays),
		cmocka_unit_test(test_claims__nobody_lies_whose_set_is_closed),
		cmocka_unit_test(test_claims__each_user_has_a_part_of_events_lost),
		cmocka_unit_test(test_claims__places_of_users),
		cmocka_unit_test(test_claims__the_file_tells_them),
		cmocka_unit_test(test_claims__a_question_and_a_flush_at_once_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
