/* SPDX-License-Identifier: MIT */
/* Where a path leads in a schema and in an event. */
#include <errno.h>

#include "decode/path.h"
#include "decode/read.h"
#include "typed_event.h"

static void test_path__is_resolved(void **state)
{
	static const struct {
		const char *path;
		int error;
		unsigned count;
	} rows[] = {
		{"Byte", 0, 1},         {"byte", -ENOENT, 0},         {"Pairs.Key", 0, 2},
		{"Pairs[1].Key", 0, 2}, {"Pairs[x].Key", -EINVAL, 0}, {"Byte.Key", -ENOENT, 0},
		{"", -EINVAL, 0},       {"odd name", 0, 1},           {"Key", -ENOENT, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_path_plan plan;

		assert_int_equal(etw_path_resolve_fields(rows[i].path, &test_schema, &plan),
				 rows[i].error);
		if (!rows[i].error)
			assert_int_equal(plan.count, rows[i].count);
	}
}

/* One memory is for one path; another serial means that schemas may lie where others lay. */
static void test_path__is_remembered(void **state)
{
	struct etw_schema schemas[ETW_PATH_PLANS + 1];
	struct etw_path_cache cache = {0};
	const struct etw_path_plan *plan;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(schemas); i++)
		schemas[i] = test_schema;
	plan = etw_path_plan(&cache, "List[2]", 1, &schemas[0]);
	assert_int_equal(plan->error, 0);
	assert_ptr_equal(etw_path_plan(&cache, "List[2]", 1, &schemas[0]), plan);
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < ARRAY_SIZE(schemas); i++) {
			plan = etw_path_plan(&cache, "List[2]", 1, &schemas[i]);
			assert_ptr_equal(plan->schema, &schemas[i]);
		}
	}
	schemas[0].top_count = 1;
	assert_int_equal(etw_path_plan(&cache, "List[2]", 2, &schemas[0])->error, -ENOENT);
}

static const struct etw_item *find(const struct typed_event *event, const char *path)
{
	struct etw_path_plan plan;

	assert_int_equal(etw_path_resolve_fields(path, &test_schema, &plan), 0);
	return etw_path_item(&plan, &event->decoding);
}

static void test_path__leads_to_an_item(void **state)
{
	struct typed_event event;
	uint64_t value;
	bool is_negative;

	(void)state;
	typed_event_begin(&event, &test_schema);
	assert_true(
		etw_read_integer(&event.decoding, find(&event, "List[2]"), &value, &is_negative));
	assert_int_equal(value, 3);
	assert_true(etw_read_integer(&event.decoding, find(&event, "Pairs[1].Key"), &value,
				     &is_negative));
	assert_int_equal(value, 2);
	assert_null(find(&event, "List[3]"));
	assert_null(find(&event, "Pairs.Key"));
	assert_int_equal(find(&event, "Pairs")->kind, ETW_ITEM_ARRAY);
	typed_event_end(&event);
}

struct visited {
	unsigned count, enough;
};

static bool visit(void *context, const struct etw_item *item)
{
	struct visited *visited = context;

	assert_non_null(item);
	return ++visited->count == visited->enough;
}

static void check_each(const struct typed_event *event, const char *path, unsigned count)
{
	struct visited visited = {0, 0};
	struct etw_path_plan plan;

	assert_int_equal(etw_path_resolve_fields(path, &test_schema, &plan), 0);
	assert_false(etw_path_each(&plan, &event->decoding, visit, &visited));
	assert_int_equal(visited.count, count);
	if (!count)
		return;
	visited = (struct visited){0, 1};
	assert_true(etw_path_each(&plan, &event->decoding, visit, &visited));
	assert_int_equal(visited.count, 1);
}

static void test_path__leads_to_each_item(void **state)
{
	struct typed_event event;

	(void)state;
	typed_event_begin(&event, &test_schema);
	check_each(&event, "Byte", 1);
	check_each(&event, "odd name", 1);
	check_each(&event, "Pairs.Key", 2);
	check_each(&event, "Pairs[0].Key", 1);
	check_each(&event, "Pairs[2].Key", 0);
	check_each(&event, "Pairs", 1);
	check_each(&event, "List", 1);
	check_each(&event, "List[1]", 1);
	typed_event_end(&event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path__is_resolved),
		cmocka_unit_test(test_path__is_remembered),
		cmocka_unit_test(test_path__leads_to_an_item),
		cmocka_unit_test(test_path__leads_to_each_item),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
