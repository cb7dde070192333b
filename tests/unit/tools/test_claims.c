/* SPDX-License-Identifier: MIT */
/* What users' processes say that they lost, as lines and as members of a JSON object. */
#include "tools/etw/claims.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/macros.h"

static void expect_lines(const struct wire_session_loss *loss, const char *expected)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	claims_write(&text, loss, "  ");
	assert_string_equal(etw_text_string(&text), expected);
}

static void expect_json(const struct wire_session_loss *loss, const char *expected)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	claims_write_json(&text, loss);
	assert_string_equal(etw_text_string(&text), expected);
}

static void test_claims__nobody_claims_anything(void **state)
{
	const struct wire_session_loss loss = {.no_buffer = 5, .gaps = 1};

	(void)state;
	expect_lines(&loss, "");
	expect_json(&loss, ",\"events_lost_known\":1,\"events_lost_claimed\":[],"
			   "\"claims_disregarded\":0");
}

static void test_claims__each_user_and_all_others(void **state)
{
	const struct wire_session_loss loss = {
		.gaps = 1,
		.rejected = 2,
		.source = 3,
		.file = 4,
		.others = 1234568,
		.others_counted = 1234568,
		.claims = {{1000, 1234567, 0}, {UINT32_MAX, 1, 0}},
	};

	(void)state;
	expect_lines(&loss, "  processes of user 1000 say that they lost 1,234,567 events\n"
			    "  processes of further users say that they lost 1 event\n");
	expect_json(&loss, ",\"events_lost_known\":10,\"events_lost_claimed\":["
			   "{\"uid\":1000,\"events\":1234567,\"disregarded\":0},"
			   "{\"uid\":4294967295,\"events\":1,\"disregarded\":0}],"
			   "\"claims_disregarded\":0");
}

/* Who claims only what cannot be has no line of its own; the sum of it has one. */
static void test_claims__what_cannot_have_been(void **state)
{
	const struct wire_session_loss loss = {
		.others = UINT64_C(1) << 40,
		.others_counted = UINT64_C(1) << 25,
		.disregarded = 7,
		.claims = {{1001, UINT64_C(1) << 40, 3}, {1002, 0, 4}},
	};

	(void)state;
	expect_lines(
		&loss,
		"  processes of user 1001 say that they lost 1,099,511,627,776 events\n"
		"  of what other users say the sum of lost events has 33,554,432\n"
		"  7 lost events that processes claim cannot have been, and are not counted\n");
	expect_json(&loss, ",\"events_lost_known\":0,\"events_lost_claimed\":["
			   "{\"uid\":1001,\"events\":1099511627776,\"disregarded\":3},"
			   "{\"uid\":1002,\"events\":0,\"disregarded\":4}],"
			   "\"claims_disregarded\":7");
}

static void test_claims__every_place_is_taken_and_sums_do_not_wrap(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct wire_session_loss loss = {.gaps = UINT64_MAX, .file = UINT64_MAX};
	const char *at;
	unsigned lines = 0;

	(void)state;
	for (unsigned i = 0; i < WIRE_CLAIMS_MAX; i++)
		loss.claims[i] = (struct wire_claim){1000 + i, 1, 0};
	claims_write(&text, &loss, "");
	for (at = etw_text_string(&text); *at; at++)
		lines += *at == '\n';
	assert_int_equal(lines, WIRE_CLAIMS_MAX);
	etw_text_done(&text);
	claims_write_json(&text, &loss);
	assert_memory_equal(etw_text_string(&text), ",\"events_lost_known\":18446744073709551615,",
			    42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claims__nobody_claims_anything),
		cmocka_unit_test(test_claims__each_user_and_all_others),
		cmocka_unit_test(test_claims__what_cannot_have_been),
		cmocka_unit_test(test_claims__every_place_is_taken_and_sums_do_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
