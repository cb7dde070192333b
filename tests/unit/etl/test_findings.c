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

/* Bytes of no buffer are one finding however many places they fill, unless something lies between. */
static void test_findings__bytes_that_go_on(void **state)
{
	static const char why[] = "why", other[] = "other";
	struct etw_findings findings = {0};

	(void)state;
	etw_findings_add(&findings, ETW_FINDING_SKIPPED, 100, 50, 3, why);
	etw_findings_add(&findings, ETW_FINDING_SKIPPED, 150, 50, 3, why);
	assert_int_equal(findings.kept_count, 1);
	assert_int_equal(findings.counts[ETW_FINDING_SKIPPED], 1);
	assert_int_equal(findings.kept[0].offset, 100);
	assert_int_equal(findings.kept[0].bytes, 100);
	etw_findings_add(&findings, ETW_FINDING_SKIPPED, 200, 50, 3, other);
	etw_findings_add(&findings, ETW_FINDING_SKIPPED, 250, 50, 4, other);
	etw_findings_add(&findings, ETW_FINDING_SKIPPED, 310, 50, 4, other);
	etw_findings_add(&findings, ETW_FINDING_CUT, 360, 50, 4, other);
	etw_findings_add(&findings, ETW_FINDING_CUT, 410, 50, 4, other);
	assert_int_equal(findings.kept_count, 6);
	assert_int_equal(findings.bytes[ETW_FINDING_SKIPPED], 250);
	assert_int_equal(findings.counts[ETW_FINDING_SKIPPED], 4);
}

static void test_findings__append(void **state)
{
	struct etw_findings findings = {0}, more = {0};

	(void)state;
	etw_findings_add(&findings, ETW_FINDING_CUT, 10, 5, 1, "first");
	etw_findings_append(&findings, &more);
	assert_int_equal(findings.kept_count, 1);
	for (unsigned i = 0; i < ETW_FINDINGS_KEPT + 6; i++)
		etw_findings_add(&more, i % 2 ? ETW_FINDING_EVENTS : ETW_FINDING_DOUBTED, i, 3, 2,
				 "second");
	etw_findings_append(&findings, &more);
	assert_int_equal(findings.kept_count, ETW_FINDINGS_KEPT);
	assert_string_equal(findings.kept[0].sentence, "first");
	assert_int_equal(findings.kept[ETW_FINDINGS_KEPT - 1].offset, ETW_FINDINGS_KEPT - 2);
	assert_int_equal(findings.counts[ETW_FINDING_CUT], 1);
	assert_int_equal(findings.counts[ETW_FINDING_EVENTS], ETW_FINDINGS_KEPT / 2 + 3);
	assert_int_equal(findings.counts[ETW_FINDING_DOUBTED], ETW_FINDINGS_KEPT / 2 + 3);
	assert_int_equal(findings.bytes[ETW_FINDING_EVENTS], 3 * (ETW_FINDINGS_KEPT / 2 + 3));
	assert_int_equal(findings.bytes[ETW_FINDING_CUT], 5);
}

static void test_findings__sound(void **state)
{
	struct etw_findings findings = {0};

	(void)state;
	assert_true(etw_findings_is_sound(&findings));
	etw_findings_add(&findings, ETW_FINDING_REPAIRED, 0, 0, 0, "");
	etw_findings_add(&findings, ETW_FINDING_UNUSED, 0, 0, 0, "");
	etw_findings_add(&findings, ETW_FINDING_LATE, 0, 0, 0, "");
	assert_true(etw_findings_is_sound(&findings));
	etw_findings_add(&findings, ETW_FINDING_DOUBTED, 0, 0, 0, "");
	assert_false(etw_findings_is_sound(&findings));
	assert_int_equal(etw_findings_total(&findings), 0);
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
		cmocka_unit_test(test_findings__bytes_that_go_on),
		cmocka_unit_test(test_findings__append),
		cmocka_unit_test(test_findings__sound),
		cmocka_unit_test(test_findings__names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
