/* SPDX-License-Identifier: MIT */
/* The list of a file's buffers by the time of their first events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "etl/block.h"
#include "etl/directory.h"
#include "unit/etl/sample.h"

struct built {
	struct sample sample;
	struct etw_findings findings;
	struct etw_etl_directory directory;
	struct etw_etl_kept kept;
};

static void build(struct built *built)
{
	struct etw_etl_walk walk;
	struct etw_etl_header header;

	built->findings = (struct etw_findings){0};
	assert_int_equal(
		etw_etl_walk_start(&built->sample.file, &built->findings, &walk, &header, NULL), 0);
	assert_int_equal(etw_etl_directory_build(&walk, &built->kept, &built->directory), 0);
	etw_etl_header_done(&header);
}

static void done(struct built *built)
{
	etw_etl_directory_done(&built->directory);
	etw_etl_kept_done(&built->kept);
	assert_null(built->directory.entries);
	sample_done(&built->sample);
}

/* In order of time, then number; and what an entry says is what loading the buffer gives. */
static void assert_whole(struct built *built)
{
	struct etw_etl_block own = {0};
	const struct etw_etl_block *block;

	for (uint32_t i = 0; i < built->directory.count; i++) {
		const struct etw_etl_entry *entry = &built->directory.entries[i];

		if (i && entry[-1].first_raw == entry->first_raw)
			assert_true(entry[-1].number < entry->number);
		else if (i)
			assert_true(entry[-1].first_raw < entry->first_raw);
		assert_int_equal(etw_etl_directory_load(&built->kept, &built->sample.file, entry,
							&own, NULL, &block),
				 0);
		assert_true(block->count > 0);
		assert_int_equal(block->first_raw, entry->first_raw);
		assert_int_equal(block->buffer.processor, entry->processor);
		assert_int_equal(block->buffer.number, entry->number);
	}
	etw_etl_block_done(&own);
}

static void test_directory__every_preset(void **state)
{
	const struct preset *preset;

	(void)state;
	for (unsigned i = 0; (preset = preset_at(i)) != NULL; i++) {
		struct built built = {.sample = sample_make(preset->name)};

		build(&built);
		assert_whole(&built);
		assert_true(built.directory.count <= built.directory.buffers);
		done(&built);
	}
}

/* A buffer that has to be loaded to know its first time is loaded for that alone once. */
static void test_directory__keeps_what_it_loads(void **state)
{
	struct built built = {.sample = sample_make("untimed-messages")};
	uint64_t loaded;

	(void)state;
	built.kept.is_wanted = true;
	built.kept.limit_bytes = SIZE_MAX;
	build(&built);
	loaded = built.kept.loaded;
	assert_true(loaded > 0);
	assert_whole(&built);
	assert_int_equal(built.kept.loaded, built.directory.count);
	done(&built);
}

static void test_directory__orders_what_the_file_does_not(void **state)
{
	struct built built = {.sample = sample_make("idle-processor")};

	(void)state;
	build(&built);
	assert_int_equal(built.directory.buffers, 8);
	assert_int_equal(built.directory.entries[2].number, 7);
	assert_int_equal(built.directory.entries[2].processor, 1);
	assert_int_equal(built.directory.entries[2].first_raw, 1000001);
	done(&built);
	built = (struct built){.sample = sample_make("wrapped-circular")};
	build(&built);
	assert_int_equal(built.directory.buffers, 5);
	assert_true(built.directory.entries[1].number != 1);
	done(&built);
}

static void test_directory__buffers_without_events_have_no_entry(void **state)
{
	struct built built = {.sample = sample_make("plain")};

	(void)state;
	sample_set32(&built.sample, 1024 + AT_VALID, 0x48);
	sample_set32(&built.sample, 1024 + AT_SAVED, 0x48);
	build(&built);
	assert_int_equal(built.directory.buffers, 7);
	assert_int_equal(built.directory.count, 6);
	assert_int_equal(built.findings.kept_count, 0);
	done(&built);
}

static void test_directory__a_loss_needs_no_event(void **state)
{
	struct built built = {.sample = sample_make("plain")};

	(void)state;
	sample_set32(&built.sample, 1024 + AT_VALID, 0x48);
	sample_set32(&built.sample, 1024 + AT_SAVED, 0x48);
	built.sample.bytes[1024 + AT_FLAGS] |= WIRE_BUFFER_EVENTS_LOST;
	build(&built);
	assert_int_equal(built.directory.buffers, 7);
	assert_int_equal(built.directory.count, 7);
	assert_int_equal(built.findings.kept_count, 0);
	done(&built);
}

static void test_directory__buffers_of_damage_alone_are_found(void **state)
{
	struct built built = {.sample = sample_make("plain")};

	(void)state;
	memset(built.sample.bytes + 1024 + 0x48, 0x41, 880);
	build(&built);
	assert_int_equal(built.directory.count, 6);
	assert_int_equal(built.findings.counts[ETW_FINDING_EVENTS], 1);
	assert_int_equal(built.findings.kept[0].offset, 1024);
	assert_string_equal(built.findings.kept[0].sentence, "no event of the buffer can be read");
	done(&built);
}

/* What the walk mended counts, not what the header says when it is read again. */
static void test_directory__mended_headers_stay_mended(void **state)
{
	struct built built = {.sample = sample_make("plain")};

	(void)state;
	sample_set16(&built.sample, 1024 + AT_TYPE, 7);
	sample_set32(&built.sample, 2048 + AT_SIZE, 77);
	sample_set32(&built.sample, 3072 + AT_VALID, 0xFFFFFFFF);
	sample_set16(&built.sample, 4096 + AT_FLAGS, 0xFFBF);
	build(&built);
	assert_int_equal(built.directory.count, 7);
	assert_whole(&built);
	done(&built);
}

static void test_directory__fetches_bytes_and_flush_times(void **state)
{
	struct built built = {.sample = sample_make("plain")};
	struct etw_etl_block block = {0};

	(void)state;
	build(&built);
	for (uint32_t i = 0; i < built.directory.count; i++) {
		const struct etw_etl_entry *entry = &built.directory.entries[i];
		struct etw_etl_buffer buffer = sample_buffer(&built.sample, entry->offset);

		assert_int_equal(etw_etl_directory_flushed(&built.sample.file, entry),
				 buffer.time_raw);
		assert_int_equal(etw_etl_directory_fetch(&built.sample.file, entry, &block), 0);
		assert_int_equal(block.raw_bytes, entry->valid_bytes);
		assert_memory_equal(block.raw, built.sample.bytes + entry->offset, block.raw_bytes);
		assert_int_equal(block.count, 0);
	}
	etw_etl_block_done(&block);
	done(&built);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directory__every_preset),
		cmocka_unit_test(test_directory__keeps_what_it_loads),
		cmocka_unit_test(test_directory__orders_what_the_file_does_not),
		cmocka_unit_test(test_directory__buffers_without_events_have_no_entry),
		cmocka_unit_test(test_directory__a_loss_needs_no_event),
		cmocka_unit_test(test_directory__fetches_bytes_and_flush_times),
		cmocka_unit_test(test_directory__buffers_of_damage_alone_are_found),
		cmocka_unit_test(test_directory__mended_headers_stay_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
