/* SPDX-License-Identifier: MIT */
/* The header event in both layouts, with its clock, its names, and its faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "etl/header.h"
#include "synthetic/maker.h"
#include "wire/etl_buffer.h"
#include "wire/etl_logfile.h"

/* A file of a header buffer alone; the header event is behind its first 0x48 bytes. */
static uint8_t *make(const struct maker_options *options, uint8_t **ret_event, size_t *ret_bytes)
{
	size_t count;
	uint8_t *file = maker_close(maker_open(options, NULL), &count);

	*ret_event = file + WIRE_BUFFER_HEADER_BYTES;
	*ret_bytes = count - WIRE_BUFFER_HEADER_BYTES;
	return file;
}

static void test_header__every_field(void **state)
{
	struct maker_options options = {.processors = 3,
					.mode = 0x10000001,
					.events_lost = 41,
					.buffers_lost = 2,
					.mhz = 1992,
					.frequency = 2994853,
					.logger_name = "Logger",
					.log_file_name = "C:\\x.etl"};

	(void)state;
	for (unsigned pointer_bytes = 4; pointer_bytes <= 8; pointer_bytes += 4) {
		struct etw_etl_header header;
		uint8_t *event;
		size_t bytes;

		options.pointer_bytes = pointer_bytes;
		uint8_t *file = make(&options, &event, &bytes);

		assert_int_equal(etw_etl_header_parse(event, bytes, &header, NULL), 0);
		assert_int_equal(header.buffer_bytes, 4096);
		assert_int_equal(header.os_major, 10);
		assert_int_equal(header.os_minor, 0);
		assert_int_equal(header.layout_major, 1);
		assert_int_equal(header.layout_minor, 5);
		assert_int_equal(header.os_build, 19041);
		assert_int_equal(header.processors, 3);
		assert_int_equal(header.timer_resolution, 156250);
		assert_int_equal(header.maximum_file_size, 0);
		assert_int_equal(header.log_file_mode, 0x10000001);
		assert_int_equal(header.buffers_written, 1);
		assert_int_equal(header.start_buffers, 1);
		assert_int_equal(header.pointer_bytes, pointer_bytes);
		assert_int_equal(header.header_pointer_bytes, pointer_bytes);
		assert_int_equal(header.events_lost, 41);
		assert_int_equal(header.buffers_lost, 2);
		assert_int_equal(header.cpu_mhz, 1992);
		assert_int_equal(header.clock_type, 1);
		assert_int_equal(header.process_id, 22);
		assert_int_equal(header.thread_id, 11);
		assert_int_equal((int32_t)etw_load32(header.time_zone), -60);
		assert_int_equal(header.start_ft, INT64_C(133000000000000000));
		assert_int_equal(header.boot_ft,
				 INT64_C(133000000000000000) - INT64_C(360000000000));
		assert_true(header.end_ft > header.start_ft);
		assert_int_equal(header.time_raw, 1000000);
		assert_int_equal(header.perf_frequency, 2994853);
		assert_string_equal(header.logger_name, "Logger");
		assert_string_equal(header.log_file_name, "C:\\x.etl");
		assert_int_equal(etw_clock_to_filetime(&header.clock, 1000000 + 2994853),
				 header.start_ft + 10000000);
		etw_etl_header_done(&header);
		assert_null(header.logger_name);
		free(file);
	}
}

static void test_header__clock_types(void **state)
{
	static const struct {
		uint32_t stored;
		enum etw_clock_type wanted;
	} rows[] = {{0, ETW_CLOCK_SYSTEM}, /* before Windows 7 */
		    {1, ETW_CLOCK_QPC},
		    {2, ETW_CLOCK_SYSTEM},
		    {3, ETW_CLOCK_CYCLE},
		    {4, ETW_CLOCK_QPC}};
	struct maker_options options = {0};
	uint8_t *event;
	size_t bytes;
	uint8_t *file = make(&options, &event, &bytes);
	size_t at = 0x20 + 0x48 + offsetof(struct wire_logfile_tail, clock_type);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct etw_etl_header header;

		etw_store32(event + at, rows[i].stored);
		assert_int_equal(etw_etl_header_parse(event, bytes, &header, NULL), 0);
		assert_int_equal(header.clock.type, rows[i].wanted);
		assert_int_equal(header.clock_type, rows[i].stored);
		etw_etl_header_done(&header);
	}
	free(file);
}

static void assert_fault(const uint8_t *event, size_t bytes, uint64_t offset, const char *field,
			 const char *sentence)
{
	struct etw_etl_header header = {.os_build = 4711};
	struct etw_fault fault = {0};

	assert_int_equal(etw_etl_header_parse(event, bytes, &header, &fault), -EBADMSG);
	assert_int_equal(fault.offset, offset);
	assert_string_equal(fault.structure, "header event");
	if (field)
		assert_string_equal(fault.field, field);
	else
		assert_null(fault.field);
	assert_string_equal(fault.sentence, sentence);
	assert_int_equal(header.os_build, 4711);
	assert_int_equal(etw_etl_header_parse(event, bytes, &header, NULL), -EBADMSG);
}

static void test_header__faults(void **state)
{
	struct maker_options options = {0};
	uint8_t *event;
	size_t bytes;
	uint8_t *file = make(&options, &event, &bytes);

	(void)state;
	assert_fault(event, 0x1F, 0, NULL, "the buffer is too small for the header event");
	assert_fault(event, 0x20 + 0x117, 0x20, "Size", "the trace header is cut short");
	event[2] = WIRE_HEADER_EVENT64;
	assert_fault(event, bytes, 2, "HeaderType", "the first event is not a system event");
	event[2] = WIRE_HEADER_SYSTEM64;
	event[3] = WIRE_EVENT_FLAG_MESSAGE;
	assert_fault(event, bytes, 2, "HeaderType", "the first event is not a system event");
	event[3] = WIRE_EVENT_FLAG_TRACE;
	event[7] = 3;
	assert_fault(event, bytes, 6, "Type", "the first event is not the trace header");
	event[7] = 0;
	event[6] = 0x50;
	assert_fault(event, bytes, 6, "Type", "the first event is not the trace header");
	free(file);
}

static void test_header__size_that_cannot_be_is_ignored(void **state)
{
	static const uint16_t sizes[] = {0, 0x1F, 0x20, 0x137, 0xFFFF};
	struct maker_options options = {0};
	uint8_t *event;
	size_t bytes;
	uint8_t *file = make(&options, &event, &bytes);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct etw_etl_header header;

		etw_store16(event + 4, sizes[i]);
		assert_int_equal(etw_etl_header_parse(event, bytes, &header, NULL), 0);
		assert_string_equal(header.logger_name, "synthetic");
		assert_string_equal(header.log_file_name, "C:\\synthetic.etl");
		etw_etl_header_done(&header);
	}
	free(file);
}

static void test_header__names_that_are_cut(void **state)
{
	struct maker_options options = {.logger_name = "abcd", .log_file_name = "efgh"};
	uint8_t *event;
	size_t bytes, names = 0x20 + 0x118;
	uint8_t *file = make(&options, &event, &bytes);

	(void)state;
	for (size_t cut = 0; cut <= 20; cut++) {
		struct etw_etl_header header;
		size_t first = cut / 2 < 4 ? cut / 2 : 4;
		size_t second = cut < 10 ? 0 : (cut - 10) / 2 < 4 ? (cut - 10) / 2 : 4;

		etw_store16(event + 4, (uint16_t)(names + cut));
		assert_int_equal(etw_etl_header_parse(event, bytes, &header, NULL), 0);
		assert_int_equal(strlen(header.logger_name), first);
		assert_memory_equal(header.logger_name, "abcd", first);
		assert_int_equal(strlen(header.log_file_name), second);
		assert_memory_equal(header.log_file_name, "efgh", second);
		etw_etl_header_done(&header);
	}
	free(file);
}

static void test_header__done_takes_a_zeroed_one(void **state)
{
	struct etw_etl_header header = {0};

	(void)state;
	etw_etl_header_done(&header);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header__every_field),
		cmocka_unit_test(test_header__clock_types),
		cmocka_unit_test(test_header__faults),
		cmocka_unit_test(test_header__size_that_cannot_be_is_ignored),
		cmocka_unit_test(test_header__names_that_are_cut),
		cmocka_unit_test(test_header__done_takes_a_zeroed_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
