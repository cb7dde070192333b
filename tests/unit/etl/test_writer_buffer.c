/* SPDX-License-Identifier: MIT */
/* Data buffers: events with their padding, and the header in front of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "etl/buffer.h"
#include "etl/writer.h"

#define BUFFER_BYTES 0x400

static const uint8_t event[16] = {0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7,
				  0xE8, 0xE9, 0xEA, 0xEB, 0xEC, 0xED, 0xEE, 0xEF};

static void test_writer_buffer__pads_with_zeros(void **state)
{
	uint8_t buffer[BUFFER_BYTES];
	uint32_t used = WIRE_BUFFER_HEADER_BYTES;

	(void)state;
	for (uint32_t bytes = 1; bytes <= sizeof(event); bytes++) {
		uint32_t at = used, end = at + ALIGN_UP(bytes, 8);

		memset(buffer, 0x5A, sizeof(buffer));
		assert_int_equal(etw_etl_append_event(buffer, sizeof(buffer), &used, event, bytes),
				 0);
		assert_int_equal(used, end);
		assert_memory_equal(buffer + at, event, bytes);
		for (uint32_t i = at + bytes; i < end; i++)
			assert_int_equal(buffer[i], 0);
		assert_int_equal(buffer[at - 1], 0x5A);
		assert_int_equal(buffer[end], 0x5A);
	}
}

static void test_writer_buffer__full(void **state)
{
	uint8_t buffer[BUFFER_BYTES + 8];
	uint32_t used = BUFFER_BYTES - 16;

	(void)state;
	memset(buffer, 0x5A, sizeof(buffer));
	assert_int_equal(etw_etl_append_event(buffer, BUFFER_BYTES, &used, buffer, 17), -ENOSPC);
	assert_int_equal(etw_etl_append_event(buffer, BUFFER_BYTES, &used, buffer, UINT32_MAX),
			 -ENOSPC);
	assert_int_equal(used, BUFFER_BYTES - 16);
	assert_int_equal(etw_etl_append_event(buffer, BUFFER_BYTES, &used, event, 9), 0);
	assert_int_equal(used, BUFFER_BYTES);
	assert_int_equal(etw_etl_append_event(buffer, BUFFER_BYTES, &used, event, 1), -ENOSPC);
	assert_int_equal(used, BUFFER_BYTES);
	assert_int_equal(buffer[BUFFER_BYTES], 0x5A);
}

static struct etw_etl_buffer_head sample_head(void)
{
	return (struct etw_etl_buffer_head){
		.buffer_bytes = BUFFER_BYTES,
		.processor = 0x123,
		.logger_id = 0x4567,
		.sequence = 0x1122334455667788,
		.time_raw = 0x0102030405060708,
		.next_bytes = 0x51,
	};
}

/* Seals a buffer of one event; everything behind its header and the fill are checked here. */
static void seal(const struct etw_etl_buffer_head *head, uint8_t *buffer)
{
	uint32_t used = WIRE_BUFFER_HEADER_BYTES;

	memset(buffer, 0x5A, BUFFER_BYTES + 8);
	assert_int_equal(etw_etl_append_event(buffer, BUFFER_BYTES, &used, event, 13), 0);
	etw_etl_seal_buffer(head, buffer, used);
	assert_memory_equal(buffer + WIRE_BUFFER_HEADER_BYTES, event, 13);
	for (uint32_t i = used; i < BUFFER_BYTES; i++)
		assert_int_equal(buffer[i], 0xFF);
	assert_int_equal(buffer[BUFFER_BYTES], 0x5A);
}

static void test_writer_buffer__golden_header_of_a_full_one(void **state)
{
	static const uint8_t wanted[WIRE_BUFFER_HEADER_BYTES] = {
		0x00, 0x04, 0x00, 0x00, /* BufferSize */
		0x58, 0x00, 0x00, 0x00, /* SavedOffset */
		0xB0, 0x00, 0x00, 0x00, /* CurrentOffset: and the next event's 0x51, rounded up */
		0x00, 0x00, 0x00, 0x00, /* ReferenceCount */
		0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* TimeStamp */
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* SequenceNumber */
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* links */
		0x23, 0x01, 0x67, 0x45,                         /* ProcessorIndex, LoggerId */
		0x03, 0x00, 0x00, 0x00,                         /* State */
		0x58, 0x00, 0x00, 0x00,                         /* Offset */
		0x20, 0x00, 0x00, 0x00, /* BufferFlag, BufferType; zeros to the end */
	};
	struct etw_etl_buffer_head head = sample_head();
	uint8_t buffer[BUFFER_BYTES + 8];

	(void)state;
	seal(&head, buffer);
	assert_memory_equal(buffer, wanted, sizeof(wanted));
}

static void test_writer_buffer__reads_back(void **state)
{
	struct etw_etl_buffer_head head = sample_head();
	uint8_t buffer[BUFFER_BYTES + 8];
	struct etw_etl_buffer read;

	(void)state;
	seal(&head, buffer);
	etw_etl_buffer_read(buffer, &read);
	assert_null(etw_etl_buffer_fault(&read));
	assert_int_equal(read.processor, 0x123);
	assert_int_equal(read.valid_bytes, 0x58);
	assert_int_equal(read.time_raw, head.time_raw);
	assert_int_equal(read.sequence, (int64_t)head.sequence);
}

static void test_writer_buffer__current_offset_of_a_partial_one(void **state)
{
	struct etw_etl_buffer_head head = sample_head();
	uint8_t buffer[BUFFER_BYTES + 8];

	(void)state;
	head.is_partial = true;
	seal(&head, buffer);
	assert_int_equal(etw_load32(buffer + 0x08), BUFFER_BYTES + 0x58);
	head.is_partial = false;
	head.next_bytes = 0;
	seal(&head, buffer);
	assert_int_equal(etw_load32(buffer + 0x08), 0x58);
}

static void test_writer_buffer__flags(void **state)
{
	struct etw_etl_buffer_head head = sample_head();
	uint8_t buffer[BUFFER_BYTES + 8];

	(void)state;
	head.flags = WIRE_BUFFER_FLUSH_MARKER | WIRE_BUFFER_EVENTS_LOST;
	seal(&head, buffer);
	assert_int_equal(etw_load16(buffer + 0x34), 0x0023);
}

static void test_writer_buffer__before_windows_8(void **state)
{
	struct etw_etl_buffer_head head = sample_head();
	uint8_t buffer[BUFFER_BYTES + 8];

	(void)state;
	head.is_before_windows_8 = true;
	head.processor = 5;
	head.flags = WIRE_BUFFER_FLUSH_MARKER;
	seal(&head, buffer);
	assert_int_equal(etw_load16(buffer + 0x28), 0x0805);
	assert_int_equal(etw_load16(buffer + 0x34), 0x0001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer_buffer__pads_with_zeros),
		cmocka_unit_test(test_writer_buffer__full),
		cmocka_unit_test(test_writer_buffer__golden_header_of_a_full_one),
		cmocka_unit_test(test_writer_buffer__reads_back),
		cmocka_unit_test(test_writer_buffer__current_offset_of_a_partial_one),
		cmocka_unit_test(test_writer_buffer__flags),
		cmocka_unit_test(test_writer_buffer__before_windows_8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
