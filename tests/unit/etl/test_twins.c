/* SPDX-License-Identifier: MIT */
/* Buffers that are in a file twice: found wherever they stand, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "etl/twins.h"
#include "unit/etl/sample.h"

#define STRIDE 1024 /* of the preset "plain", whose buffers 1 to 6 hold events */

static const char sentence[] = "the buffer has the bytes of an earlier one: its events come twice";

/* Builds the directory and looks for twins. */
static struct etw_findings look(const struct sample *sample)
{
	struct etw_findings walked = {0}, found = {0};
	struct etw_etl_directory directory = {0};
	struct etw_etl_header header = {0};
	struct etw_etl_kept kept = {0};
	struct etw_etl_walk walk;
	struct etw_fault fault = {0};

	assert_int_equal(etw_etl_walk_start(&sample->file, &walked, &walk, &header, &fault), 0);
	assert_int_equal(etw_etl_directory_build(&walk, &kept, &directory), 0);
	assert_int_equal(etw_etl_twins_find(&sample->file, &directory, &found), 0);
	etw_etl_directory_done(&directory);
	etw_etl_header_done(&header);
	return found;
}

/* Puts a copy of the buffer at @from behind the file's end. */
static void append_copy(struct sample *sample, uint64_t from, uint32_t stride)
{
	sample->bytes = realloc(sample->bytes, sample->count + stride);
	assert_non_null(sample->bytes);
	memcpy(sample->bytes + sample->count, sample->bytes + from, stride);
	sample->count += stride;
	etw_etl_file_memory(sample->bytes, sample->count, &sample->file);
}

static void test_twins__none_in_a_sound_file(void **state)
{
	static const char *const presets[] = {"plain", "session", "compressed-small",
					      "untimed-messages", "clock-system"};

	(void)state;
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		struct sample sample = sample_make(presets[i]);

		assert_int_equal(look(&sample).kept_count, 0);
		sample_done(&sample);
	}
}

static void regress_twins__appended_and_overwritten(void **state)
{
	struct sample sample = sample_make("plain");
	struct etw_findings found;

	(void)state;
	append_copy(&sample, 3 * STRIDE, STRIDE);
	found = look(&sample);
	assert_int_equal(found.kept_count, 1);
	assert_int_equal(found.kept[0].kind, ETW_FINDING_DOUBTED);
	assert_int_equal(found.kept[0].offset, 7 * STRIDE);
	assert_int_equal(found.kept[0].buffer, 7);
	assert_int_equal(found.kept[0].bytes, 0);
	assert_string_equal(found.kept[0].sentence, sentence);
	/* As many buffers as before: one took the place of another. */
	memcpy(sample.bytes + 5 * STRIDE, sample.bytes + 2 * STRIDE, STRIDE);
	found = look(&sample);
	assert_int_equal(found.kept_count, 2);
	sample_done(&sample);
}

/* Three times the same is two too many; they are told in the order of the file. */
static void test_twins__more_than_two(void **state)
{
	struct sample sample = sample_make("plain");
	struct etw_findings found;

	(void)state;
	append_copy(&sample, STRIDE, STRIDE);
	append_copy(&sample, STRIDE, STRIDE);
	found = look(&sample);
	assert_int_equal(found.kept_count, 2);
	assert_int_equal(found.kept[0].buffer, 7);
	assert_int_equal(found.kept[1].buffer, 8);
	sample_done(&sample);
}

/* One bit in the events makes two buffers; one in the unused rest does not. */
static void test_twins__every_byte_of_events_counts(void **state)
{
	struct sample sample = sample_make("plain");
	struct etw_etl_buffer copy;

	(void)state;
	append_copy(&sample, 2 * STRIDE, STRIDE);
	copy = sample_buffer(&sample, 7 * STRIDE);
	sample.bytes[8 * STRIDE - 1] ^= 1;
	assert_true(copy.valid_bytes < STRIDE);
	assert_int_equal(look(&sample).kept_count, 1);
	sample.bytes[7 * STRIDE + copy.valid_bytes - 9] ^= 1;
	assert_int_equal(look(&sample).kept_count, 0);
	sample_done(&sample);
}

static void test_twins__compressed(void **state)
{
	struct sample sample = sample_make("compressed-small");
	struct etw_etl_buffer buffer = sample_buffer(&sample, 0);
	uint64_t second = buffer.stride;

	(void)state;
	append_copy(&sample, second, sample_buffer(&sample, second).stride);
	assert_int_equal(look(&sample).kept_count, 1);
	sample_done(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twins__none_in_a_sound_file),
		cmocka_unit_test(regress_twins__appended_and_overwritten),
		cmocka_unit_test(test_twins__more_than_two),
		cmocka_unit_test(test_twins__every_byte_of_events_counts),
		cmocka_unit_test(test_twins__compressed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
