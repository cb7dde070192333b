/* SPDX-License-Identifier: MIT */
/*
 * Which ring sets are replaced, retired and closed, and when. No thread runs here: rounds are what the tests say, at the
 * times that they say.
 */
#include "session/rings/turnover.h"

#include "base/time.h"
#include "parts.h"

struct scene {
	struct fixture fixture;
	struct parts parts;
	struct fixture_writer writer;
	struct etw_session_set *set; /* of PARTS_USER */
	uint64_t now_ns;             /* of the next round */
	struct etw_session_set *closable[ETW_STATE_SETS];
};

static void begin(struct scene *scene)
{
	const struct wire_session_config config = parts_realtime();

	*scene = (struct scene){.now_ns = etw_monotonic_ns()};
	fixture_open(&scene->fixture);
	parts_open(&scene->parts, &scene->fixture, &config, 1);
	scene->set = parts_attach(&scene->parts, PARTS_USER, 0, &scene->writer);
}

static void end(struct scene *scene)
{
	etw_ring_set_unmap(&scene->writer.set);
	parts_close(&scene->parts);
	fixture_close(&scene->fixture);
}

/* Returns how many sets are to be closed. */
static uint32_t tend(struct scene *scene)
{
	struct etw_session_round *round = &scene->parts.round;

	*round = (struct etw_session_round){.now_raw = etw_context_now(&scene->parts.context),
					    .now_ns = scene->now_ns};
	return etw_ring_turnover_tend(&scene->parts.sets, round, scene->closable);
}

static void close_set(struct scene *scene, struct etw_session_set *set)
{
	etw_outputs_settle_set(&scene->parts.outputs, set);
	etw_session_set_close(&scene->parts.sets, set);
}

static void test_ring_turnover__a_sound_set_stays(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	for (int i = 0; i < 100; i++) {
		scene.now_ns += ETW_NS_PER_S;
		assert_int_equal(tend(&scene), 0);
	}
	assert_false(scene.set->is_replaced);
	assert_int_equal(scene.fixture.replaced, 0);
	assert_true(etw_ring_turnover_due_ns(&scene.parts.sets) == UINT64_MAX);
	end(&scene);
}

/* Processes leave a set that was replaced; it is retired when the last one has, and closed when it is read. */
static void test_ring_turnover__a_replaced_set_goes_when_nobody_has_it(void **state)
{
	static struct scene scene;
	uint64_t due_ns;

	(void)state;
	begin(&scene);
	scene.set->streams[0].counts.quarantined = (scene.set->map.buffer_count + 1) / 2;
	assert_int_equal(tend(&scene), 0);
	assert_true(scene.set->is_replaced);
	assert_false(scene.set->is_retired);
	assert_int_equal(scene.fixture.replaced, 1);
	assert_int_equal(scene.fixture.last_replaced, scene.set->id);
	assert_true(scene.parts.round.has_more);
	scene.now_ns += 1000 * ETW_NS_PER_S; /* they take their time */
	assert_int_equal(tend(&scene), 0);
	assert_false(scene.set->is_retired);
	etw_session_sets_mark_gone(&scene.parts.sets, scene.set->id);
	assert_int_equal(tend(&scene), 0);
	assert_true(scene.set->is_retired);
	assert_true(etw_pages_has(&scene.parts.sets, scene.set->id));
	assert_int_equal(fixture_write(&scene.writer, 0x60), -ESTALE);
	due_ns = etw_ring_turnover_due_ns(&scene.parts.sets);
	assert_true(due_ns == scene.set->retired_ns + ETW_STREAM_STALL_NS + 1);
	scene.now_ns = due_ns - 1;
	assert_int_equal(tend(&scene), 0);
	scene.now_ns = due_ns;
	scene.set->streams[0].status = ETW_STREAM_GAP; /* not read to its end */
	assert_int_equal(tend(&scene), 0);
	scene.set->streams[0].status = ETW_STREAM_EMPTY;
	assert_int_equal(tend(&scene), 1);
	assert_ptr_equal(scene.closable[0], scene.set);
	close_set(&scene, scene.set);
	assert_int_equal(etw_session_sets_buffers(&scene.parts.sets), 0);
	assert_int_equal(fixture_kept_count(&scene.fixture, "session-7/ring-"), 0);
	assert_int_equal(fixture_kept_count(&scene.fixture, "session-7/page-"), 1);
	end(&scene);
}

/* Nothing is read of a broken set any more, so nobody is waited for. */
static void test_ring_turnover__a_broken_set_goes_at_once(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	scene.set->is_broken = true;
	scene.set->streams[0].status = ETW_STREAM_EVENT;
	assert_int_equal(tend(&scene), 0);
	assert_true(scene.set->is_replaced && scene.set->is_retired);
	assert_int_equal(scene.fixture.replaced, 1);
	scene.now_ns = scene.set->retired_ns + ETW_STREAM_STALL_NS + 1;
	assert_int_equal(tend(&scene), 1);
	close_set(&scene, scene.set);
	end(&scene);
}

/* A set that no connected process has is nobody's when no process holds what it was lent. */
static void test_ring_turnover__a_set_that_nobody_has_is_retired(void **state)
{
	static struct scene scene;
	uint64_t due_ns;

	(void)state;
	begin(&scene);
	etw_session_sets_mark_left(&scene.parts.sets, scene.set->id, /* is_last= */ true);
	due_ns = scene.set->orphan_due_ns;
	assert_true(due_ns > scene.now_ns);
	scene.now_ns = due_ns;
	assert_int_equal(tend(&scene), 0); /* this process has it still */
	assert_false(scene.set->is_retired);
	assert_true(etw_ring_turnover_due_ns(&scene.parts.sets) >
		    due_ns + ETW_SESSION_SETS_ORPHAN_NS / 2);
	etw_ring_set_unmap(&scene.writer.set);
	scene.now_ns += ETW_SESSION_SETS_ORPHAN_NS;
	assert_int_equal(tend(&scene), 0);
	assert_true(scene.set->is_retired && scene.set->is_gone);
	/* There is nobody who could be told, or could count in its page. */
	assert_int_equal(scene.fixture.replaced, 0);
	assert_false(etw_pages_has(&scene.parts.sets, scene.set->id));
	scene.now_ns = scene.set->retired_ns + ETW_STREAM_STALL_NS + 1;
	assert_int_equal(tend(&scene), 1);
	close_set(&scene, scene.set);
	end(&scene);
}

/* A process that ended inside a write has left a gap that nobody closes. */
static void test_ring_turnover__a_gap_of_a_process_that_ended_replaces_the_set(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	etw_session_sets_mark_left(&scene.parts.sets, scene.set->id, /* is_last= */ false);
	scene.now_ns = scene.set->left_ns + ETW_NS_PER_S - 1;
	scene.set->streams[0].counts.quarantined = 1;
	assert_int_equal(tend(&scene), 0);
	assert_false(scene.set->is_replaced);
	assert_true(etw_ring_turnover_due_ns(&scene.parts.sets) ==
		    scene.set->left_ns + ETW_NS_PER_S);
	scene.now_ns++;
	assert_int_equal(tend(&scene), 0);
	assert_true(scene.set->is_replaced);
	assert_int_equal(scene.set->left_ns, 0);
	end(&scene);
}

static void test_ring_turnover__a_process_that_ended_in_peace_leaves_nothing(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	etw_session_sets_mark_left(&scene.parts.sets, scene.set->id, /* is_last= */ false);
	scene.now_ns = scene.set->left_ns + ETW_NS_PER_S;
	assert_int_equal(tend(&scene), 0);
	assert_false(scene.set->is_replaced);
	assert_int_equal(scene.set->left_ns, 0);
	end(&scene);
}

/* Who has all sets that it may have keeps the one that is worn out, and is asked about again a second later. */
static void test_ring_turnover__nothing_is_replaced_beyond_the_limit(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	for (int i = 0; i < 7; i++) {
		struct fixture_writer writer;
		struct etw_session_set *next;

		store_relaxed(&scene.set->is_replaced, true);
		next = parts_attach(&scene.parts, PARTS_USER, 0, &writer);
		etw_ring_set_unmap(&writer.set);
		assert_ptr_not_equal(next, scene.set);
		scene.set = next;
	}
	etw_session_sets_mark_left(&scene.parts.sets, scene.set->id, /* is_last= */ false);
	scene.now_ns = scene.set->left_ns + 2 * ETW_NS_PER_S;
	scene.set->streams[0].counts.quarantined = 1;
	assert_int_equal(tend(&scene), 0);
	assert_false(scene.set->is_replaced);
	assert_int_equal(scene.fixture.replaced, 0);
	assert_int_equal(scene.set->left_ns, scene.now_ns);
	end(&scene);
}

/* Of a set that was the last host's nobody says who maps it: it is closed after a second. */
static void test_ring_turnover__an_adopted_retired_set_has_a_grace(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	etw_session_set_retire_replaced(&scene.parts.sets, scene.set);
	scene.now_ns = scene.set->retired_ns + 3600 * ETW_NS_PER_S;
	assert_int_equal(tend(&scene), 0);
	scene.parts.context.state.head->hosts = 2;
	scene.now_ns = scene.set->retired_ns + ETW_NS_PER_S;
	assert_int_equal(tend(&scene), 0);
	scene.now_ns++;
	assert_int_equal(tend(&scene), 1);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_turnover__a_sound_set_stays),
		cmocka_unit_test(test_ring_turnover__a_replaced_set_goes_when_nobody_has_it),
		cmocka_unit_test(test_ring_turnover__a_broken_set_goes_at_once),
		cmocka_unit_test(test_ring_turnover__a_set_that_nobody_has_is_retired),
		cmocka_unit_test(
			test_ring_turnover__a_gap_of_a_process_that_ended_replaces_the_set),
		cmocka_unit_test(test_ring_turnover__a_process_that_ended_in_peace_leaves_nothing),
		cmocka_unit_test(test_ring_turnover__nothing_is_replaced_beyond_the_limit),
		cmocka_unit_test(test_ring_turnover__an_adopted_retired_set_has_a_grace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
