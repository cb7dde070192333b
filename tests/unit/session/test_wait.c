/* SPDX-License-Identifier: MIT */
/* How a session's thread sleeps on the words of ring sets. No other thread runs here: whoever would wake it has done so. */
#include "session/wait.h"

#include "base/time.h"
#include "parts.h"

struct scene {
	struct fixture fixture;
	struct parts parts;
	struct etw_session_wait wait;
	struct fixture_writer writers[2];
	uint32_t *asleep[2]; /* of the sets */
	uint32_t wake;       /* the word as it was before the last look */
};

static void begin(struct scene *scene)
{
	const struct wire_session_config config = parts_realtime();

	*scene = (struct scene){0};
	fixture_open(&scene->fixture);
	parts_open(&scene->parts, &scene->fixture, &config, 1);
	for (uint32_t i = 0; i < 2; i++) {
		const struct etw_session_set *set = parts_attach(&scene->parts, PARTS_USER + i, i,
								 &scene->writers[i]);

		scene->asleep[i] = &etw_ring_set_page(&set->map)->asleep;
	}
	scene->wake = load_acquire(&scene->parts.context.wake);
}

static void end(struct scene *scene)
{
	for (uint32_t i = 0; i < 2; i++)
		etw_ring_set_unmap(&scene->writers[i].set);
	parts_close(&scene->parts);
	fixture_close(&scene->fixture);
}

static void test_wait__all_sets_are_armed(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	store_relaxed(scene.asleep[0], 7u); /* a process writes there what it likes */
	etw_wait_arm(&scene.wait, &scene.parts.sets, false);
	assert_int_equal(load_relaxed(scene.asleep[0]), 7); /* there is nothing to take back */
	etw_wait_arm(&scene.wait, &scene.parts.sets, true);
	assert_true(scene.wait.is_armed);
	assert_int_equal(load_relaxed(scene.asleep[0]), 1);
	assert_int_equal(load_relaxed(scene.asleep[1]), 1);
	etw_wait_arm(&scene.wait, &scene.parts.sets, false);
	assert_false(scene.wait.is_armed);
	assert_int_equal(load_relaxed(scene.asleep[0]), 0);
	assert_int_equal(load_relaxed(scene.asleep[1]), 0);
	end(&scene);
}

static void test_wait__ends_when_its_time_has_come(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	etw_wait_arm(&scene.wait, &scene.parts.sets, true);
	etw_wait(&scene.wait, &scene.parts.sets, scene.wake, etw_monotonic_ns());
	assert_false(scene.wait.is_spurious);
	end(&scene);
}

/* Who kicks the session between its last look and its wait is not missed. */
static void test_wait__ends_at_once_after_a_kick(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	etw_wait_arm(&scene.wait, &scene.parts.sets, true);
	etw_context_kick(&scene.parts.context);
	etw_wait(&scene.wait, &scene.parts.sets, scene.wake, UINT64_MAX);
	assert_false(scene.wait.is_spurious);
	end(&scene);
}

/* A word that a process keeps changing ends one wait at once; the next one is on the session's own word. */
static void test_wait__a_word_that_changes_does_not_keep_it_awake(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	etw_wait_arm(&scene.wait, &scene.parts.sets, true);
	store_relaxed(scene.asleep[1], 5u);
	etw_wait(&scene.wait, &scene.parts.sets, scene.wake, UINT64_MAX);
	/* Without futex_waitv() there is nothing that ends at once. */
	if (scene.wait.is_spurious) {
		etw_wait(&scene.wait, &scene.parts.sets, scene.wake, UINT64_MAX);
		assert_false(scene.wait.is_spurious);
	}
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait__all_sets_are_armed),
		cmocka_unit_test(test_wait__ends_when_its_time_has_come),
		cmocka_unit_test(test_wait__ends_at_once_after_a_kick),
		cmocka_unit_test(test_wait__a_word_that_changes_does_not_keep_it_awake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
