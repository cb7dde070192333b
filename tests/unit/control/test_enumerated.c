/* SPDX-License-Identifier: MIT */
/* Parts of a list whose records do not fit what the host says of them. */
#include "control/enumerated.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <evntrace.h>

static struct etw_control_answer part;

static void put(ULONG next_offset, ULONG enable_count, size_t enables)
{
	const TRACE_PROVIDER_INSTANCE_INFO info = {.NextOffset = next_offset,
						   .EnableCount = enable_count};

	memcpy(part.bytes + part.byte_count, &info, sizeof(info));
	part.byte_count += sizeof(info) + enables * sizeof(TRACE_ENABLE_INFO);
	part.count++;
}

/* One record alone. */
static int check_one(ULONG next_offset, ULONG enable_count, size_t enables)
{
	part = (struct etw_control_answer){0};
	put(next_offset, enable_count, enables);
	return etw_enumerated_check(WIRE_ENUMERATE_INSTANCES, &part);
}

#define HEAD sizeof(TRACE_PROVIDER_INSTANCE_INFO)
#define ONE  sizeof(TRACE_ENABLE_INFO)

static void test_enumerated__sound_instances(void **state)
{
	(void)state;
	assert_int_equal(check_one(HEAD, 0, 0), 0);
	assert_int_equal(check_one(HEAD + 2 * ONE, 2, 2), 0);
	put(HEAD, 0, 0);
	put(HEAD + ONE, 1, 1);
	assert_int_equal(etw_enumerated_check(WIRE_ENUMERATE_INSTANCES, &part), 0);
	part = (struct etw_control_answer){.next = 7};
	assert_int_equal(etw_enumerated_check(WIRE_ENUMERATE_INSTANCES, &part), 0);
}

static void test_enumerated__next_offsets(void **state)
{
	static const ULONG wrong[] = {
		0,          1, HEAD - 1, HEAD + 1, HEAD + ONE - 8, HEAD + ONE + 8, HEAD + 2 * ONE,
		UINT32_MAX,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(check_one(wrong[i], 1, 1), -EPROTO);
}

/* In 32 bits each of these would be as many bytes as are there. */
static void test_enumerated__enable_counts(void **state)
{
	(void)state;
	assert_int_equal(check_one(HEAD, 1, 0), -EPROTO);
	assert_int_equal(check_one(HEAD + ONE, 1, 0), -EPROTO); /* behind the end */
	assert_int_equal(check_one(HEAD, UINT32_C(1) << 27, 0), -EPROTO);
	assert_int_equal(check_one(HEAD + ONE, (UINT32_C(1) << 27) + 1, 1), -EPROTO);
	assert_int_equal(check_one(HEAD, UINT32_MAX, 0), -EPROTO);
}

static void test_enumerated__numbers_of_records(void **state)
{
	(void)state;
	assert_int_equal(check_one(HEAD, 0, 0), 0);
	part.count = 2;
	assert_int_equal(etw_enumerated_check(WIRE_ENUMERATE_INSTANCES, &part), -EPROTO);
	part.count = 0;
	assert_int_equal(etw_enumerated_check(WIRE_ENUMERATE_INSTANCES, &part), -EPROTO);
	part.count = 1;
	part.byte_count = HEAD - 1;
	assert_int_equal(etw_enumerated_check(WIRE_ENUMERATE_INSTANCES, &part), -EPROTO);
}

static void test_enumerated__guids_and_entries(void **state)
{
	static const struct {
		uint32_t code;
		size_t record_bytes;
	} kinds[] = {
		{WIRE_ENUMERATE_PROVIDERS, sizeof(struct wire_provider_entry)},
		{WIRE_ENUMERATE_GROUPS, sizeof(GUID)},
		{WIRE_ENUMERATE_MEMBERS, sizeof(GUID)},
		{WIRE_ENUMERATE_GROUP_SESSIONS, sizeof(TRACE_ENABLE_INFO)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		part = (struct etw_control_answer){.count = 3,
						   .byte_count = 3 * kinds[i].record_bytes};
		assert_int_equal(etw_enumerated_check(kinds[i].code, &part), 0);
		part.byte_count--;
		assert_int_equal(etw_enumerated_check(kinds[i].code, &part), -EPROTO);
		part.byte_count += 2;
		assert_int_equal(etw_enumerated_check(kinds[i].code, &part), -EPROTO);
		part.byte_count = 3 * kinds[i].record_bytes;
		part.count = 4;
		assert_int_equal(etw_enumerated_check(kinds[i].code, &part), -EPROTO);
		part.count = UINT32_MAX;
		assert_int_equal(etw_enumerated_check(kinds[i].code, &part), -EPROTO);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enumerated__sound_instances),
		cmocka_unit_test(test_enumerated__next_offsets),
		cmocka_unit_test(test_enumerated__enable_counts),
		cmocka_unit_test(test_enumerated__numbers_of_records),
		cmocka_unit_test(test_enumerated__guids_and_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
