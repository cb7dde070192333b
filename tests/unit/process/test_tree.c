/* SPDX-License-Identifier: MIT */
#include "process/tree.h"

#include "kernel_event.h"

static void test_tree__is_walked_depth_first_by_start(UNUSED_STATE)
{
	const struct made_process root = {10, 4, 0, 1, "root", ""};
	const struct made_process second = {12, 10, 0, 3, "second", ""};
	const struct made_process first = {11, 10, 0, 2, "first", ""};
	const struct made_process below = {13, 11, 0, 4, "below", ""};
	static const uint32_t pids[] = {10, 11, 13, 12};
	static const size_t depths[] = {0, 1, 2, 1};
	struct etw_process_tree tree;
	struct fixture fixture;
	size_t depth = 0, i = 0;

	fixture_init(&fixture);
	fixture_process(&fixture, 1, ETW_OPCODE_DC_START, &root);
	fixture_process(&fixture, 2, ETW_OPCODE_START, &first);
	fixture_process(&fixture, 3, ETW_OPCODE_START, &second);
	fixture_process(&fixture, 4, ETW_OPCODE_START, &below);
	assert_int_equal(etw_process_tree_build(fixture.processes, &tree), 0);
	for (const struct etw_process_node *node = tree.first; node;
	     node = etw_process_tree_next(NULL, node, &depth), i++) {
		assert_int_equal(node->process->pid, pids[i]);
		assert_int_equal(depth, depths[i]);
	}
	assert_int_equal(i, 4);
	/* Below one node only. */
	depth = 0;
	assert_int_equal(
		etw_process_tree_next(tree.first->first_child, tree.first->first_child, &depth)
			->process->pid,
		13);
	assert_null(etw_process_tree_next(tree.first->first_child,
					  tree.first->first_child->first_child, &depth));
	etw_process_tree_done(&tree);
	fixture_done(&fixture);
}

static void test_tree__circles_are_cut(UNUSED_STATE)
{
	struct etw_process_tree tree;
	struct fixture fixture;
	size_t depth = 0, count = 0;

	fixture_init(&fixture);
	for (uint32_t pid = 10; pid < 20; pid++) {
		const struct made_process process = {pid, pid == 19 ? 10 : pid + 1, 0, pid, "p",
						     ""};

		fixture_process(&fixture, 1, ETW_OPCODE_DC_START, &process);
	}
	assert_int_equal(etw_process_tree_build(fixture.processes, &tree), 0);
	for (const struct etw_process_node *node = tree.first; node;
	     node = etw_process_tree_next(NULL, node, &depth))
		count++;
	assert_int_equal(count, 10);
	etw_process_tree_done(&tree);
	fixture_done(&fixture);
}

static void test_tree__of_nothing_is_empty(UNUSED_STATE)
{
	struct etw_process_tree tree;
	struct fixture fixture;

	fixture_init(&fixture);
	assert_int_equal(etw_process_tree_build(fixture.processes, &tree), 0);
	assert_null(tree.first);
	etw_process_tree_done(&tree);
	fixture_done(&fixture);
}

static void test_tree__may_be_thousands_deep(UNUSED_STATE)
{
	struct etw_process_tree tree;
	struct fixture fixture;
	size_t depth = 0, deepest = 0;

	fixture_init(&fixture);
	for (uint32_t pid = 10; pid < 5010; pid++) {
		const struct made_process process = {pid, pid - 1, 0, pid, "p", ""};

		fixture_process(&fixture, pid, ETW_OPCODE_START, &process);
	}
	assert_int_equal(etw_process_tree_build(fixture.processes, &tree), 0);
	for (const struct etw_process_node *node = tree.first; node;
	     node = etw_process_tree_next(NULL, node, &depth))
		deepest = depth > deepest ? depth : deepest;
	assert_int_equal(deepest, 4999);
	etw_process_tree_done(&tree);
	fixture_done(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree__is_walked_depth_first_by_start),
		cmocka_unit_test(test_tree__circles_are_cut),
		cmocka_unit_test(test_tree__of_nothing_is_empty),
		cmocka_unit_test(test_tree__may_be_thousands_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
