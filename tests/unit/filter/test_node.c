/* SPDX-License-Identifier: MIT */
/* Trees: made, combined, put in order, watched. */
#include "support.h"

#include <errno.h>

static struct etw_filter *number(enum etw_filter_operand_id id, unsigned value)
{
	struct etw_filter *filter = etw_filter_of_operand(id);
	struct etw_filter_value number = {
		.readings = ETW_FILTER_INTEGER, .from = value, .to = value};

	assert_non_null(filter);
	assert_int_equal(etw_filter_add_value(filter, &number), 0);
	return filter;
}

static void test_node__is_as_deep_as_it_may_be(void **state)
{
	struct etw_filter *filter = etw_filter_any(), *next;

	(void)state;
	for (int i = 1; i < ETW_FILTER_DEPTH_MAX; i++)
		assert_int_equal(etw_filter_not(filter, &filter), 0);
	assert_int_equal(filter->depth, ETW_FILTER_DEPTH_MAX);
	assert_int_equal(etw_filter_not(filter, &next), -E2BIG);
}

/* What the right one asks is asked only when it matters, and functions keep their place. */
static void test_node__sorts_by_cost(void **state)
{
	struct etw_filter *filter = test_parse(
		"Path matches x and event = Work and Byte = 5 and provider = x and id = 7");

	(void)state;
	assert_int_equal(filter->part_count, 5);
	assert_int_equal(filter->parts[0]->operand->id, ETW_FILTER_ID);
	assert_int_equal(filter->parts[1]->operand->id, ETW_FILTER_PROVIDER);
	assert_int_equal(filter->parts[2]->operand->id, ETW_FILTER_EVENT);
	assert_string_equal(filter->parts[3]->path, "Byte");
	assert_string_equal(filter->parts[4]->path, "Path");
	etw_filter_free(filter);
}

static bool never(void *context, void *subject)
{
	(void)subject;
	++*(int *)context;
	return false;
}

static void test_node__asks_functions_in_their_place(void **state)
{
	struct etw_filter *filter;
	struct test_event event;
	int calls = 0;

	(void)state;
	test_begin(&event, &test_schema);
	assert_int_equal(etw_filter_or(etw_filter_of_function(never, &calls, NULL),
				       number(ETW_FILTER_ID, 7), &filter),
			 0);
	etw_filter_sort(filter);
	assert_true(etw_filter_matches(filter, &event.subject));
	assert_int_equal(calls, 1);
	etw_filter_free(filter);
	test_end(&event);
}

/* Each part of a watched "or" is asked until it was true once. */
static void test_node__watches(void **state)
{
	struct etw_filter *seven = number(ETW_FILTER_ID, 7),
			  *ten = number(ETW_FILTER_HEADER_PID, 10);
	struct etw_filter *other = number(ETW_FILTER_ID, 8), *filter;
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	assert_int_equal(etw_filter_or(seven, ten, &filter), 0);
	assert_int_equal(etw_filter_or(filter, other, &filter), 0);
	assert_int_equal(filter->part_count, 3);
	etw_filter_watch(filter);
	assert_true(etw_filter_matches(filter, &event.subject));
	assert_true(etw_filter_was_true(seven));
	assert_true(etw_filter_was_true(ten));
	assert_false(etw_filter_was_true(other));
	etw_filter_free(filter);
	test_end(&event);
}

static void test_node__says_what_needs_schemas(void **state)
{
	static const struct {
		const char *expression;
		bool expected;
		size_t at;
	} rows[] = {
		{"id = 7 and provider = x", false, 0},
		{"id = 7 or event = Start", true, 10},
		{"event = 7", false, 0},
		{"id = 7 and not (Byte = 5)", true, 16},
		{"has Byte", true, 4},
		{"keyword any 4", false, 0},
		{"keyword = First", true, 0},
		{"has status", true, 4},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_filter *filter = test_parse(rows[i].expression);
		size_t at = 0;

		if (etw_filter_needs_decoding(filter, &at) != rows[i].expected || at != rows[i].at)
			fail_msg("%s: %zu", rows[i].expression, at);
		etw_filter_free(filter);
	}
}

static void test_node__says_who_asks_for_processes(void **state)
{
	static const struct test_row rows[] = {{"header_pid = 1 and Byte = 5", false},
					       {"id = 7 or not (pid = 5)", true},
					       {"has tid", true},
					       {"process like 'x*'", true},
					       {"true", false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_filter *filter = test_parse(rows[i].expression);

		assert_int_equal(etw_filter_asks_process(filter), rows[i].expected);
		etw_filter_free(filter);
	}
}

static void note(void *context, const char *path)
{
	etw_text_printf(context, "%s;", path);
}

static void test_node__knows_fields_that_nothing_had(void **state)
{
	struct etw_filter *filter = test_parse("Byte = 6 and Other = 1 or Nothing = 2");
	struct etw_text text = {0};
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	assert_false(etw_filter_matches(filter, &event.subject));
	etw_filter_each_unknown(filter, note, &text);
	assert_string_equal(etw_text_string(&text), "Other;Nothing;");
	etw_filter_learn_fields(filter, &test_schema, 0);
	etw_text_clear(&text);
	etw_filter_each_unknown(filter, note, &text);
	assert_string_equal(etw_text_string(&text), "Other;Nothing;");
	etw_text_done(&text);
	etw_filter_free(filter);
	test_end(&event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node__is_as_deep_as_it_may_be),
		cmocka_unit_test(test_node__sorts_by_cost),
		cmocka_unit_test(test_node__asks_functions_in_their_place),
		cmocka_unit_test(test_node__watches),
		cmocka_unit_test(test_node__says_what_needs_schemas),
		cmocka_unit_test(test_node__says_who_asks_for_processes),
		cmocka_unit_test(test_node__knows_fields_that_nothing_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
