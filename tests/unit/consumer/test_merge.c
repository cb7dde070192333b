/* SPDX-License-Identifier: MIT */
/* The merge of one file: order of time, equal times in file order, losses first, windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "consumer/merge.h"
#include "unit/etl/sample.h"

struct merged {
	struct sample sample;
	struct etw_findings findings;
	struct etw_etl_directory directory;
	struct etw_etl_kept kept;
};

/* What came out of a merge. */
struct outcome {
	unsigned events, losses, buffers;
	uint32_t first_buffer, last_buffer;
	int64_t first_raw, last_raw;
};

static struct merged prepare_sample(struct sample sample)
{
	struct merged merged = {.sample = sample};
	struct etw_etl_walk walk;
	struct etw_etl_header header;

	assert_int_equal(
		etw_etl_walk_start(&merged.sample.file, &merged.findings, &walk, &header, NULL), 0);
	walk.findings = &merged.findings;
	assert_int_equal(etw_etl_directory_build(&walk, &merged.kept, &merged.directory), 0);
	etw_etl_header_done(&header);
	return merged;
}

static void done(struct merged *merged)
{
	etw_etl_directory_done(&merged->directory);
	etw_etl_kept_done(&merged->kept);
	sample_done(&merged->sample);
}

/* Runs to the end. Without late events, (time, buffer, offset) ascends strictly. */
static struct outcome run(struct merged *merged)
{
	struct etw_merge *merge = NULL;
	struct etw_merge_event event;
	struct outcome outcome = {.first_raw = INT64_MIN, .last_raw = INT64_MIN};
	uint64_t last_address = 0;

	assert_int_equal(etw_merge_create(&merged->sample.file, &merged->directory, &merged->kept,
					  INT64_MAX, &merged->findings, &merge),
			 0);
	while (!etw_merge_peek(merge, &event)) {
		uint64_t address = (uint64_t)event.block->buffer.number << 32 | event.offset;

		if (event.loss) {
			outcome.losses++;
		} else {
			assert_true(event.time_raw >= outcome.last_raw);
			assert_true(event.time_raw > outcome.last_raw || address > last_address ||
				    !outcome.events);
			if (!outcome.events++) {
				outcome.first_raw = event.time_raw;
				outcome.first_buffer = event.block->buffer.number;
			}
			outcome.last_raw = event.time_raw;
			outcome.last_buffer = event.block->buffer.number;
			last_address = address;
		}
		if (etw_merge_pop(merge))
			outcome.buffers++;
	}
	assert_int_equal(etw_merge_peek(merge, &event), ETW_END);
	etw_merge_free(merge);
	return outcome;
}

static struct outcome run_preset(const char *preset)
{
	struct merged merged = prepare_sample(sample_make(preset));
	struct outcome outcome = run(&merged);

	assert_int_equal(outcome.buffers, merged.directory.count);
	assert_int_equal(merged.findings.counts[ETW_FINDING_LATE], 0);
	done(&merged);
	return outcome;
}

static void test_merge__every_preset_in_order(void **state)
{
	const struct preset *preset;

	(void)state;
	for (unsigned i = 0; (preset = preset_at(i)) != NULL; i++)
		(void)run_preset(preset->name);
}

static void test_merge__counts(void **state)
{
	(void)state;
	assert_int_equal(run_preset("plain").events, 62); /* two in the header buffer */
	assert_int_equal(run_preset("processors-300").events, 902);
	assert_int_equal(run_preset("equal-times").events, 82);
	assert_int_equal(run_preset("empty").events, 2);
	assert_int_equal(run_preset("idle-processor").events, 63);
	assert_int_equal(run_preset("append").events, 62);
}

static void test_merge__losses_come_before_the_buffers_events(void **state)
{
	struct merged merged = prepare_sample(sample_make("loss"));
	struct etw_merge *merge = NULL;
	struct etw_merge_event event;
	struct etw_pin_account *account;
	struct etw_pin *pin;
	uint16_t seen[8];
	unsigned count = 0;

	(void)state;
	assert_int_equal(etw_merge_create(&merged.sample.file, &merged.directory, &merged.kept,
					  INT64_MAX, &merged.findings, &merge),
			 0);
	assert_int_equal(etw_pin_account_create(UINT64_MAX, &account), 0);
	while (!etw_merge_peek(merge, &event)) {
		/* Losses lie in no buffer: there is nothing to keep. */
		assert_int_equal(etw_merge_pin(merge, account, &pin), event.loss ? -ENODATA : 0);
		if (!event.loss)
			etw_pin_unref(pin);
		if (event.loss) {
			assert_true(count < 8);
			seen[count++] = event.loss;
			assert_int_equal(event.offset, 0);
			assert_int_equal(event.time_raw, event.block->first_raw);
		}
		(void)etw_merge_pop(merge);
	}
	etw_merge_free(merge);
	etw_pin_account_unref(account);
	assert_int_equal(count, 5);
	assert_int_equal(seen[0], WIRE_BUFFER_EVENTS_LOST);
	assert_int_equal(seen[1], WIRE_BUFFER_BUFFER_LOST);
	assert_int_equal(seen[2], WIRE_BUFFER_EVENTS_LOST);
	assert_int_equal(seen[3], WIRE_BUFFER_BUFFER_LOST);
	assert_int_equal(seen[4], WIRE_BUFFER_RTBACKUP_CORRUPT);
	done(&merged);
}

/* Every buffer is shown once, with its bytes, in the order of flushes; what is pinned stays. */
static void check_order(const char *preset)
{
	struct merged merged = prepare_sample(sample_make(preset));
	struct etw_merge *merge = NULL;
	struct etw_merge_event event;
	const struct etw_etl_block *block;
	struct etw_pin_account *account;
	struct etw_pin *pins[400];
	int64_t flushed = INT64_MIN;
	unsigned shown = 0;

	assert_int_equal(etw_merge_create(&merged.sample.file, &merged.directory, &merged.kept,
					  INT64_MAX, &merged.findings, &merge),
			 0);
	assert_int_equal(etw_pin_account_create(UINT64_MAX, &account), 0);
	assert_int_equal(etw_merge_keep_order(merge), 0);
	assert_int_equal(etw_merge_pin_done(merge, account, &pins[0]), -ENODATA);
	while (!etw_merge_peek(merge, &event)) {
		if (!etw_merge_pop(merge))
			continue;
		while ((block = etw_merge_next_done(merge)) != NULL) {
			assert_true(block->buffer.time_raw >= flushed);
			flushed = block->buffer.time_raw;
			assert_memory_equal(block->raw, merged.sample.bytes + block->buffer.offset,
					    block->raw_bytes);
			assert_true(shown < 400);
			assert_int_equal(etw_merge_pin_done(merge, account, &pins[shown++]), 0);
		}
	}
	assert_int_equal(shown, merged.directory.count);
	etw_merge_free(merge);
	assert_true(etw_pin_account_bytes(account) > 0);
	for (unsigned i = 0; i < shown; i++)
		etw_pin_unref(pins[i]);
	assert_int_equal(etw_pin_account_bytes(account), 0);
	etw_pin_account_unref(account);
	done(&merged);
}

static void test_merge__shows_buffers_in_order_of_flushes(void **state)
{
	(void)state;
	check_order("plain");
	check_order("idle-processor");
	check_order("wrapped-circular");
	check_order("processors-300");
	check_order("compressed-small");
}

/* It has no event that it could come before: the time is that of the flush. */
static void test_merge__losses_of_a_buffer_without_events(void **state)
{
	struct sample sample = sample_make("plain");
	struct merged merged;
	struct outcome outcome;

	(void)state;
	sample_set32(&sample, 1024 + AT_VALID, 0x48);
	sample_set32(&sample, 1024 + AT_SAVED, 0x48);
	sample.bytes[1024 + AT_FLAGS] |= WIRE_BUFFER_EVENTS_LOST | WIRE_BUFFER_BUFFER_LOST;
	merged = prepare_sample(sample);
	outcome = run(&merged);
	assert_int_equal(outcome.losses, 2);
	assert_int_equal(outcome.buffers, merged.directory.count);
	assert_int_equal(merged.directory.count, merged.directory.buffers);
	assert_int_equal(merged.findings.kept_count, 0);
	done(&merged);
}

/* Every window over the 60 events and two companions of "plain" gives what lies in it. */
static void check_windows(struct merged *merged)
{
	for (int64_t from = 999900; from <= 1006000; from += 50) {
		for (int64_t to = from - 50; to <= 1006000; to += 350) {
			struct etw_merge *merge = NULL;
			struct etw_merge_event event;
			unsigned in_window = 0, wanted = 0;

			for (int64_t i = 0; i < 60; i++) {
				int64_t time = 1000000 + 100 * i;

				wanted += time >= from && time <= to;
			}
			wanted += from <= 1000000 && to >= 1000000 ? 2 : 0;
			assert_int_equal(etw_merge_create(&merged->sample.file, &merged->directory,
							  &merged->kept, to, &merged->findings,
							  &merge),
					 0);
			while (!etw_merge_peek(merge, &event)) {
				assert_true(event.time_raw <= to);
				in_window += event.time_raw >= from;
				(void)etw_merge_pop(merge);
			}
			etw_merge_free(merge);
			assert_int_equal(in_window, wanted);
		}
	}
}

static void test_merge__windows(void **state)
{
	struct merged merged = prepare_sample(sample_make("plain"));

	(void)state;
	check_windows(&merged);
	done(&merged);
}

/* A file of several sessions has buffers of one processor that overlap in time. */
static void test_merge__regress_windows_of_buffers_that_overlap(void **state)
{
	struct sample sample = sample_make("plain");
	struct merged merged;

	(void)state;
	for (size_t at = 0; at < sample.count; at += etw_load32(sample.bytes + at))
		etw_store16(sample.bytes + at + 0x28, 0); /* ProcessorIndex */
	merged = prepare_sample(sample);
	check_windows(&merged);
	done(&merged);
}

/* Buffers that all begin at one time are loaded one after the other, not all at once. */
static void test_merge__equal_times_need_no_more_memory(void **state)
{
	struct merged merged = prepare_sample(sample_make("equal-times"));
	struct outcome outcome = run(&merged);

	(void)state;
	assert_int_equal(outcome.events, 82);
	assert_int_equal(outcome.first_buffer, 0);
	done(&merged);
}

static void test_merge__late_events_are_delivered_and_told(void **state)
{
	struct sample sample = sample_make("plain");
	struct merged merged;
	struct etw_merge *merge = NULL;
	struct etw_merge_event event;
	unsigned count = 0;

	(void)state;
	/* The first event of buffer 1 is moved far behind: the rest of the buffer comes too late. */
	etw_store64(sample.bytes + 1024 + 0x48 + 0x10, 1005950);
	merged = prepare_sample(sample);
	assert_int_equal(etw_merge_create(&merged.sample.file, &merged.directory, &merged.kept,
					  INT64_MAX, &merged.findings, &merge),
			 0);
	while (!etw_merge_peek(merge, &event)) {
		count++;
		assert_int_equal(etw_merge_peek(merge, &event), 0); /* late once, not each time */
		(void)etw_merge_pop(merge);
	}
	etw_merge_free(merge);
	assert_int_equal(count, 62);
	assert_int_equal(merged.findings.counts[ETW_FINDING_LATE], 9);
	assert_string_equal(merged.findings.kept[0].sentence,
			    "an event is older than one before it");
	done(&merged);
}

/* A block that others keep is theirs as long as they want, and not the next merge's any more. */
static void test_merge__kept_blocks_can_be_pinned(void **state)
{
	struct merged merged = prepare_sample(sample_make("compressed-small"));
	struct etw_etl_block own = {0};
	const struct etw_etl_block *block;
	struct etw_merge *merge = NULL;
	struct etw_merge_event event;
	struct etw_pin_account *account;
	struct etw_pin *pin = NULL;
	const uint8_t *at;
	unsigned events = run(&merged).events;
	uint64_t loaded, word;

	(void)state;
	merged.kept.is_wanted = true;
	merged.kept.limit_bytes = SIZE_MAX;
	for (uint32_t i = 0; i < merged.directory.count; i++) {
		const struct etw_etl_entry *entry = &merged.directory.entries[i];
		struct etw_etl_buffer buffer = sample_buffer(&merged.sample, entry->offset);

		buffer.number = entry->number;
		assert_int_equal(etw_etl_kept_first(&merged.kept, &merged.sample.file, &buffer,
						    &own, NULL, &block),
				 0);
		if (buffer.flags & WIRE_BUFFER_COMPRESSED)
			assert_ptr_not_equal(block, &own);
	}
	loaded = merged.kept.loaded;
	assert_int_equal(run(&merged).events, events);
	assert_int_equal(merged.kept.loaded, loaded);
	assert_int_equal(etw_pin_account_create(UINT64_MAX, &account), 0);
	assert_int_equal(etw_merge_create(&merged.sample.file, &merged.directory, &merged.kept,
					  INT64_MAX, &merged.findings, &merge),
			 0);
	/* The header buffer is not compressed, and so not kept. */
	while (!etw_merge_peek(merge, &event) &&
	       !(event.block->buffer.flags & WIRE_BUFFER_COMPRESSED))
		(void)etw_merge_pop(merge);
	assert_int_equal(etw_merge_pin(merge, account, &pin), 0);
	at = event.event->at;
	word = etw_load64(at);
	while (!etw_merge_peek(merge, &event))
		(void)etw_merge_pop(merge);
	etw_merge_free(merge);
	/* Another pass loads the one that was taken. */
	assert_int_equal(run(&merged).events, events);
	assert_int_equal(merged.kept.loaded, loaded + 1);
	etw_etl_block_done(&own);
	done(&merged);
	assert_int_equal(etw_load64(at), word);
	etw_pin_unref(pin);
	etw_pin_account_unref(account);
}

static void test_merge__free_midway(void **state)
{
	struct merged merged = prepare_sample(sample_make("plain"));
	struct etw_merge *merge = NULL;
	struct etw_merge_event event;

	(void)state;
	assert_int_equal(etw_merge_create(&merged.sample.file, &merged.directory, &merged.kept,
					  INT64_MAX, &merged.findings, &merge),
			 0);
	for (unsigned i = 0; i < 30; i++) {
		assert_int_equal(etw_merge_peek(merge, &event), 0);
		(void)etw_merge_pop(merge);
	}
	etw_merge_freep(&merge);
	etw_merge_free(NULL);
	done(&merged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge__every_preset_in_order),
		cmocka_unit_test(test_merge__counts),
		cmocka_unit_test(test_merge__losses_come_before_the_buffers_events),
		cmocka_unit_test(test_merge__losses_of_a_buffer_without_events),
		cmocka_unit_test(test_merge__shows_buffers_in_order_of_flushes),
		cmocka_unit_test(test_merge__windows),
		cmocka_unit_test(test_merge__regress_windows_of_buffers_that_overlap),
		cmocka_unit_test(test_merge__equal_times_need_no_more_memory),
		cmocka_unit_test(test_merge__late_events_are_delivered_and_told),
		cmocka_unit_test(test_merge__kept_blocks_can_be_pinned),
		cmocka_unit_test(test_merge__free_midway),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
