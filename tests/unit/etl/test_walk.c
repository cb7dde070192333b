/* SPDX-License-Identifier: MIT */
/* From buffer to buffer: both kinds of files, and every way in which a file can be damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/etl/sample.h"

#define BUFFERS_MAX 64

static const char surplus[] = "there are more buffers than the header event counts";
static const char no_buffer[] = "these bytes belong to no buffer";

struct walked {
	struct sample sample;
	struct etw_findings findings;
	struct etw_etl_header header;
	struct etw_etl_buffer buffers[BUFFERS_MAX];
	uint32_t count;
	uint32_t fixed_stride;
};

static void run(struct walked *walked)
{
	struct etw_etl_walk walk;
	struct etw_fault fault = {0};

	walked->findings = (struct etw_findings){0};
	walked->count = 0;
	etw_etl_header_done(&walked->header);
	assert_int_equal(etw_etl_walk_start(&walked->sample.file, &walked->findings, &walk,
					    &walked->header, &fault),
			 0);
	walked->fixed_stride = walk.fixed_stride;
	while (!etw_etl_walk_next(&walk, &walked->buffers[walked->count])) {
		assert_int_equal(walked->buffers[walked->count].number, walked->count);
		walked->count++;
		assert_true(walked->count < BUFFERS_MAX);
	}
	assert_int_equal(etw_etl_walk_next(&walk, &walked->buffers[0]), ETW_END);
}

static void done(struct walked *walked)
{
	etw_etl_header_done(&walked->header);
	sample_done(&walked->sample);
}

static void assert_finding(const struct walked *walked, enum etw_finding_kind kind, uint64_t offset,
			   uint64_t bytes, const char *sentence)
{
	for (uint32_t i = 0; i < walked->findings.kept_count; i++) {
		const struct etw_finding *finding = &walked->findings.kept[i];

		if (finding->kind != kind || finding->offset != offset)
			continue;
		assert_int_equal(finding->bytes, bytes);
		assert_string_equal(finding->sentence, sentence);
		return;
	}
	fail_msg("no %s finding at %llu", etw_finding_kind_name(kind), (unsigned long long)offset);
}

static void test_walk__one_size_for_all(void **state)
{
	struct walked walked = {.sample = sample_make("plain")};

	(void)state;
	run(&walked);
	assert_int_equal(walked.fixed_stride, 1024);
	assert_int_equal(walked.count, 7);
	for (uint32_t i = 0; i < walked.count; i++)
		assert_int_equal(walked.buffers[i].offset, 1024 * i);
	assert_int_equal(walked.findings.kept_count, 0);
	done(&walked);
}

static void test_walk__a_size_for_each(void **state)
{
	struct walked walked = {.sample = sample_make("compressed-small")};
	uint64_t offset = 0;

	(void)state;
	run(&walked);
	assert_int_equal(walked.fixed_stride, 0);
	assert_int_equal(walked.count, 5);
	for (uint32_t i = 0; i < walked.count; i++) {
		assert_int_equal(walked.buffers[i].offset, offset);
		offset += walked.buffers[i].stride;
	}
	assert_int_equal(offset, walked.sample.count);
	assert_int_equal(walked.findings.kept_count, 0);
	done(&walked);
}

/* The size of all is known from three places; one of them may lie. */
static void test_walk__size_by_evidence(void **state)
{
	static const uint32_t lies[] = {0, 0x40, 512, 2048, 0x80000000, 0xFFFFFFFF, 7 * 1024};
	static const uint32_t places[] = {AT_SIZE, AT_TOLD_SIZE, 1024 + AT_SIZE,
					  6 * 1024 + AT_SIZE};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		for (size_t j = 0; j < sizeof(places) / sizeof(places[0]); j++) {
			struct walked walked = {.sample = sample_make("plain")};

			sample_set32(&walked.sample, places[j], lies[i]);
			run(&walked);
			assert_int_equal(walked.fixed_stride, 1024);
			assert_int_equal(walked.count, 7);
			if (places[j] != AT_TOLD_SIZE)
				assert_finding(&walked, ETW_FINDING_REPAIRED, places[j], 0,
					       "BufferSize is not the buffer's size");
			done(&walked);
		}
	}
}

static void test_walk__compression_in_the_mode_decides_nothing(void **state)
{
	struct walked walked = {.sample = sample_make("plain")};

	(void)state;
	sample_set32(&walked.sample, AT_TOLD_MODE, 0x04000001);
	run(&walked);
	assert_int_equal(walked.fixed_stride, 1024);
	assert_int_equal(walked.count, 7);
	done(&walked);
	walked = (struct walked){.sample = sample_make("compressed-small")};
	sample_set32(&walked.sample, AT_TOLD_MODE, 0x00010001);
	run(&walked);
	assert_int_equal(walked.fixed_stride, 0);
	assert_int_equal(walked.count, 5);
	done(&walked);
}

static void test_walk__sizes_of_compressed_buffers_that_lie(void **state)
{
	struct walked whole = {.sample = sample_make("compressed-small")};

	(void)state;
	run(&whole);
	for (uint32_t i = 0; i < whole.count; i++) {
		uint32_t own = whole.buffers[i].stride;
		uint32_t lies[] = {0,
				   0x48,
				   own - 8,
				   own + 8,
				   2 * own,
				   0x10000,
				   0xFFFFFFFF,
				   (uint32_t)(whole.sample.count - whole.buffers[i].offset),
				   i + 1 < whole.count ? own + whole.buffers[i + 1].stride
						       : own - 1};

		for (size_t j = 0; j < sizeof(lies) / sizeof(lies[0]); j++) {
			struct walked walked = {0};

			if (lies[j] == own)
				continue;
			walked.sample = sample_make("compressed-small");
			sample_set32(&walked.sample, whole.buffers[i].offset + AT_SIZE, lies[j]);
			run(&walked);
			/* What the last buffer lacks is found when it is loaded. */
			assert_true(walked.findings.kept_count > 0 || i + 1 == whole.count);
			/* Every other buffer is where it was. */
			for (uint32_t k = 0, at = 0; k < whole.count; k++) {
				while (at < walked.count && k != i &&
				       walked.buffers[at].offset != whole.buffers[k].offset)
					at++;
				assert_true(k == i || at < walked.count);
			}
			done(&walked);
		}
	}
	done(&whole);
}

static void test_walk__mended_fields(void **state)
{
	static const struct {
		uint32_t at;
		uint16_t value;
		const char *sentence;
	} rows[] = {
		{AT_STATE, 9, "State is none that exists"},
		{AT_FLAGS, 0x120, "BufferFlag has bits that do not exist"},
		{AT_FLAGS, 0x60, "BufferFlag says compressed, but the buffer is not"},
		{AT_TYPE, 0x100, "BufferType is none that exists"},
		{AT_TYPE, 3, "BufferType says that there are no events, but there are"},
		{AT_VALID, 0x40, "Offset is not within the buffer"},
		{AT_VALID, 0x401, "Offset is not within the buffer"},
		{AT_VALID, 0x48, "Offset and SavedOffset differ"},
		{AT_SAVED, 0x48, "Offset and SavedOffset differ"},
		{AT_SAVED, 0x400, "Offset and SavedOffset differ"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct walked walked = {.sample = sample_make("plain")};

		sample_set16(&walked.sample, 1024 + rows[i].at, rows[i].value);
		run(&walked);
		assert_int_equal(walked.count, 7);
		assert_finding(&walked, ETW_FINDING_REPAIRED, 1024, 0, rows[i].sentence);
		assert_true(walked.buffers[1].valid_bytes >= 0x48 + 880);
		assert_int_equal(walked.buffers[1].flags, 0x20);
		assert_int_equal(walked.buffers[1].type, 0);
		done(&walked);
	}
}

static void test_walk__header_buffer_that_ends_too_soon(void **state)
{
	struct walked walked = {.sample = sample_make("plain")};
	uint32_t valid = sample_buffer(&walked.sample, 0).valid_bytes;

	(void)state;
	sample_set32(&walked.sample, AT_VALID, valid - 0x50);
	run(&walked);
	assert_finding(&walked, ETW_FINDING_REPAIRED, 0, 0,
		       "Offset is before the header buffer's last event");
	assert_int_equal(walked.buffers[0].valid_bytes, 1024);
	done(&walked);
}

static void test_walk__unwritten_buffers(void **state)
{
	struct walked walked = {.sample = sample_make("preallocated")};

	(void)state;
	run(&walked);
	assert_int_equal(walked.count, 7);
	assert_int_equal(walked.findings.counts[ETW_FINDING_UNUSED], 9);
	assert_finding(&walked, ETW_FINDING_UNUSED, 7 * 1024, 1024, "the buffer was never written");
	assert_int_equal(etw_findings_total(&walked.findings), 0);
	done(&walked);
	walked = (struct walked){.sample = sample_make("compressed-small")};
	memset(walked.sample.bytes + 0x400, 0, walked.sample.count - 0x400);
	run(&walked);
	assert_int_equal(walked.count, 1);
	assert_int_equal(walked.findings.counts[ETW_FINDING_UNUSED], 1);
	done(&walked);
}

static void test_walk__cuts(void **state)
{
	struct walked walked = {.sample = sample_make("plain")};

	(void)state;
	walked.sample.file.bytes = 6 * 1024 + 0x47;
	run(&walked);
	assert_int_equal(walked.count, 6);
	assert_finding(&walked, ETW_FINDING_CUT, 6 * 1024, 0x47,
		       "the file ends within a buffer header");
	walked.sample.file.bytes = 5 * 1024;
	run(&walked);
	assert_int_equal(walked.count, 5);
	assert_finding(&walked, ETW_FINDING_CUT, 5 * 1024, 0,
		       "the header event counts more buffers than there are");
	done(&walked);
	walked = (struct walked){.sample = sample_make("crashed")};
	walked.sample.file.bytes = 5 * 1024; /* it counts nothing */
	run(&walked);
	assert_int_equal(walked.findings.kept_count, 0);
	done(&walked);
	walked = (struct walked){.sample = sample_make("wrapped-circular")};
	run(&walked); /* it counts what was overwritten too */
	assert_int_equal(walked.count, 5);
	assert_int_equal(walked.findings.kept_count, 0);
	done(&walked);
}

static void test_walk__head_that_is_gone(void **state)
{
	static const char *const presets[] = {"plain", "compressed-small", "windows7"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct walked walked = {.sample = sample_make(presets[i])};
		uint32_t stride = sample_buffer(&walked.sample, 0).stride;
		uint32_t whole;

		run(&walked);
		whole = walked.count;
		memset(walked.sample.bytes, 0x41, stride);
		run(&walked);
		assert_true(walked.count >= whole - 1);
		assert_int_equal(walked.findings.counts[ETW_FINDING_HEADER], 1);
		assert_string_equal(walked.header.logger_name, "");
		assert_int_equal(etw_clock_to_filetime(&walked.header.clock, 12345), 12345);
		done(&walked);
	}
}

static void assert_refused(const void *bytes, size_t count, const char *structure,
			   const char *sentence)
{
	struct etw_etl_file file;
	struct etw_findings findings = {0};
	struct etw_etl_walk walk;
	struct etw_etl_header header = {0};
	struct etw_fault fault = {0};

	etw_etl_file_memory(bytes, count, &file);
	assert_int_equal(etw_etl_walk_start(&file, &findings, &walk, &header, &fault), -EBADMSG);
	assert_string_equal(fault.structure, structure);
	assert_string_equal(fault.sentence, sentence);
	assert_null(header.logger_name);
	assert_int_equal(etw_etl_walk_start(&file, &findings, &walk, &header, NULL), -EBADMSG);
}

static void test_walk__what_is_no_etl_file(void **state)
{
	static uint8_t text[5000];

	(void)state;
	memset(text, 'a', sizeof(text));
	assert_refused("", 0, "file", "the file is empty");
	assert_refused(text, 0x47, "file", "the file ends within the first buffer header");
	assert_refused(text, 0x48, "header event", "the buffer is too small for the header event");
	assert_refused(text, sizeof(text), "header event", "the first event is not a system event");
}

/* Many places that look like buffers: the search spends its budget and says so. */
static void test_walk__search_is_bounded(void **state)
{
	enum {
		COUNT = 4000,
		STRIDE = 0x48 + 8
	};
	static uint8_t bytes[0x800 + COUNT * STRIDE];
	struct walked walked = {.sample = sample_make("compressed-small")};

	(void)state;
	memcpy(bytes, walked.sample.bytes, 0x400);
	memset(bytes + 0x400, 0x41, 0x400);
	for (size_t i = 0; i < COUNT; i++) { /* each says that it goes on to the end */
		struct wire_buffer_header header = {
			.buffer_bytes = le32_of((uint32_t)((COUNT - i) * STRIDE)),
			.sequence = le64_of(1),
			.state = le32_of(3),
			.valid_bytes = le32_of(0x10000),
			.flags = le16_of(0x60)};

		memcpy(bytes + 0x800 + i * STRIDE, &header, sizeof(header));
	}
	free(walked.sample.bytes);
	walked.sample.bytes = NULL;
	etw_etl_file_memory(bytes, sizeof(bytes), &walked.sample.file);
	run(&walked);
	assert_int_equal(walked.count, 1);
	assert_true(walked.findings.counts[ETW_FINDING_SKIPPED] >= 2);
	assert_string_equal(walked.findings.kept[0].sentence,
			    "the search was given up: too much looks like buffers and is none");
	etw_etl_header_done(&walked.header);
}

/* Each buffer's size leads to nothing sound, up to the end of the file: the rest is searched once, not each time. */
static void test_walk__a_chain_of_doubtful_buffers_is_searched_once(void **state)
{
	enum {
		COUNT = 13000, /* a minute and more, if each searched for itself */
		STRIDE = 0x48 + 8
	};
	static uint8_t bytes[0x400 + COUNT * STRIDE];
	struct sample sample = sample_make("compressed-small");
	struct etw_findings findings = {0};
	struct etw_etl_header header = {0};
	struct etw_etl_buffer buffer;
	struct etw_etl_walk walk;
	uint32_t count = 0;

	(void)state;
	memcpy(bytes, sample.bytes, 0x400);
	sample_done(&sample);
	for (size_t i = 0; i < COUNT; i++) {
		struct wire_buffer_header head = {.buffer_bytes = le32_of(STRIDE),
						  .sequence = le64_of(1),
						  .state = le32_of(3),
						  .valid_bytes = le32_of(0x49)};

		memcpy(bytes + 0x400 + i * STRIDE, &head, sizeof(head));
	}
	etw_etl_file_memory(bytes, sizeof(bytes), &sample.file);
	assert_int_equal(etw_etl_walk_start(&sample.file, &findings, &walk, &header, NULL), 0);
	assert_int_equal(walk.fixed_stride, 0);
	while (!etw_etl_walk_next(&walk, &buffer))
		count++;
	assert_int_equal(count, 1 + COUNT);
	etw_etl_header_done(&header);
}

/* A file whose data unpacks to far more than a search may spend; owned bytes. */
static struct sample make_well_packed(void)
{
	static struct made_event event;
	static const uint8_t zeros[2000];
	const struct maker_options options = {
		.buffer_bytes = 64 * 1024, .processors = 1, .packing = MAKER_GREEDY};
	struct maker *maker = maker_open(&options, NULL);
	struct sample sample = {0};

	for (uint32_t i = 0; i < 40 * 30; i++) {
		preset_event(&event, 2000000 + 10 * i, 1, i);
		made_put(&event, zeros, sizeof(zeros));
		maker_add(maker, 0, &event);
	}
	sample.bytes = maker_close(maker, &sample.count);
	etw_etl_file_memory(sample.bytes, sample.count, &sample.file);
	return sample;
}

/* Sound buffers are no search's expense: damage costs the same at the end of a file as at its beginning. */
static void test_walk__sound_buffers_spend_no_budget(void **state)
{
	struct walked whole = {.sample = make_well_packed()};
	struct walked walked = {.sample = make_well_packed()};

	(void)state;
	run(&whole);
	assert_true(whole.count > 38);
	assert_int_equal(whole.findings.kept_count, 0);
	assert_true(8 * whole.sample.count + 256 * 1024 < (whole.count - 5) * 64 * 1024);

	/* Where the count is wrong, every buffer is held against its body. */
	sample_set32(&walked.sample, AT_TOLD_BUFFERS, 1);
	run(&walked);
	assert_int_equal(walked.count, whole.count);
	assert_int_equal(walked.findings.kept_count, 1);
	assert_finding(&walked, ETW_FINDING_DOUBTED, whole.buffers[1].offset, 0, surplus);

	sample_set32(&walked.sample, whole.buffers[whole.count - 5].offset + AT_SIZE, 0x10000);
	run(&walked);
	assert_int_equal(walked.count, whole.count);
	assert_int_equal(walked.findings.counts[ETW_FINDING_SKIPPED], 0);
	assert_finding(&walked, ETW_FINDING_REPAIRED, whole.buffers[whole.count - 5].offset, 0,
		       "BufferSize is not the buffer's size");
	done(&walked);
	done(&whole);
}

/* Grows the file by @bytes, which are junk as of another file; its memory is moved. */
static void append_junk(struct sample *sample, size_t bytes)
{
	uint8_t *grown = realloc(sample->bytes, sample->count + bytes);

	assert_non_null(grown);
	for (size_t i = 0; i < bytes; i++)
		grown[sample->count + i] = (uint8_t)(0x41 + i % 53);
	sample->bytes = grown;
	sample->count += bytes;
	etw_etl_file_memory(sample->bytes, sample->count, &sample->file);
}

/* What somebody put behind the last buffer is so many bytes, and no buffer that needed repair. */
static void regress_walk__bytes_behind_the_last_buffer(void **state)
{
	static const size_t sizes[] = {1, 7, 71, 72, 500, 1023, 1024, 1025, 7000};
	static const char *const presets[] = {"plain", "session"};

	(void)state;
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			struct walked walked = {.sample = sample_make(presets[i])};
			uint32_t count;
			uint64_t end;

			run(&walked);
			count = walked.count;
			end = walked.sample.count;
			append_junk(&walked.sample, sizes[j]);
			run(&walked);
			assert_int_equal(walked.count, count);
			assert_int_equal(walked.findings.kept_count, 1);
			assert_finding(&walked, ETW_FINDING_SKIPPED, end, sizes[j], no_buffer);
			done(&walked);
		}
	}
}

/* The same within the file, in place of a buffer. */
static void test_walk__junk_in_place_of_buffers(void **state)
{
	struct walked walked = {.sample = sample_make("plain")};

	(void)state;
	for (uint32_t i = 2 * 1024; i < 4 * 1024; i++)
		walked.sample.bytes[i] = (uint8_t)(0x41 + i % 53);
	run(&walked);
	assert_int_equal(walked.count, 5);
	assert_finding(&walked, ETW_FINDING_SKIPPED, 2 * 1024, 2 * 1024, no_buffer);
	assert_int_equal(walked.findings.counts[ETW_FINDING_REPAIRED], 0);
	done(&walked);
}

/* A closed session knows how many buffers it wrote; one that appends may count only its own. */
static void regress_walk__more_buffers_than_counted(void **state)
{
	struct walked walked = {.sample = sample_make("plain")};

	(void)state;
	sample_set32(&walked.sample, AT_TOLD_BUFFERS, 5);
	run(&walked);
	assert_int_equal(walked.count, 7);
	assert_int_equal(walked.findings.kept_count, 1);
	assert_finding(&walked, ETW_FINDING_DOUBTED, 5 * 1024, 0, surplus);
	assert_int_equal(walked.findings.kept[0].buffer, 5);
	sample_set32(&walked.sample, AT_TOLD_MODE, 0x5);
	run(&walked);
	assert_int_equal(walked.findings.kept_count, 0);
	done(&walked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk__one_size_for_all),
		cmocka_unit_test(test_walk__a_size_for_each),
		cmocka_unit_test(test_walk__size_by_evidence),
		cmocka_unit_test(test_walk__compression_in_the_mode_decides_nothing),
		cmocka_unit_test(test_walk__sizes_of_compressed_buffers_that_lie),
		cmocka_unit_test(test_walk__mended_fields),
		cmocka_unit_test(test_walk__header_buffer_that_ends_too_soon),
		cmocka_unit_test(test_walk__unwritten_buffers),
		cmocka_unit_test(test_walk__cuts),
		cmocka_unit_test(test_walk__head_that_is_gone),
		cmocka_unit_test(test_walk__what_is_no_etl_file),
		cmocka_unit_test(test_walk__search_is_bounded),
		cmocka_unit_test(test_walk__a_chain_of_doubtful_buffers_is_searched_once),
		cmocka_unit_test(test_walk__sound_buffers_spend_no_budget),
		cmocka_unit_test(regress_walk__bytes_behind_the_last_buffer),
		cmocka_unit_test(test_walk__junk_in_place_of_buffers),
		cmocka_unit_test(regress_walk__more_buffers_than_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
