/* SPDX-License-Identifier: MIT */
/* Uids that met a limit: what their processes get, what is counted, and that it ends. */
#include "fixture.h"
#include "parts.h"
#include "session/rings/budget.h"
#include "session/rings/refusals.h"

#define USER 4711u

struct scene {
	struct fixture fixture;
	struct etw_session *session;
};

static uint32_t is_keeper_full; /* atomic */

static int keep_room(void *context, unsigned count)
{
	(void)context;
	return count && load_relaxed(&is_keeper_full) ? -EMFILE : 0;
}

/* @total: of the budget. Sets of 2 MiB would be wanted. */
static void begin(struct scene *scene, uint64_t total)
{
	const struct etw_budget_limits limits = {
		.total = total, .uid = total, .session = total, .set = total};
	struct wire_session_config config;

	fixture_open(&scene->fixture);
	assert_int_equal(etw_budget_create(&limits, &scene->fixture.host.budget), 0);
	scene->fixture.host.keep_room = keep_room;
	config = fixture_config(&scene->fixture);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	config.buffer_kib = 64;
	config.maximum_buffers = 32;
	scene->session = fixture_start(&scene->fixture, &config);
}

static void end(struct scene *scene)
{
	etw_session_stop(scene->session, NULL);
	etw_session_free(scene->session);
	etw_budget_free(scene->fixture.host.budget);
	fixture_close(&scene->fixture);
}

static void attach_refused(struct scene *scene, uid_t uid, int why, uint32_t *ret_id,
			   struct etw_ring_set *ret)
{
	struct etw_ring_set_fds fds;
	int refusal;

	assert_int_equal(etw_session_ring_set(scene->session, uid, ret_id, &fds, &refusal), 0);
	assert_int_equal(refusal, why);
	assert_int_equal(etw_ring_set_map(&fds, ret), 0);
	assert_true(ret->total_bytes <= 64 * 1024);
	etw_ring_set_close(&fds);
}

static void break_set(struct fixture_writer *writer)
{
	store_relaxed((uint64_t *)(void *)etw_ring_at(&writer->set, 0), UINT64_MAX);
}

/* What it writes is lost and counted as often as it tries; the others' rings are theirs. */
static void test_refusals__what_is_refused_is_counted(void **state)
{
	struct etw_ring_span span;
	struct wire_session_info info;
	struct etw_ring_set set;
	static struct scene scene;
	struct fixture_writer root;
	uint32_t id, again;

	(void)state;
	begin(&scene, 4096);
	fixture_attach(&scene.fixture, scene.session, 0, 0, &root);
	attach_refused(&scene, USER, -EDQUOT, &id, &set);
	assert_int_equal(fixture_ring_set(scene.session, USER, &again), -EDQUOT);
	assert_int_equal(again, id);
	for (int i = 0; i < 7; i++) {
		assert_int_equal(etw_ring_reserve(&set, &scene.fixture.clock, 64, &span), -ESTALE);
		assert_int_equal(etw_ring_refuse(&set), -ENOBUFS);
	}
	assert_int_equal(fixture_write(&root, 0x60), 0);
	etw_session_info(scene.session, &info);
	assert_int_equal(info.loss.others, 7);
	assert_int_equal(info.events_lost, 7);
	assert_non_null(strstr(info.complaint, "user 4711 got no rings"));
	/* Afterwards nobody wants them. */
	etw_session_stop(scene.session, &info);
	assert_int_equal(info.events, 2); /* root's, and the note of what is lost */
	assert_int_equal(etw_ring_refuse(&set), 0);
	etw_ring_set_unmap(&set);
	etw_ring_set_unmap(&root.set);
	end(&scene);
}

/* A broken set goes although its process keeps it; then there is room for another, and the process is told. */
static void test_refusals__they_end_when_there_is_room(void **state)
{
	static struct scene scene;
	struct fixture_writer first;
	struct etw_ring_set set;
	uint32_t id, real;

	(void)state;
	begin(&scene, UINT64_C(3) << 20); /* of one set */
	fixture_attach(&scene.fixture, scene.session, USER, 0, &first);
	assert_true(first.set.total_bytes > UINT64_C(1) << 20);
	/* Another user has its place first. */
	attach_refused(&scene, USER + 1, -EUSERS, &id, &set);
	break_set(&first);
	while (load_relaxed(&scene.fixture.last_replaced) != id) {
		assert_int_equal(etw_session_flush(scene.session), 0);
		(void)usleep(10000);
	}
	assert_int_equal(fixture_ring_set(scene.session, USER + 1, &real), 0);
	assert_int_not_equal(real, id);
	assert_int_equal(etw_ring_refuse(&set), -ENOBUFS);
	etw_ring_set_unmap(&set);
	etw_ring_set_unmap(&first.set);
	end(&scene);
}

static void await_replaced(struct scene *scene, uint32_t id)
{
	while (load_relaxed(&scene->fixture.last_replaced) != id) {
		assert_int_equal(etw_session_flush(scene->session), 0);
		(void)usleep(10000);
	}
}

/* What the next host would not know of is not begun, and what the keeper could not take is used no longer. */
static void test_refusals__a_full_keeper(void **state)
{
	static struct scene scene;
	struct etw_session *another = NULL;
	struct wire_session_config config;
	struct etw_ring_set set;
	struct etw_fault fault;
	uint32_t kept, id, real;

	(void)state;
	begin(&scene, UINT64_C(1) << 30);
	assert_int_equal(fixture_ring_set(scene.session, 0, &kept), 0);
	store_relaxed(&is_keeper_full, 1u);
	config = fixture_config(&scene.fixture);
	assert_int_equal(etw_session_start(&scene.fixture.host, 8, 0, &config, &another, &fault),
			 -EMFILE);
	attach_refused(&scene, USER, -EMFILE, &id, &set);
	etw_ring_set_unmap(&set);
	/* Those that are kept stay. */
	assert_int_equal(fixture_ring_set(scene.session, 0, &real), 0);
	assert_int_equal(real, kept);
	etw_session_ring_set_unkept(scene.session, kept);
	etw_session_ring_set_unkept(scene.session, id);
	await_replaced(&scene, kept);
	assert_int_equal(fixture_ring_set(scene.session, 0, &real), -EMFILE);
	store_relaxed(&is_keeper_full, 0u);
	await_replaced(&scene, real);
	assert_int_equal(fixture_ring_set(scene.session, 0, &real), 0);
	assert_int_equal(fixture_ring_set(scene.session, USER, &real), 0);
	end(&scene);
}

/* Users get smaller sets, down to two buffers a ring, before they get none; root gets what is configured. */
static void test_refusals__sets_are_made_smaller_first(void **state)
{
	const struct etw_budget_limits limits = {
		.total = 8 << 20, .uid = 8 << 20, .session = 8 << 20, .set = 600 << 10};
	static struct scene scene;
	struct fixture_writer user, root;

	(void)state;
	begin(&scene, 1);
	etw_budget_free(scene.fixture.host.budget);
	etw_session_stop(scene.session, NULL);
	etw_session_free(scene.session);
	assert_int_equal(etw_budget_create(&limits, &scene.fixture.host.budget), 0);
	{
		struct wire_session_config config = fixture_config(&scene.fixture);

		config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
		config.buffer_kib = 64;
		config.maximum_buffers = 32;
		scene.session = fixture_start(&scene.fixture, &config);
	}
	fixture_attach(&scene.fixture, scene.session, USER, 0, &user);
	fixture_attach(&scene.fixture, scene.session, 0, 1, &root);
	assert_int_equal(root.set.buffer_count, 32);
	assert_true(user.set.buffer_count >= 2 && user.set.buffer_count < 10);
	assert_true(user.set.total_bytes <= limits.set);
	assert_int_equal(fixture_write(&user, 0x60), 0);
	assert_int_equal(fixture_write(&root, 0x60), 0);
	etw_ring_set_unmap(&user.set);
	etw_ring_set_unmap(&root.set);
	end(&scene);
}

/* A refusing set counts from its birth, its uid is looked at every two seconds, and told when it could have rings. */
static void test_refusals__a_uid_is_looked_at_again(void **state)
{
	static struct fixture fixture;
	static struct parts parts;
	const struct wire_session_config config = parts_realtime();
	struct etw_ring_set_fds fds;
	struct etw_ring_set map;
	uint32_t id, again;
	uint64_t due_ns;

	(void)state;
	fixture_open(&fixture);
	parts_open(&parts, &fixture, &config, 1);
	assert_true(etw_refusals_due_ns(&parts.sets) == UINT64_MAX);
	assert_int_equal(etw_refusals_get(&parts.sets, USER, -ENOSPC, &id, &fds), 0);
	assert_int_equal(etw_refusals_get(&parts.sets, USER, -EDQUOT, &again, NULL), 0);
	assert_int_equal(again, id);
	assert_int_equal(etw_ring_set_map(&fds, &map), 0);
	etw_ring_set_close(&fds);
	assert_int_equal(etw_ring_refuse(&map), -ENOBUFS);
	assert_true(etw_pages_has(&parts.sets, id));
	assert_non_null(strstr(parts.context.complaint, "as many ring sets as it can have"));
	assert_null(strstr(parts.context.complaint, "one user may have")); /* once a session */
	due_ns = etw_refusals_due_ns(&parts.sets);
	etw_refusals_tend(&parts.sets, due_ns - 1);
	assert_int_equal(fixture.replaced, 0);
	/* While the session ends nobody gets anything; then it is looked at again, as ever. */
	parts.sets.is_ending = true;
	etw_refusals_tend(&parts.sets, due_ns);
	assert_int_equal(fixture.replaced, 0);
	assert_true(etw_refusals_due_ns(&parts.sets) > due_ns);
	parts.sets.is_ending = false;
	etw_refusals_tend(&parts.sets, etw_refusals_due_ns(&parts.sets));
	assert_int_equal(fixture.replaced, 1);
	assert_int_equal(fixture.last_replaced, id);
	assert_true(etw_refusals_due_ns(&parts.sets) == UINT64_MAX);
	assert_int_equal(etw_ring_refuse(&map), -ENOBUFS); /* its page stays */
	etw_ring_set_unmap(&map);
	parts_close(&parts);
	fixture_close(&fixture);
}

/* When there are too many no memory is made any more, and the uid gets none at all. */
static void test_refusals__are_limited(void **state)
{
	static struct fixture fixture;
	static struct parts parts;
	const struct wire_session_config config = parts_realtime();
	uint32_t id;

	(void)state;
	fixture_open(&fixture);
	parts_open(&parts, &fixture, &config, 1);
	for (uint32_t i = 0; i < ETW_SESSION_REFUSALS; i++)
		assert_int_equal(etw_refusals_get(&parts.sets, USER + i, -ENOSPC, &id, NULL), 0);
	assert_int_equal(etw_refusals_get(&parts.sets, USER - 1, -EDQUOT, &id, NULL), -EDQUOT);
	assert_int_equal(etw_refusals_get(&parts.sets, USER, -EDQUOT, &id, NULL), 0);
	etw_refusals_free_all(&parts.sets);
	assert_true(etw_refusals_due_ns(&parts.sets) == UINT64_MAX);
	parts_close(&parts);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals__a_uid_is_looked_at_again),
		cmocka_unit_test(test_refusals__are_limited),
	};
	const struct CMUnitTest tests_of_root[] = {
		cmocka_unit_test(test_refusals__what_is_refused_is_counted),
		cmocka_unit_test(test_refusals__they_end_when_there_is_room),
		cmocka_unit_test(test_refusals__a_full_keeper),
		cmocka_unit_test(test_refusals__sets_are_made_smaller_first),
	};
	int failed = cmocka_run_group_tests_name("anybody", tests, NULL, NULL);

	if (failed)
		return failed;
	if (getuid() != 0) {
		print_message("SKIP: root's own sets are looked at\n");
		return 77;
	}
	return cmocka_run_group_tests_name("root", tests_of_root, NULL, NULL);
}
