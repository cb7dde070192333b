/* SPDX-License-Identifier: MIT */
/* What a uid may have of a session's ring sets. No thread runs here. */
#include "session/rings/limits.h"

#include "parts.h"
#include "session/rings/budget.h"

#define SETS_OF_UID 8
#define MIB         (UINT64_C(1) << 20)

struct scene {
	struct fixture fixture;
	struct etw_budget *budget;
	struct parts parts;
	struct etw_session_set *made[ETW_STATE_SETS]; /* in the table, and of nothing but numbers */
};

static void begin(struct scene *scene, const struct etw_budget_limits *limits)
{
	const struct wire_session_config config = parts_realtime();

	*scene = (struct scene){0};
	fixture_open(&scene->fixture);
	if (limits)
		assert_int_equal(etw_budget_create(limits, &scene->budget), 0);
	scene->fixture.host.budget = scene->budget;
	parts_open(&scene->parts, &scene->fixture, &config, 2);
}

static void end(struct scene *scene)
{
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++)
		free(scene->made[i]);
	memset(scene->parts.sets.table, 0, sizeof(scene->parts.sets.table));
	parts_close(&scene->parts);
	etw_budget_free(scene->budget);
	fixture_close(&scene->fixture);
}

static void put(struct scene *scene, uint32_t place, uid_t uid, uint64_t charged_bytes)
{
	struct etw_session_set *set = calloc(1, sizeof(*set));

	assert_non_null(set);
	set->uid = uid;
	set->charged_bytes = charged_bytes;
	scene->made[place] = set;
	scene->parts.sets.table[place] = set;
}

static int look(struct scene *scene, uid_t uid, uint64_t bytes, uint32_t *ret_slot)
{
	int result;

	pthread_mutex_lock(&scene->parts.sets.lock);
	result = etw_ring_limits_look(&scene->parts.sets, uid, bytes, ret_slot);
	pthread_mutex_unlock(&scene->parts.sets.lock);
	return result;
}

/* The plan's buffers for those who are trusted, and what the budget has for the others: two at least. */
static void test_ring_limits__a_set_has_the_size_that_the_budget_has(void **state)
{
	static struct scene scene;
	struct etw_budget_limits limits = {
		.total = 64 * MIB, .uid = 64 * MIB, .session = 64 * MIB, .set = 64 * MIB};
	struct etw_ring_set_config all, own, other;

	(void)state;
	begin(&scene, &limits);
	all = etw_ring_limits_config(&scene.parts.sets, 0);
	assert_int_equal(all.buffer_count, scene.parts.context.plan.ring_buffers);
	assert_int_equal(all.cpu_count, scene.parts.context.plan.output_count);
	end(&scene);
	limits.set = etw_ring_set_bytes(&all) - 1;
	begin(&scene, &limits);
	own = etw_ring_limits_config(&scene.parts.sets, getuid());
	other = etw_ring_limits_config(&scene.parts.sets, PARTS_USER);
	assert_int_equal(own.buffer_count, all.buffer_count);
	assert_int_equal(other.buffer_count, all.buffer_count - 1);
	assert_int_equal(other.uid, PARTS_USER);
	end(&scene);
	limits.set = 1;
	begin(&scene, &limits);
	other = etw_ring_limits_config(&scene.parts.sets, PARTS_USER);
	assert_int_equal(other.buffer_count, ETW_SESSION_MINIMUM_PER_CPU);
	end(&scene);
}

static void test_ring_limits__a_uid_has_eight_places(void **state)
{
	static struct scene scene;
	uint32_t slot = 99;

	(void)state;
	begin(&scene, NULL);
	for (uint32_t i = 0; i < SETS_OF_UID; i++) {
		assert_int_equal(look(&scene, PARTS_USER, MIB, &slot), 0);
		assert_int_equal(slot, i);
		put(&scene, i, PARTS_USER, 0);
	}
	assert_int_equal(look(&scene, PARTS_USER, MIB, &slot), -ENOSPC);
	assert_int_equal(etw_ring_limits_look_again(&scene.parts.sets, PARTS_USER), -ENOSPC);
	assert_int_equal(look(&scene, PARTS_USER + 1, MIB, &slot), 0);
	assert_int_equal(slot, SETS_OF_UID);
	end(&scene);
}

/* 16 places are for root, the host's user and the owner; and a place that is being closed is not free. */
static void test_ring_limits__others_leave_places_to_those_who_are_trusted(void **state)
{
	static struct scene scene;
	uint32_t slot, place = 0;

	(void)state;
	begin(&scene, NULL);
	for (; place < ETW_STATE_SETS - 16; place++)
		put(&scene, place, 10000 + place, 0);
	assert_int_equal(look(&scene, PARTS_USER, MIB, &slot), -ENOSPC);
	assert_int_equal(look(&scene, 0, MIB, &slot), 0);
	assert_int_equal(slot, place);
	scene.parts.context.state.head->sets[place].status = ETW_STATE_SET_CLOSING;
	assert_int_equal(look(&scene, getuid(), MIB, &slot), 0);
	assert_int_equal(slot, place + 1);
	for (; place < ETW_STATE_SETS; place++)
		put(&scene, place, 20000 + place, 0);
	assert_int_equal(look(&scene, 0, MIB, &slot), -ENOSPC);
	end(&scene);
}

static void test_ring_limits__bytes_are_counted_by_session_and_budget(void **state)
{
	static struct scene scene;
	const struct etw_budget_limits limits = {
		.total = 8 * MIB, .uid = 6 * MIB, .session = 4 * MIB, .set = 4 * MIB};
	struct etw_session_sets *sets = &scene.parts.sets;
	uint64_t charged = 1;
	uint32_t slot;

	(void)state;
	begin(&scene, &limits);
	put(&scene, 0, PARTS_USER, 3 * MIB);
	assert_int_equal(look(&scene, PARTS_USER, MIB, &slot), 0);
	assert_int_equal(look(&scene, PARTS_USER, MIB + 1, &slot), -EDQUOT);
	/* Root is charged nothing, and held to nothing. */
	assert_int_equal(look(&scene, 0, 100 * MIB, &slot), 0);
	assert_int_equal(etw_ring_limits_take(sets, 0, 100 * MIB, &charged), 0);
	assert_int_equal(charged, 0);
	assert_int_equal(etw_ring_limits_adopt(sets, 0, MIB), 0);
	/* Another uid: what it has in all sessions. */
	assert_int_equal(etw_ring_limits_take(sets, PARTS_USER + 1, 3 * MIB, &charged), 0);
	assert_int_equal(charged, 3 * MIB);
	assert_int_equal(etw_ring_limits_adopt(sets, PARTS_USER + 1, 3 * MIB), 3 * MIB);
	assert_int_equal(look(&scene, PARTS_USER + 1, MIB, &slot), -EDQUOT);
	assert_int_equal(look(&scene, PARTS_USER + 2, 3 * MIB, &slot), -EUSERS);
	assert_int_equal(etw_ring_limits_take(sets, PARTS_USER + 2, 3 * MIB, &charged), -EUSERS);
	assert_int_equal(charged, 0);
	etw_ring_limits_give(sets, PARTS_USER + 1, 3 * MIB);
	etw_ring_limits_give(sets, PARTS_USER + 1, 0);
	assert_int_equal(look(&scene, PARTS_USER + 2, 3 * MIB, &slot), 0);
	end(&scene);
}

/* Whoever starts a session that is not the host's own has a budget, too, which hurries nobody. */
static void test_ring_limits__an_owner_has_a_budget_of_its_own(void **state)
{
	static struct scene scene;
	const struct etw_budget_limits limits = {.total = 8 * MIB,
						 .uid = 6 * MIB,
						 .session = 6 * MIB,
						 .set = MIB,
						 .is_unpaced = true};
	struct etw_session_sets *sets = &scene.parts.sets;
	uint64_t charged;
	uint32_t slot;

	(void)state;
	begin(&scene, NULL);
	assert_int_equal(etw_budget_create(&limits, &scene.budget), 0);
	sets->context->host.owners = scene.budget;
	sets->context->state.head->uid = PARTS_USER;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(etw_ring_limits_take(sets, PARTS_USER, 4 * MIB, &charged), 0);
		assert_int_equal(charged, 4 * MIB);
		etw_ring_limits_give(sets, PARTS_USER, charged);
	}
	assert_int_equal(etw_ring_limits_adopt(sets, PARTS_USER, 4 * MIB), 4 * MIB);
	assert_int_equal(look(&scene, PARTS_USER, 3 * MIB, &slot), -EDQUOT);
	assert_int_equal(look(&scene, 0, 100 * MIB, &slot), 0);
	/* Other users are bound by the host's other budget alone, and there is none. */
	assert_int_equal(look(&scene, PARTS_USER + 1, 100 * MIB, &slot), 0);
	end(&scene);
}

static void test_ring_limits__nobody_is_given_anything_at_the_end(void **state)
{
	static struct scene scene;
	uint32_t slot;

	(void)state;
	begin(&scene, NULL);
	etw_session_sets_forbid(&scene.parts.sets);
	assert_int_equal(look(&scene, 0, MIB, &slot), -ESHUTDOWN);
	assert_int_equal(etw_ring_limits_look_again(&scene.parts.sets, PARTS_USER), -ESHUTDOWN);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_limits__a_set_has_the_size_that_the_budget_has),
		cmocka_unit_test(test_ring_limits__a_uid_has_eight_places),
		cmocka_unit_test(test_ring_limits__others_leave_places_to_those_who_are_trusted),
		cmocka_unit_test(test_ring_limits__bytes_are_counted_by_session_and_budget),
		cmocka_unit_test(test_ring_limits__an_owner_has_a_budget_of_its_own),
		cmocka_unit_test(test_ring_limits__nobody_is_given_anything_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
