/* SPDX-License-Identifier: MIT */
/* Every cause and class of loss has names of its own. */
#include "base/loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_loss__names(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ETW_LOSS_CAUSES; i++) {
		assert_true(strlen(etw_loss_cause_text(i)) > 0);
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(etw_loss_cause_name(i), etw_loss_cause_name(j));
	}
	for (uint32_t i = 0; i < ETW_LOSS_CLASSES; i++) {
		assert_true(strlen(etw_loss_class_text(i)) > 0);
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(etw_loss_class_name(i), etw_loss_class_name(j));
	}
	assert_string_equal(etw_loss_cause_name(ETW_LOSS_CAUSES), "unknown");
	assert_string_equal(etw_loss_class_name(UINT32_MAX), "unknown");
	assert_non_null(etw_loss_cause_text(UINT32_MAX));
	assert_non_null(etw_loss_class_text(UINT32_MAX));
}

/* What lacks something is there. */
static void test_loss__what_is_an_event(void **state)
{
	(void)state;
	assert_true(etw_loss_is_event(ETW_LOSS_RING_FULL));
	assert_true(etw_loss_is_event(ETW_LOSS_NO_MEMORY));
	assert_false(etw_loss_is_event(ETW_LOSS_NO_FIELDS));
	assert_false(etw_loss_is_event(ETW_LOSS_NOT_FOLLOWED));
	assert_false(etw_loss_is_event(ETW_LOSS_NO_STACK));
	assert_true(etw_loss_is_event(ETW_LOSS_NO_BUFFER));
	assert_true(etw_loss_is_event(ETW_LOSS_TOO_MANY));
	assert_false(etw_loss_is_event(ETW_LOSS_FORGOTTEN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loss__names),
		cmocka_unit_test(test_loss__what_is_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
