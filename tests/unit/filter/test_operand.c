/* SPDX-License-Identifier: MIT */
#include "support.h"

static void test_operand__is_found_as_it_is_written(void **state)
{
	(void)state;
	assert_int_equal(etw_filter_operand_find("pid", 3)->id, ETW_FILTER_PID);
	assert_null(etw_filter_operand_find("PID", 3));
	assert_null(etw_filter_operand_find("pi", 2));
	assert_null(etw_filter_operand_find("pidx", 4));
	assert_string_equal(etw_filter_operand(ETW_FILTER_MOMENT)->name, "time");
}

static void test_operand__each_has_a_number_of_its_own(void **state)
{
	const struct etw_filter_operand *operand;
	size_t count = 0;

	(void)state;
	for (; (operand = etw_filter_operand_next(count)); count++) {
		assert_ptr_equal(etw_filter_operand((enum etw_filter_operand_id)operand->id),
				 operand);
		assert_ptr_equal(etw_filter_operand_find(operand->name, strlen(operand->name)),
				 operand);
		assert_non_null(operand->wants);
	}
	assert_int_equal(count, ETW_FILTER_PAYLOAD_BYTES + 1);
}

static void test_operand__knows_levels_and_statuses(void **state)
{
	(void)state;
	assert_int_equal(etw_filter_level("Warning"), 3);
	assert_int_equal(etw_filter_level("win:Error"), 2);
	assert_int_equal(etw_filter_level("loud"), -1);
	assert_true(etw_filter_status_exists("complete"));
	assert_true(etw_filter_status_exists("no-schema"));
	assert_false(etw_filter_status_exists("done"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operand__is_found_as_it_is_written),
		cmocka_unit_test(test_operand__each_has_a_number_of_its_own),
		cmocka_unit_test(test_operand__knows_levels_and_statuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
