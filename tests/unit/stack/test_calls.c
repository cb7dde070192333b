/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "stack/calls.h"

#define UNUSED_STATE void **state __attribute__((unused))
#define LEVELS_MAX   32

/* Adds a stack: words with blanks between, the outermost first. */
static void add(struct etw_calls *calls, const char *stack, uint64_t weight)
{
	struct etw_call *path[LEVELS_MAX];
	char words[256], *rest = words;
	size_t levels = 0;

	assert_true(strlen(stack) < sizeof(words));
	memcpy(words, stack, strlen(stack) + 1);
	for (char *word = strtok_r(rest, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		const struct etw_call_name name = {.kind = 1, .module = "m", .function = word};

		assert_int_equal(etw_calls_name(calls, &name, &path[levels++]), 0);
	}
	assert_int_equal(etw_calls_add(calls, path, levels, weight, 1), 0);
}

/* The tree as "name inclusive/exclusive;", a dot before each name for each level. */
static void assert_tree(const struct etw_calls *calls, const char *expected)
{
	struct etw_text text = {0};
	size_t depth = 0;

	for (const struct etw_call_node *node = calls->root.first; node;
	     node = etw_call_node_next(&calls->root, node, /* skip= */ false, &depth)) {
		for (size_t i = 0; i < depth; i++)
			etw_text_putc(&text, '.');
		etw_text_printf(&text, "%s %u/%u;", node->call->name.function,
				(unsigned)node->inclusive, (unsigned)node->exclusive);
	}
	assert_string_equal(etw_text_string(&text), expected);
	etw_text_done(&text);
}

static void assert_list(struct etw_calls *calls, enum etw_calls_order order, const char *expected)
{
	struct etw_text text = {0};
	struct etw_call **list;
	size_t count;

	assert_int_equal(etw_calls_list(calls, 1, order, &list, &count), 0);
	for (size_t i = 0; i < count; i++)
		etw_text_printf(&text, "%s %u/%u;", list[i]->name.function,
				(unsigned)list[i]->inclusive, (unsigned)list[i]->exclusive);
	assert_string_equal(etw_text_string(&text), expected);
	etw_text_done(&text);
}

static bool is_named(void *context, const struct etw_call *call)
{
	return !strcmp(call->name.function, context);
}

static void test_calls__sums_up_a_tree(UNUSED_STATE)
{
	struct etw_calls calls = {0};

	add(&calls, "main work copy", 5);
	add(&calls, "main work", 2);
	add(&calls, "main idle", 10);
	add(&calls, "main work copy", 5);
	assert_int_equal(etw_calls_sum(&calls), 0);
	assert_int_equal(calls.root.inclusive, 22);
	assert_int_equal(calls.root.count, 4);
	assert_tree(&calls, "main 22/0;.work 12/2;..copy 10/10;.idle 10/10;");
	assert_list(&calls, ETW_CALLS_EXCLUSIVE, "copy 10/10;idle 10/10;work 12/2;main 22/0;");
	assert_list(&calls, ETW_CALLS_INCLUSIVE, "main 22/0;work 12/2;copy 10/10;idle 10/10;");
	etw_calls_done(&calls);
}

static void test_calls__counts_recursion_once(UNUSED_STATE)
{
	struct etw_calls calls = {0};

	add(&calls, "main walk walk walk leaf", 3);
	add(&calls, "main walk walk", 4);
	add(&calls, "main other walk other", 1);
	assert_int_equal(etw_calls_sum(&calls), 0);
	assert_list(&calls, ETW_CALLS_INCLUSIVE, "walk 8/4;main 8/0;leaf 3/3;other 1/1;");
	/* Sums can be made again, behind more. */
	add(&calls, "main walk", 2);
	assert_int_equal(etw_calls_sum(&calls), 0);
	assert_list(&calls, ETW_CALLS_INCLUSIVE, "walk 10/6;main 10/0;leaf 3/3;other 1/1;");
	etw_calls_done(&calls);
}

static void test_calls__turns_around(UNUSED_STATE)
{
	struct etw_calls calls = {0}, callers = {0};
	char copy[] = "copy", walk[] = "walk", nobody[] = "nobody";

	add(&calls, "main read copy", 5);
	add(&calls, "main write copy fault", 7);
	add(&calls, "start write copy", 1);
	add(&calls, "main walk walk", 4);
	assert_int_equal(etw_calls_sum(&calls), 0);
	assert_int_equal(etw_calls_invert(&calls, is_named, copy, &callers), 0);
	assert_tree(&callers, "copy 13/0;.write 8/0;..main 7/7;..start 1/1;.read 5/0;..main 5/5;");
	etw_calls_done(&callers);
	/* The outermost counts. */
	assert_int_equal(etw_calls_invert(&calls, is_named, walk, &callers), 0);
	assert_tree(&callers, "walk 4/0;.main 4/4;");
	etw_calls_done(&callers);
	assert_int_equal(etw_calls_invert(&calls, is_named, nobody, &callers), 0);
	assert_null(callers.root.first);
	etw_calls_done(&callers);
	etw_calls_done(&calls);
}

/* Names differ in each of their parts; equal weights are in the order of names. */
static void test_calls__tells_names_apart(UNUSED_STATE)
{
	static const struct etw_call_name names[] = {
		{.kind = 1},
		{.kind = 1, .number = 1},
		{.kind = 1, .function = "f"},
		{.kind = 1, .function = "f", .file = "a.c"},
		{.kind = 1, .function = "f", .file = "a.c", .line = 2},
		{.kind = 1, .function = "g"},
		{.kind = 1, .module = "m"},
		{.kind = 1, .module = "m", .function = "f"},
		{.kind = 2},
	};
	const size_t count = sizeof(names) / sizeof(*names);
	struct etw_calls calls = {0};
	struct etw_call *call, *again;
	const struct etw_call_node *node;

	for (size_t i = count; i-- > 0;) {
		assert_int_equal(etw_calls_name(&calls, &names[i], &call), 0);
		assert_int_equal(etw_calls_name(&calls, &names[i], &again), 0);
		assert_ptr_equal(call, again);
		assert_int_equal(etw_calls_add(&calls, &call, 1, 1, 1), 0);
	}
	assert_int_equal(etw_calls_sum(&calls), 0);
	node = calls.root.first;
	for (size_t i = 0; i < count; i++, node = node->next)
		assert_int_equal(etw_call_compare(&node->call->name, &names[i]), 0);
	assert_null(node);
	etw_calls_done(&calls);
}

static void test_calls__walks_without_what_is_skipped(UNUSED_STATE)
{
	struct etw_calls calls = {0};
	const struct etw_call_node *node;
	size_t depth = 0;

	add(&calls, "a b c", 5);
	add(&calls, "a d", 1);
	assert_int_equal(etw_calls_sum(&calls), 0);
	node = etw_call_node_next(&calls.root, calls.root.first, /* skip= */ false, &depth);
	assert_string_equal(node->call->name.function, "b");
	node = etw_call_node_next(&calls.root, node, /* skip= */ true, &depth);
	assert_string_equal(node->call->name.function, "d");
	assert_int_equal(depth, 1);
	assert_null(etw_call_node_next(&calls.root, node, /* skip= */ false, &depth));
	etw_calls_done(&calls);
}

static void test_calls__empty(UNUSED_STATE)
{
	struct etw_calls calls = {0};

	assert_int_equal(etw_calls_sum(&calls), 0);
	assert_tree(&calls, "");
	assert_list(&calls, ETW_CALLS_EXCLUSIVE, "");
	/* A stack of nothing has a weight all the same. */
	assert_int_equal(etw_calls_add(&calls, NULL, 0, 3, 1), 0);
	assert_int_equal(etw_calls_sum(&calls), 0);
	assert_int_equal(calls.root.inclusive, 3);
	etw_calls_done(&calls);
}

static void test_calls__cuts_what_is_beyond_the_limit(UNUSED_STATE)
{
	struct etw_calls calls = {0};
	struct etw_call *call, *other;
	uint64_t added = 0;

	assert_int_equal(etw_calls_name(&calls, &(struct etw_call_name){.kind = 1}, &other), 0);
	for (uint64_t i = 0; i < ETW_CALLS_NODES_MAX / 2 + 2; i++, added++) {
		const struct etw_call_name name = {.kind = 1, .number = i + 1};
		struct etw_call *path[3];

		assert_int_equal(etw_calls_name(&calls, &name, &call), 0);
		path[0] = call;
		path[1] = path[2] = other;
		assert_int_equal(etw_calls_add(&calls, path, 3, 1, 1), 0);
	}
	assert_true(calls.nodes.count <= ETW_CALLS_NODES_MAX);
	assert_true(calls.cut > 0);
	assert_int_equal(etw_calls_sum(&calls), 0);
	assert_int_equal(calls.root.inclusive, added);
	etw_calls_done(&calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls__sums_up_a_tree),
		cmocka_unit_test(test_calls__counts_recursion_once),
		cmocka_unit_test(test_calls__turns_around),
		cmocka_unit_test(test_calls__tells_names_apart),
		cmocka_unit_test(test_calls__walks_without_what_is_skipped),
		cmocka_unit_test(test_calls__empty),
		cmocka_unit_test(test_calls__cuts_what_is_beyond_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
