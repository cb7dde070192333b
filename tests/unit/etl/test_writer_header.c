/* SPDX-License-Identifier: MIT */
/* Header buffers: a golden one byte by byte, the older forms, what is refused, the closing rewrite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "etl/header.h"
#include "etl/writer.h"

#define BUFFER_BYTES 0x1000

/* Room in front of and behind the buffer shows writes beyond it. */
struct guarded {
	uint8_t before[16];
	uint8_t buffer[BUFFER_BYTES];
	uint8_t after[16];
};

static struct etw_etl_file_head sample_head(void)
{
	return (struct etw_etl_file_head){
		.buffer_bytes = BUFFER_BYTES,
		.os_major = 10,
		.os_build = 19045,
		.processors = 8,
		.timer_resolution = 156250,
		.maximum_file_size = 64,
		.log_file_mode = 0x08C00101,
		.pointer_bytes = 8,
		.cpu_mhz = 0x7C8,
		.name_words = {9, 6},
		.boot_ft = 0x01D4F00000000001,
		.perf_frequency = 10000000,
		.start_ft = 0x01D4F0011BCD0002,
		.t0_raw = 0x27F2E70E03D,
		.clock_type = 1,
		.logger_id = 0x28,
		.process_id = 0x85D8,
		.thread_id = 0x5E34,
		.kernel_ticks = 2,
		.user_ticks = 3,
		.logger_name = u"AMSI",
		.log_file_name = u"c:\\a.etl",
		.has_partition = true,
		.buffers_written = 1,
	};
}

static void write_guarded(const struct etw_etl_file_head *head, struct guarded *ret)
{
	memset(ret, 0x5A, sizeof(*ret));
	assert_int_equal(etw_etl_write_header_buffer(head, ret->buffer), 0);
	for (unsigned i = 0; i < sizeof(ret->before); i++) {
		assert_int_equal(ret->before[i], 0x5A);
		assert_int_equal(ret->after[i], 0x5A);
	}
}

/* A number somewhere in a buffer; what no golden entry covers is 0. */
struct golden {
	unsigned at, bytes;
	uint64_t value;
};

static const struct golden golden[] = {
	/* buffer header */
	{0x00, 4, BUFFER_BYTES}, /* BufferSize */
	{0x04, 4, 0x1F0},        /* SavedOffset */
	{0x08, 4, 0x1F0},        /* CurrentOffset */
	{0x2A, 2, 0x28},         /* LoggerId */
	{0x2C, 4, 3},            /* State */
	{0x30, 4, 0x1F0},        /* Offset */
	{0x34, 2, 0x21},         /* flush marker, processor index */
	{0x36, 2, 4},            /* header buffer */
	/* header event */
	{0x48, 4, 0xC0020002},
	{0x4C, 2, 0x154}, /* Size */
	{0x50, 4, 0x5E34},
	{0x54, 4, 0x85D8},
	{0x58, 8, 0x27F2E70E03D},
	{0x60, 4, 2},
	{0x64, 4, 3},
	{0x68, 4, BUFFER_BYTES},
	{0x6C, 4, 0x0501000A}, /* 10.0, layout 1.5 */
	{0x70, 4, 19045},
	{0x74, 4, 8},
	{0x80, 4, 156250},
	{0x84, 4, 64},
	{0x88, 4, 0x08000001}, /* without what files never say */
	{0x8C, 4, 1},          /* BuffersWritten */
	{0x90, 4, 1},          /* StartBuffers */
	{0x94, 4, 8},
	{0x9C, 4, 0x7C8},
	{0xA0, 8, 9},
	{0xA8, 8, 6},
	{0x160, 8, 0x01D4F00000000001},
	{0x168, 8, 10000000},
	{0x170, 8, 0x01D4F0011BCD0002},
	{0x178, 4, 1},
	{0x180, 8, 0x00490053004D0041},
	{0x18A, 8, 0x0061005C003A0063},
	{0x192, 8, 0x006C00740065002E},
	/* partition companion */
	{0x1A0, 4, 0xC0020002},
	{0x1A4, 4, 0x00500050},
	{0x1A8, 4, 0x5E34},
	{0x1AC, 4, 0x85D8},
	{0x1B0, 8, 0x27F2E70E03D},
	{0x1B8, 4, 2},
	{0x1BC, 4, 3},
};

static void test_writer_header__golden(void **state)
{
	struct etw_etl_file_head head = sample_head();
	uint8_t wanted[BUFFER_BYTES];
	struct guarded made;

	(void)state;
	memset(wanted, 0, 0x1F0);
	memset(wanted + 0x1F0, 0xFF, sizeof(wanted) - 0x1F0);
	for (unsigned i = 0; i < ARRAY_SIZE(golden); i++) {
		for (unsigned byte = 0; byte < golden[i].bytes; byte++)
			wanted[golden[i].at + byte] = (uint8_t)(golden[i].value >> (8 * byte));
	}
	write_guarded(&head, &made);
	for (unsigned i = 0; i < sizeof(wanted); i++) {
		if (made.buffer[i] != wanted[i])
			fail_msg("byte %#x: %#x, expected %#x", i, made.buffer[i], wanted[i]);
	}
}

static void test_writer_header__reads_back(void **state)
{
	struct etw_etl_file_head head = sample_head();
	struct etw_etl_header read = {0};
	struct etw_fault fault;
	struct guarded made;

	(void)state;
	head.end_ft = 77;
	head.events_lost = 5;
	head.buffers_lost = 6;
	for (unsigned i = 0; i < sizeof(head.time_zone); i++)
		head.time_zone[i] = (uint8_t)i;
	for (head.pointer_bytes = 4; head.pointer_bytes <= 8; head.pointer_bytes += 4) {
		write_guarded(&head, &made);
		assert_int_equal(etw_etl_header_parse(made.buffer + 0x48,
						      etw_load32(made.buffer + 0x30) - 0x48, &read,
						      &fault),
				 0);
		assert_int_equal(read.header_pointer_bytes, head.pointer_bytes);
		assert_int_equal(read.pointer_bytes, head.pointer_bytes);
		assert_int_equal(read.end_ft, 77);
		assert_int_equal(read.events_lost, 5);
		assert_int_equal(read.buffers_lost, 6);
		assert_int_equal(read.start_ft, head.start_ft);
		assert_int_equal(read.time_raw, head.t0_raw);
		assert_memory_equal(read.time_zone, head.time_zone, sizeof(read.time_zone));
		assert_string_equal(read.logger_name, "AMSI");
		assert_string_equal(read.log_file_name, "c:\\a.etl");
		assert_true(read.companions.has_partition);
		assert_false(read.companions.has_group_masks);
		etw_etl_header_done(&read);
	}
}

static void test_writer_header__empty_names(void **state)
{
	struct etw_etl_file_head head = sample_head();
	struct guarded made;

	(void)state;
	head.logger_name = head.log_file_name = NULL;
	head.has_partition = false;
	write_guarded(&head, &made);
	assert_int_equal(etw_load16(made.buffer + 0x4C), 0x20 + 0x118 + 4);
	assert_int_equal(etw_load32(made.buffer + 0x30), 0x188);
}

static void test_writer_header__group_masks_stand_before_the_partition(void **state)
{
	struct etw_etl_file_head head = sample_head();
	struct guarded made;

	(void)state;
	head.has_group_masks = true;
	for (uint32_t i = 0; i < 8; i++)
		head.group_masks[i] = 0x01010101 * (i + 1);
	head.pointer_bytes = 4; /* companions are of the kernel's size all the same */
	write_guarded(&head, &made);
	assert_int_equal(etw_load32(made.buffer + 0x198), 0xC0020002);
	assert_int_equal(etw_load32(made.buffer + 0x19C), 0x00050044);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(etw_load32(made.buffer + 0x1B8 + (size_t)4 * i),
				 0x01010101 * (i + 1));
	assert_int_equal(etw_load32(made.buffer + 0x1D8), 0x50);
	assert_int_equal(etw_load32(made.buffer + 0x1DC), 0);
	assert_int_equal(etw_load32(made.buffer + 0x1E4), 0x00500050);
	assert_int_equal(etw_load32(made.buffer + 0x30), 0x230);
}

static void test_writer_header__companions_as_given(void **state)
{
	static const uint8_t given[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	struct etw_etl_file_head head = sample_head();
	struct guarded made;

	(void)state;
	head.companions = given;
	head.companion_bytes = sizeof(given);
	write_guarded(&head, &made);
	assert_memory_equal(made.buffer + 0x1A0, given, sizeof(given));
	assert_int_equal(etw_load32(made.buffer + 0x30), 0x1B0);
	head.companion_bytes = 15;
	assert_int_equal(etw_etl_write_header_buffer(&head, made.buffer), -EINVAL);
}

static void test_writer_header__layout_2_where_1_does_not_do(void **state)
{
	static uint8_t large[0x100008];
	struct etw_etl_file_head head = sample_head();

	(void)state;
	head.processors = 256;
	head.buffer_bytes = 0x100000;
	assert_int_equal(etw_etl_write_header_buffer(&head, large), 0);
	assert_int_equal(etw_load16(large + 0x6E), 0x0501);
	head.processors = 257;
	assert_int_equal(etw_etl_write_header_buffer(&head, large), 0);
	assert_int_equal(etw_load16(large + 0x6E), 0x0002);
	head.processors = 1;
	head.buffer_bytes = 0x100008;
	assert_int_equal(etw_etl_write_header_buffer(&head, large), 0);
	assert_int_equal(etw_load16(large + 0x6E), 0x0002);
	head.layout_major = 1;
	head.layout_minor = 4;
	assert_int_equal(etw_etl_write_header_buffer(&head, large), 0);
	assert_int_equal(etw_load16(large + 0x6E), 0x0401);
}

static void test_writer_header__before_windows_8(void **state)
{
	struct etw_etl_file_head head = sample_head();
	struct guarded made;

	(void)state;
	head.os_major = 6;
	head.os_minor = 0;
	head.flush_raw = 0x1234567890;
	write_guarded(&head, &made);
	assert_int_equal(etw_load32(made.buffer + 0x04), 0);
	assert_int_equal(etw_load32(made.buffer + 0x08), 0x1F0);
	assert_int_equal(etw_load64(made.buffer + 0x10), 0x1234567890);
	assert_int_equal(etw_load16(made.buffer + 0x28), 0x0800);
	assert_int_equal(etw_load16(made.buffer + 0x34), 0x0001);
	head.os_minor = 2;
	write_guarded(&head, &made);
	assert_int_equal(etw_load16(made.buffer + 0x28), 0);
	assert_int_equal(etw_load16(made.buffer + 0x34), 0x0021);
}

static void test_writer_header__relogged(void **state)
{
	struct etw_etl_file_head head = sample_head();
	struct guarded made;

	(void)state;
	head.log_file_mode = 0x10001;
	write_guarded(&head, &made);
	assert_int_equal(etw_load32(made.buffer + 0x04), 0x1A0); /* behind the header event */
	assert_int_equal(etw_load32(made.buffer + 0x08), 0);
	assert_int_equal(etw_load32(made.buffer + 0x2C), 0);
	assert_int_equal(etw_load32(made.buffer + 0x30), 0x1F0);
	assert_int_equal(etw_load16(made.buffer + 0x34), 0x0001);
}

static void test_writer_header__refuses(void **state)
{
	static const uint32_t sizes[] = {0, 0x1F8, 0x204, WIRE_BUFFER_BYTES_MAX + 8, UINT32_MAX};
	struct etw_etl_file_head head = sample_head();
	uint8_t untouched[8] = "untouch";

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		head.buffer_bytes = sizes[i];
		assert_int_equal(etw_etl_write_header_buffer(&head, untouched), -EINVAL);
	}
	head = sample_head();
	head.pointer_bytes = 0;
	assert_int_equal(etw_etl_write_header_buffer(&head, untouched), -EINVAL);
	assert_string_equal((char *)untouched, "untouch");
}

static void test_writer_header__names_that_do_not_fit(void **state)
{
	static char16_t name[0x9000];
	static uint8_t large[0x20000];
	struct etw_etl_file_head head = sample_head();

	(void)state;
	for (unsigned i = 0; i + 1 < ARRAY_SIZE(name); i++)
		name[i] = 'x';
	head.log_file_name = name;
	head.buffer_bytes = sizeof(large);
	assert_int_equal(etw_etl_write_header_buffer(&head, large), -EMSGSIZE);
	/* The largest that fits an event: Size is a u16, and even. */
	name[(0xFFFE - 0x20 - 0x118 - 10) / 2 - 1] = 0;
	assert_int_equal(etw_etl_write_header_buffer(&head, large), 0);
	assert_int_equal(etw_load16(large + 0x4C), 0xFFFE);
	head.buffer_bytes = 0x10000;
	assert_int_equal(etw_etl_write_header_buffer(&head, large), -EMSGSIZE);
	/* What the buffer has room for, to the byte. */
	head = sample_head();
	head.buffer_bytes = 0x200;
	head.log_file_name = name;
	name[18] = 0;
	assert_int_equal(etw_etl_write_header_buffer(&head, large), 0);
	assert_int_equal(etw_load32(large + 0x30), 0x200);
	name[18] = 'x';
	name[19] = 0;
	assert_int_equal(etw_etl_write_header_buffer(&head, large), -EMSGSIZE);
}

static void test_writer_header__rewrite_changes_four_fields(void **state)
{
	struct etw_etl_file_head head = sample_head();
	struct guarded made, wanted;

	(void)state;
	for (head.pointer_bytes = 4; head.pointer_bytes <= 8; head.pointer_bytes += 4) {
		head.end_ft = 0;
		head.buffers_written = 1;
		head.events_lost = head.buffers_lost = 0;
		write_guarded(&head, &made);
		head.end_ft = 0x01D4F0011BCDFFFF;
		head.buffers_written = 12;
		head.events_lost = 34;
		head.buffers_lost = 56;
		write_guarded(&head, &wanted);
		assert_int_equal(etw_etl_rewrite_header_buffer(made.buffer, BUFFER_BYTES,
							       head.end_ft, 12, 34, 56),
				 0);
		assert_memory_equal(&made, &wanted, sizeof(made));
	}
}

static void test_writer_header__rewrite_refuses_what_is_none(void **state)
{
	/* Where one byte makes it none: buffer size and type, header type and flag, type, group, size. */
	static const unsigned places[] = {0x00, 0x36, 0x4A, 0x4B, 0x4E, 0x4F, 0x4D};
	struct etw_etl_file_head head = sample_head();
	struct guarded made, before;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++) {
		write_guarded(&head, &made);
		made.buffer[places[i]] ^= places[i] == 0x4D ? 1 : 8;
		before = made;
		assert_int_equal(
			etw_etl_rewrite_header_buffer(made.buffer, BUFFER_BYTES, 1, 2, 3, 4),
			-EBADMSG);
		assert_memory_equal(&made, &before, sizeof(made));
	}
	assert_int_equal(etw_etl_rewrite_header_buffer(made.buffer, 0x100, 1, 2, 3, 4), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer_header__golden),
		cmocka_unit_test(test_writer_header__reads_back),
		cmocka_unit_test(test_writer_header__empty_names),
		cmocka_unit_test(test_writer_header__group_masks_stand_before_the_partition),
		cmocka_unit_test(test_writer_header__companions_as_given),
		cmocka_unit_test(test_writer_header__layout_2_where_1_does_not_do),
		cmocka_unit_test(test_writer_header__before_windows_8),
		cmocka_unit_test(test_writer_header__relogged),
		cmocka_unit_test(test_writer_header__refuses),
		cmocka_unit_test(test_writer_header__names_that_do_not_fit),
		cmocka_unit_test(test_writer_header__rewrite_changes_four_fields),
		cmocka_unit_test(test_writer_header__rewrite_refuses_what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
