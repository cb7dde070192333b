/* SPDX-License-Identifier: MIT */
/* The account of what a reader skipped: the first ones are kept, all are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "etl/findings.h"

static void test_findings__first_are_kept_all_are_counted(void **state)
{
	struct etw_findings findings = {0};

	(void)state;
	for (uint32_t i = 0; i < 3 * ETW_FINDINGS_KEPT; i++)
		etw_findings_add(&findings, ETW_FINDING_SKIPPED, 100 + i, 2, i, "why");
	assert_int_equal(findings.kept_count, ETW_FINDINGS_KEPT);
	assert_int_equal(findings.kept[0].offset, 100);
	assert_int_equal(findings.kept[ETW_FINDINGS_KEPT - 1].buffer, ETW_FINDINGS_KEPT - 1);
	assert_int_equal(findings.kept[5].bytes, 2);
	assert_int_equal(findings.kept[5].kind, ETW_FINDING_SKIPPED);
	assert_string_equal(findings.kept[5].sentence, "why");
	assert_int_equal(findings.counts[ETW_FINDING_SKIPPED], 3 * ETW_FINDINGS_KEPT);
	assert_int_equal(findings.bytes[ETW_FINDING_SKIPPED], 6 * ETW_FINDINGS_KEPT);
}

static void test_findings__total_counts_what_could_not_be_read(void **state)
{
	struct etw_findings findings = {0};

	(void)state;
	for (int kind = 0; kind < ETW_FINDING_KINDS; kind++)
		etw_findings_add(&findings, (enum etw_finding_kind)kind, 0, 0, 0, "");
	assert_int_equal(etw_findings_total(&findings), 4); /* cut, skipped, events, header */
}

static void test_findings__names(void **state)
{
	(void)state;
	assert_string_equal(etw_finding_kind_name(ETW_FINDING_REPAIRED), "repaired");
	assert_string_equal(etw_finding_kind_name(ETW_FINDING_UNUSED), "unused");
	assert_string_equal(etw_finding_kind_name(ETW_FINDING_CUT), "cut");
	assert_string_equal(etw_finding_kind_name(ETW_FINDING_SKIPPED), "skipped");
	assert_string_equal(etw_finding_kind_name(ETW_FINDING_EVENTS), "events");
	assert_string_equal(etw_finding_kind_name(ETW_FINDING_HEADER), "header");
	assert_string_equal(etw_finding_kind_name(ETW_FINDING_LATE), "late");
	assert_string_equal(etw_finding_kind_name(ETW_FINDING_KINDS), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_findings__first_are_kept_all_are_counted),
		cmocka_unit_test(test_findings__total_counts_what_could_not_be_read),
		cmocka_unit_test(test_findings__names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
