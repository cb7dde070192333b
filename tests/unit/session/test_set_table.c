/* SPDX-License-Identifier: MIT */
/*
 * The table of ring sets: who is found in it, what processes leave and give back, what is made and opened again. No
 * thread runs here.
 */
#include "session/common/set_table.h"

#include "base/time.h"
#include "parts.h"
#include "session/common/claims.h"

struct scene {
	struct fixture fixture;
	struct parts parts;
	struct fixture_writer writer;
	struct etw_session_set *set;
};

static void begin(struct scene *scene)
{
	const struct wire_session_config config = parts_realtime();

	*scene = (struct scene){0};
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

static struct etw_session_set *find_live(struct scene *scene, uid_t uid)
{
	struct etw_session_set *set;

	pthread_mutex_lock(&scene->parts.sets.lock);
	set = etw_session_sets_find_live(&scene->parts.sets, uid);
	pthread_mutex_unlock(&scene->parts.sets.lock);
	return set;
}

static void test_set_table__a_uid_has_one_live_set(void **state)
{
	static struct scene scene;
	struct etw_session_set *all[ETW_STATE_SETS], *next;
	struct fixture_writer second;

	(void)state;
	begin(&scene);
	assert_ptr_equal(find_live(&scene, PARTS_USER), scene.set);
	assert_null(find_live(&scene, PARTS_USER + 1));
	assert_ptr_equal(parts_attach(&scene.parts, PARTS_USER, 0, &second), scene.set);
	etw_ring_set_unmap(&second.set);
	store_relaxed(&scene.set->is_replaced, true);
	assert_null(find_live(&scene, PARTS_USER));
	next = parts_attach(&scene.parts, PARTS_USER, 0, &second);
	assert_true(next->id > scene.set->id);
	assert_ptr_equal(find_live(&scene, PARTS_USER), next);
	assert_int_equal(etw_session_sets_list(&scene.parts.sets, all), 2);
	assert_int_equal(etw_session_sets_buffers(&scene.parts.sets), 2 * next->map.buffer_count);
	etw_session_sets_count_free(&scene.parts.sets);
	assert_int_equal(scene.parts.sets.free_buffers, 2 * next->map.buffer_count);
	etw_ring_set_unmap(&second.set);
	end(&scene);
}

static void test_set_table__what_processes_say_of_a_set(void **state)
{
	static struct scene scene;
	struct etw_session_sets *sets = &scene.parts.sets;
	uint32_t wake;

	(void)state;
	begin(&scene);
	assert_false(scene.set->is_orphan); /* it was given to somebody */
	wake = scene.parts.context.wake;
	etw_session_sets_mark_left(sets, scene.set->id, false);
	assert_false(scene.set->is_orphan);
	assert_true(scene.set->left_ns != 0);
	etw_session_sets_mark_left(sets, scene.set->id, true);
	assert_true(scene.set->is_orphan);
	assert_false(scene.set->is_gone);
	etw_session_sets_mark_gone(sets, scene.set->id);
	assert_true(scene.set->is_gone);
	/* The thread is to see to it; of a set that is not there nobody says anything. */
	etw_session_sets_mark_gone(sets, scene.set->id + 1000);
	etw_session_sets_mark_left(sets, scene.set->id + 1000, true);
	assert_int_equal(scene.parts.context.wake, wake + 5);
	end(&scene);
}

static void test_set_table__numbers_are_given_once(void **state)
{
	uint32_t id = etw_session_sets_next_id();

	(void)state;
	assert_int_not_equal(id, 0);
	etw_session_sets_step_over_id(id + 100);
	assert_int_equal(etw_session_sets_next_id(), id + 101);
	etw_session_sets_step_over_id(id);
	assert_int_equal(etw_session_sets_next_id(), id + 102);
}

/* What is made is kept, and the next host opens it: the same rings, for a process that never knew. */
static void test_set_table__the_next_host_opens_the_sets(void **state)
{
	static struct scene scene;
	uint32_t id;
	int fd;

	(void)state;
	begin(&scene);
	id = scene.set->id;
	assert_int_equal(fixture_write(&scene.writer, 0x60), 0);
	fd = dup(scene.parts.context.state.fd);
	parts_close(&scene.parts);
	parts_adopt(&scene.parts, &scene.fixture, fd);
	scene.set = find_live(&scene, PARTS_USER);
	assert_non_null(scene.set);
	assert_int_equal(scene.set->id, id);
	assert_true(scene.set->is_orphan); /* until somebody comes back */
	(void)parts_move(&scene.parts, etw_monotonic_ns(), true);
	assert_int_equal(fixture_write(&scene.writer, 0x60), 0);
	end(&scene);
}

/* A set whose memory the keeper has not got is lost; what was believed of its writers is not. */
static void test_set_table__a_set_that_is_lost_leaves_its_claims(void **state)
{
	static struct scene scene;
	struct wire_session_loss loss;
	char name[96];
	int fd;

	(void)state;
	begin(&scene);
	while (scene.writer.refused == 0)
		(void)fixture_write(&scene.writer, 0x60);
	(void)parts_move(&scene.parts, etw_monotonic_ns(), true);
	(void)snprintf(name, sizeof(name), "session-7/ring-%u", scene.set->id);
	fixture_forget(&scene.fixture, name);
	fd = dup(scene.parts.context.state.fd);
	parts_close(&scene.parts);
	parts_adopt(&scene.parts, &scene.fixture, fd);
	assert_null(find_live(&scene, PARTS_USER));
	assert_non_null(
		strstr(scene.parts.context.complaint, "a ring set of the last host is lost"));
	etw_account_loss(&scene.parts.sets, &loss);
	assert_int_equal(loss.others, 1);
	assert_int_equal(fixture_kept_count(&scene.fixture, "session-7/page-"), 0);
	end(&scene);
}

/* At the end nobody reserves any more, and that is no error for who writes. */
static void test_set_table__the_end(void **state)
{
	static struct scene scene;
	struct etw_ring_set_fds fds;
	uint32_t id;
	int refusal;

	(void)state;
	begin(&scene);
	etw_session_sets_forbid(&scene.parts.sets);
	assert_int_equal(etw_session_sets_get(&scene.parts.sets, 5, &id, &fds, &refusal),
			 -ESHUTDOWN);
	etw_session_sets_end(&scene.parts.sets);
	assert_true(scene.set->is_retired);
	assert_int_equal(fixture_write(&scene.writer, 0x60), -ESTALE);
	assert_int_equal(etw_ring_refuse(&scene.writer.set), 0);
	end(&scene);
}

/* Whose claims are told in the trace: not the owner's, who has them in the sum of lost events. */
static void test_set_table__claims_are_notes_of_others(void **state)
{
	static struct scene scene;
	struct etw_session_sets *sets = &scene.parts.sets;
	struct etw_state_user users[ETW_STATE_USERS + 1];
	struct wire_session_note note;
	uint32_t notes = 0, place;

	(void)state;
	begin(&scene);
	pthread_mutex_lock(&sets->lock);
	place = etw_claims_user(sets, PARTS_USER);
	pthread_mutex_unlock(&sets->lock);
	while (scene.writer.refused == 0)
		(void)fixture_write(&scene.writer, 0x60);
	(void)parts_move(&scene.parts, etw_monotonic_ns(), true);
	scene.parts.context.state.head->users[0].no_buffer = 5; /* the owner */
	etw_claims_gather(sets, users);
	for (uint32_t i = 0; i <= ETW_STATE_USERS; i++) {
		if (!etw_claims_note(sets, users, i, &note))
			continue;
		notes++;
		assert_int_equal(i, place);
		assert_int_equal(note.kind, WIRE_NOTE_CLAIMED_LOSS);
		assert_int_equal(note.numbers[0], PARTS_USER);
		assert_int_equal(note.numbers[1], 1);
	}
	assert_int_equal(notes, 1);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_table__a_uid_has_one_live_set),
		cmocka_unit_test(test_set_table__what_processes_say_of_a_set),
		cmocka_unit_test(test_set_table__numbers_are_given_once),
		cmocka_unit_test(test_set_table__the_next_host_opens_the_sets),
		cmocka_unit_test(test_set_table__a_set_that_is_lost_leaves_its_claims),
		cmocka_unit_test(test_set_table__the_end),
		cmocka_unit_test(test_set_table__claims_are_notes_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
