/* SPDX-License-Identifier: MIT */
/* A buffer's header: its fields, and what cannot be one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "etl/buffer.h"

static struct wire_buffer_header sound(void)
{
	return (struct wire_buffer_header){
		.buffer_bytes = le32_of(0x1000),
		.saved_offset = le32_of(0x300),
		.time_raw = le64_of(77),
		.sequence = le64_of(9),
		.processor = le16_of(0xFFFF),
		.logger_id = le16_of(7),
		.state = le32_of(3),
		.valid_bytes = le32_of(0x308),
		.flags = le16_of(0x20),
	};
}

static const char *fault_of(const struct wire_buffer_header *header)
{
	struct etw_etl_buffer buffer;

	etw_etl_buffer_read((const uint8_t *)header, &buffer);
	return etw_etl_buffer_fault(&buffer);
}

static void test_buffer__fields(void **state)
{
	struct wire_buffer_header header = sound();
	struct etw_etl_buffer buffer;

	(void)state;
	etw_etl_buffer_read((const uint8_t *)&header, &buffer);
	assert_int_equal(buffer.stride, 0x1000);
	assert_int_equal(buffer.saved_offset, 0x300);
	assert_int_equal(buffer.valid_bytes, 0x308);
	assert_int_equal(buffer.time_raw, 77);
	assert_int_equal(buffer.sequence, 9);
	assert_int_equal(buffer.logger_id, 7);
	assert_int_equal(buffer.state, 3);
	assert_int_equal(buffer.flags, 0x20);
	assert_int_equal(buffer.type, 0);
	assert_int_equal(buffer.offset, 0);
	assert_int_equal(buffer.number, 0);
	assert_int_equal(buffer.processor_word, 0xFFFF);
	assert_int_equal(buffer.processor, 0x7FF); /* the mask of the 16-bit form */
	header.flags = le16_of(0);
	header.processor = le16_of(0x0803); /* number and alignment */
	etw_etl_buffer_read((const uint8_t *)&header, &buffer);
	assert_int_equal(buffer.processor, 3);
	assert_int_equal(buffer.processor_word, 0x0803);
}

static void test_buffer__every_fault(void **state)
{
	struct wire_buffer_header header = sound();

	(void)state;
	assert_null(fault_of(&header));
	header.buffer_bytes = le32_of(0x47);
	assert_string_equal(fault_of(&header), "BufferSize is smaller than the buffer header");
	header.buffer_bytes = le32_of(WIRE_BUFFER_BYTES_MAX + 1);
	assert_string_equal(fault_of(&header), "BufferSize is beyond every limit");
	header = sound();
	header.valid_bytes = le32_of(0x47);
	assert_string_equal(fault_of(&header), "Offset is smaller than the buffer header");
	header.valid_bytes = le32_of(WIRE_BUFFER_BYTES_MAX + 1);
	assert_string_equal(fault_of(&header), "Offset is beyond every limit");
	header.valid_bytes = le32_of(0x1001);
	assert_string_equal(fault_of(&header), "Offset reaches beyond the buffer");
	header.flags = le16_of(0x60); /* compressed: the number counts what it unpacks to */
	assert_null(fault_of(&header));
	header = sound();
	header.flags = le16_of(0x80);
	assert_string_equal(fault_of(&header), "BufferFlag has bits that do not exist");
	header = sound();
	header.type = le16_of(8);
	assert_string_equal(fault_of(&header), "BufferType is none that exists");
	header = sound();
	header.state = le32_of(7);
	assert_string_equal(fault_of(&header), "State is none that exists");
}

static void test_buffer__unwritten_is_all_zero_or_all_ones(void **state)
{
	uint8_t raw[WIRE_BUFFER_HEADER_BYTES];
	static const uint8_t fills[] = {0x00, 0xFF, 0x01, 0xFE};

	(void)state;
	for (size_t i = 0; i < sizeof(fills); i++) {
		memset(raw, fills[i], sizeof(raw));
		assert_int_equal(etw_etl_buffer_is_unwritten(raw), i < 2);
	}
	for (size_t i = 0; i < sizeof(raw); i++) {
		memset(raw, 0, sizeof(raw));
		raw[i] = 1;
		assert_false(etw_etl_buffer_is_unwritten(raw));
	}
}

static void test_buffer__types_with_events(void **state)
{
	static const bool holds[WIRE_BUFFER_TYPES] = {true, true, true,  false,
						      true, true, false, false};

	(void)state;
	for (uint16_t type = 0; type < WIRE_BUFFER_TYPES; type++) {
		struct etw_etl_buffer buffer = {.type = type};

		assert_int_equal(etw_etl_buffer_holds_events(&buffer), holds[type]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buffer__fields),
		cmocka_unit_test(test_buffer__every_fault),
		cmocka_unit_test(test_buffer__unwritten_is_all_zero_or_all_ones),
		cmocka_unit_test(test_buffer__types_with_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
