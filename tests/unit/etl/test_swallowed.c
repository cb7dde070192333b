/* SPDX-License-Identifier: MIT */
/* Events that hide others behind a size that is not theirs, and payloads that only look like it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "etl/block.h"
#include "etl/swallowed.h"
#include "unit/etl/sample.h"

/* The second data buffer of preset "plain": events of 88 bytes, 10 in a buffer of 1024. */
#define DATA   2048
#define EVENT  88
#define EVENTS (DATA + WIRE_BUFFER_HEADER_BYTES)
#define LAST   9

struct looked {
	struct sample sample;
	struct etw_etl_buffer buffer;
	struct etw_etl_block block;
	struct etw_findings findings;
};

static struct looked prepare(void)
{
	struct looked looked = {.sample = sample_make("plain")};

	looked.buffer = sample_buffer(&looked.sample, DATA);
	return looked;
}

static void look(struct looked *looked)
{
	looked->findings = (struct etw_findings){0};
	assert_int_equal(etw_etl_block_load(&looked->sample.file, &looked->buffer, &looked->block,
					    &looked->findings),
			 0);
}

static void done(struct looked *looked)
{
	etw_etl_block_done(&looked->block);
	sample_done(&looked->sample);
}

/* Makes event @index end where event @until does. */
static void swallow(struct looked *looked, unsigned index, unsigned until)
{
	sample_set16(&looked->sample, EVENTS + index * EVENT,
		     (uint16_t)((until + 1 - index) * EVENT));
}

static void assert_swallowed(const struct looked *looked, unsigned index, unsigned until)
{
	const struct etw_finding *finding = &looked->findings.kept[0];

	assert_int_equal(looked->findings.kept_count, 1);
	assert_int_equal(finding->kind, ETW_FINDING_DOUBTED);
	assert_int_equal(finding->offset, EVENTS + index * EVENT);
	assert_int_equal(finding->bytes, (until - index) * EVENT);
	assert_string_equal(finding->sentence, "what looks like other events lies in the payload "
					       "of this one: its size may be wrong");
}

/* From any event to any later one, the last of the buffer included. */
static void regress_swallowed__from_any_to_any(void **state)
{
	(void)state;
	for (unsigned index = 0; index < LAST; index++) {
		for (unsigned until = index + 1; until <= LAST; until++) {
			struct looked looked = prepare();

			swallow(&looked, index, until);
			look(&looked);
			assert_int_equal(looked.block.count, LAST + 1 - (until - index));
			assert_swallowed(&looked, index, until);
			done(&looked);
		}
	}
}

static void test_swallowed__two_of_one_buffer(void **state)
{
	struct looked looked = prepare();
	struct etw_etl_swallowed found = {0};

	(void)state;
	swallow(&looked, 0, 2);
	swallow(&looked, 5, LAST);
	look(&looked);
	assert_int_equal(looked.findings.counts[ETW_FINDING_DOUBTED], 2);
	assert_true(etw_etl_swallowed_find(&looked.block, &found));
	assert_int_equal(found.offset, 0);
	assert_int_equal(found.inner, EVENT);
	assert_int_equal(found.bytes, 2 * EVENT);
	assert_true(etw_etl_swallowed_find(&looked.block, &found));
	assert_int_equal(found.offset, 5 * EVENT);
	assert_int_equal(found.inner, 6 * EVENT);
	assert_false(etw_etl_swallowed_find(&looked.block, &found));
	done(&looked);
}

static void test_swallowed__nothing_in_a_sound_buffer(void **state)
{
	struct looked looked = prepare();

	(void)state;
	look(&looked);
	assert_int_equal(looked.findings.kept_count, 0);
	done(&looked);
}

/* A payload may hold markers, headers that do not chain up, and whole events of another time. */
static void test_swallowed__payloads_that_only_look_so(void **state)
{
	struct looked looked = prepare();
	uint8_t *first = looked.sample.bytes + EVENTS;

	(void)state;
	swallow(&looked, 0, 1);
	memset(first + EVENT, 0xC0, EVENT);
	look(&looked);
	assert_int_equal(looked.findings.kept_count, 0);
	memcpy(first + EVENT, first + 2 * EVENT, EVENT);
	first[EVENT] -= 8;
	look(&looked);
	assert_int_equal(looked.findings.kept_count, 0);
	first[EVENT] += 8;
	look(&looked);
	assert_swallowed(&looked, 0, 1);
	/* Its time is that of another day. */
	first[EVENT + 0x10 + 6] ^= 1;
	look(&looked);
	assert_int_equal(looked.findings.kept_count, 0);
	done(&looked);
}

/* Chains that nearly lead to the end, one from every place, cost no more than the block has bytes. */
static void test_swallowed__effort_is_bounded(void **state)
{
	struct looked looked = prepare();
	struct etw_etl_swallowed found = {0};
	uint8_t *at = looked.sample.bytes + EVENTS;
	uint32_t bytes = (LAST + 1) * EVENT;

	(void)state;
	sample_set16(&looked.sample, EVENTS, (uint16_t)bytes);
	/* Messages of 16 bytes with a time, and no sound one at the very end. */
	for (uint32_t i = EVENT; i + 24 <= bytes; i += 16) {
		memset(at + i, 0, 16);
		etw_store16(at + i, 16);
		at[i + 3] = WIRE_EVENT_FLAG_MESSAGE;
		etw_store16(at + i + 6, 0x0008);
		memcpy(at + i + 8, at + 0x10, 8);
	}
	look(&looked);
	assert_int_equal(looked.findings.kept_count, 0);
	(void)etw_etl_swallowed_find(&looked.block, &found);
	assert_true(found.steps_left < looked.block.event_bytes);
	done(&looked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regress_swallowed__from_any_to_any),
		cmocka_unit_test(test_swallowed__two_of_one_buffer),
		cmocka_unit_test(test_swallowed__nothing_in_a_sound_buffer),
		cmocka_unit_test(test_swallowed__payloads_that_only_look_so),
		cmocka_unit_test(test_swallowed__effort_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
