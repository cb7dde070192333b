/* SPDX-License-Identifier: MIT */
/* perf's records taken apart. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "source/kernel/perf/mappings.h"

static const uint8_t trailer[24] = {5, 0, 0, 0, 6, 0, 0, 0, 77, 0, 0, 0, 0, 0, 0, 0, 1};

/* A record of this type: @body behind the header, then tid, time and CPU. Returns its bytes. */
static uint32_t make(uint8_t *to, uint32_t type, uint16_t misc, const void *body, uint32_t bytes)
{
	struct perf_event_header header = {
		.type = type,
		.misc = misc,
		.size = (uint16_t)(sizeof(header) + bytes + sizeof(trailer)),
	};

	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), body, bytes);
	memcpy(to + sizeof(header) + bytes, trailer, sizeof(trailer));
	return header.size;
}

static uint32_t make_map(uint8_t *to, uint16_t misc, const char *path, size_t path_bytes)
{
	uint8_t body[128] = {0};

	etw_store32(body, 5);
	etw_store32(body + 4, 6);
	etw_store64(body + 8, 0x7000);
	etw_store64(body + 16, 0x2000);
	etw_store64(body + 24, 0x1000);
	body[32] = 20;
	for (uint8_t i = 0; i < 20; i++)
		body[36 + i] = i;
	memcpy(body + 64, path, path_bytes);
	return make(to, PERF_RECORD_MMAP2, misc, body, 64 + (uint32_t)((path_bytes + 7) & ~7ull));
}

static void test_mappings__a_mapping(void **state)
{
	struct etw_kernel_perf_record record;
	_Alignas(8) uint8_t bytes[512] = {0};
	uint32_t count = make_map(bytes, PERF_RECORD_MISC_MMAP_BUILD_ID, "/bin/x", 7);

	(void)state;
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), 0);
	assert_int_equal(record.kind, ETW_KERNEL_PERF_MAP);
	assert_int_equal(record.pid, 5);
	assert_int_equal(record.tid, 6);
	assert_int_equal(record.time_ns, 77);
	assert_int_equal(record.mapping.start, 0x7000);
	assert_int_equal(record.mapping.byte_count, 0x2000);
	assert_int_equal(record.mapping.file_offset, 0x1000);
	assert_string_equal(record.mapping.path, "/bin/x");
	assert_true(record.mapping.is_executable);
	assert_int_equal(record.mapping.build_id_bytes, 20);
	assert_int_equal(record.mapping.build_id[19], 19);
}

static void test_mappings__code_that_the_kernel_makes(void **state)
{
	struct etw_kernel_perf_record record;
	_Alignas(8) uint8_t bytes[512] = {0};
	uint8_t body[32] = {0};
	uint32_t count;

	(void)state;
	etw_store64(body, 0xffffffffc0001000);
	etw_store32(body + 8, 0x123);
	etw_store16(body + 12, PERF_RECORD_KSYMBOL_TYPE_BPF);
	memcpy(body + 16, "bpf_prog_1", 11);
	count = make(bytes, PERF_RECORD_KSYMBOL, 0, body, sizeof(body));
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), 0);
	assert_int_equal(record.kind, ETW_KERNEL_PERF_SYMBOL);
	assert_int_equal(record.pid, 5);
	assert_int_equal(record.made.base, 0xffffffffc0001000);
	assert_int_equal(record.made.byte_count, 0x123);
	assert_true(record.made.is_bpf);
	assert_true(record.made.is_loaded);
	assert_string_equal(record.made.name, "bpf_prog_1");
	etw_store16(body + 12, PERF_RECORD_KSYMBOL_TYPE_OOL);
	etw_store16(body + 14, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	count = make(bytes, PERF_RECORD_KSYMBOL, 0, body, sizeof(body));
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), 0);
	assert_false(record.made.is_bpf);
	assert_false(record.made.is_loaded);
	/* A name without an end, and none. */
	memset(body + 16, 'x', sizeof(body) - 16);
	count = make(bytes, PERF_RECORD_KSYMBOL, 0, body, sizeof(body));
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), -EBADMSG);
	count = make(bytes, PERF_RECORD_KSYMBOL, 0, body, 16);
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), -EBADMSG);
}

static void test_mappings__data_and_device_numbers(void **state)
{
	struct etw_kernel_perf_record record;
	_Alignas(8) uint8_t bytes[512] = {0};
	uint32_t count = make_map(bytes, PERF_RECORD_MISC_MMAP_DATA, "/bin/x", 7);

	(void)state;
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), 0);
	assert_false(record.mapping.is_executable);
	assert_int_equal(record.mapping.build_id_bytes, 0);
	/* A build id that says it is longer than its place. */
	count = make_map(bytes, PERF_RECORD_MISC_MMAP_BUILD_ID, "/bin/x", 7);
	bytes[8 + 32] = 21;
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), 0);
	assert_int_equal(record.mapping.build_id_bytes, 0);
}

/* As the event that tells of data alone has it. */
static void test_mappings__a_mapping_without_its_file(void **state)
{
	struct etw_kernel_perf_record record;
	_Alignas(8) uint8_t bytes[512] = {0};
	uint8_t body[40] = {0};
	uint32_t count;

	(void)state;
	etw_store32(body, 5);
	etw_store64(body + 8, 0x7000);
	etw_store64(body + 16, 0x2000);
	etw_store64(body + 24, 0x1000);
	memcpy(body + 32, "/bin/x", 7);
	count = make(bytes, PERF_RECORD_MMAP, PERF_RECORD_MISC_MMAP_DATA, body, sizeof(body));
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), 0);
	assert_int_equal(record.kind, ETW_KERNEL_PERF_MAP);
	assert_int_equal(record.mapping.start, 0x7000);
	assert_int_equal(record.mapping.byte_count, 0x2000);
	assert_int_equal(record.mapping.file_offset, 0x1000);
	assert_string_equal(record.mapping.path, "/bin/x");
	assert_false(record.mapping.is_executable);
	assert_int_equal(record.mapping.build_id_bytes, 0);
	/* A path without an end, and none. */
	memset(body + 32, 'x', 8);
	count = make(bytes, PERF_RECORD_MMAP, PERF_RECORD_MISC_MMAP_DATA, body, sizeof(body));
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), -EBADMSG);
	count = make(bytes, PERF_RECORD_MMAP, PERF_RECORD_MISC_MMAP_DATA, body, 32);
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), -EBADMSG);
}

static void test_mappings__other_records(void **state)
{
	struct etw_kernel_perf_record record;
	_Alignas(8) uint8_t bytes[512] = {0};
	uint64_t words[2] = {1, 33};
	uint32_t count;

	(void)state;
	count = make(bytes, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, words, 16);
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), 0);
	assert_int_equal(record.kind, ETW_KERNEL_PERF_EXEC);
	assert_int_equal(record.pid, 5);
	count = make(bytes, PERF_RECORD_COMM, 0, words, 16);
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), 0);
	assert_int_equal(record.kind, ETW_KERNEL_PERF_OTHER);
	count = make(bytes, PERF_RECORD_LOST, 0, words, 16);
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), 0);
	assert_int_equal(record.kind, ETW_KERNEL_PERF_LOST);
	assert_int_equal(record.lost_count, 33);
	count = make(bytes, 4711, 0, words, 16);
	assert_int_equal(etw_kernel_perf_parse(bytes, count, &record), 0);
	assert_int_equal(record.kind, ETW_KERNEL_PERF_OTHER);
}

static void test_mappings__short_records_are_refused(void **state)
{
	struct etw_kernel_perf_record record;
	_Alignas(8) uint8_t bytes[512] = {0};

	(void)state;
	assert_int_equal(etw_kernel_perf_parse(bytes, 8, &record), -EBADMSG);
	assert_int_equal(
		etw_kernel_perf_parse(bytes, make(bytes, PERF_RECORD_COMM, 0, "", 0), &record),
		-EBADMSG);
	assert_int_equal(
		etw_kernel_perf_parse(bytes, make(bytes, PERF_RECORD_LOST, 0, "", 0), &record),
		-EBADMSG);
	assert_int_equal(etw_kernel_perf_parse(
				 bytes, make(bytes, PERF_RECORD_MMAP2, 0, "12345678", 8), &record),
			 -EBADMSG);
	/* A path without an end. */
	assert_int_equal(etw_kernel_perf_parse(bytes, make_map(bytes, 0, "12345678", 8), &record),
			 -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mappings__a_mapping),
		cmocka_unit_test(test_mappings__code_that_the_kernel_makes),
		cmocka_unit_test(test_mappings__data_and_device_numbers),
		cmocka_unit_test(test_mappings__a_mapping_without_its_file),
		cmocka_unit_test(test_mappings__other_records),
		cmocka_unit_test(test_mappings__short_records_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
