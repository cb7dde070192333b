/* SPDX-License-Identifier: MIT */
/* Bounded little-endian reading: values at any alignment, and nothing taken when too few are left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"

static void test_bytes__load_and_store(void **state)
{
	uint8_t memory[24];

	(void)state;
	for (size_t place = 0; place < 8; place++) {
		memset(memory, 0xEE, sizeof(memory));
		etw_store64(memory + place, UINT64_C(0xF1E2D3C4B5A69788));
		assert_int_equal(memory[place], 0x88);
		assert_int_equal(memory[place + 7], 0xF1);
		assert_int_equal(memory[place + 8], 0xEE);
		assert_true(etw_load64(memory + place) == UINT64_C(0xF1E2D3C4B5A69788));
		assert_int_equal(etw_load32(memory + place), 0xB5A69788);
		assert_int_equal(etw_load16(memory + place), 0x9788);
		etw_store32(memory + place, 0x80000001);
		assert_int_equal(etw_load32(memory + place), 0x80000001);
		assert_int_equal(memory[place + 4], 0xC4);
		etw_store16(memory + place, 0x8001);
		assert_int_equal(etw_load16(memory + place), 0x8001);
		assert_int_equal(memory[place + 2], 0x00);
	}
}

static void test_bytes__wire_types(void **state)
{
	(void)state;
	assert_int_equal(sizeof(le16), 2);
	assert_int_equal(sizeof(le32), 4);
	assert_int_equal(sizeof(le64), 8);
	assert_int_equal(_Alignof(le64), 1);
	assert_int_equal(le16_get(le16_of(0xFEDC)), 0xFEDC);
	assert_int_equal(le32_get(le32_of(0xFEDCBA98)), 0xFEDCBA98);
	assert_true(le64_get(le64_of(UINT64_MAX - 1)) == UINT64_MAX - 1);
	assert_int_equal(le32_of(1).raw[0], 1);
}

static void test_bytes__take(void **state)
{
	const uint8_t memory[4] = {1, 2, 3, 4};
	struct etw_bytes bytes = {memory, sizeof(memory)};

	(void)state;
	assert_ptr_equal(etw_bytes_take(&bytes, 0), memory);
	assert_null(etw_bytes_take(&bytes, 5));
	assert_null(etw_bytes_take(&bytes, SIZE_MAX));
	assert_int_equal(bytes.left, 4);
	assert_ptr_equal(etw_bytes_take(&bytes, 3), memory);
	assert_ptr_equal(etw_bytes_take(&bytes, 1), memory + 3);
	assert_null(etw_bytes_take(&bytes, 1));
	assert_ptr_equal(etw_bytes_take(&bytes, 0), memory + 4);
}

static void test_bytes__integers(void **state)
{
	uint8_t memory[7];
	struct etw_bytes bytes = {memory, sizeof(memory)};
	uint8_t u8 = 0;
	uint16_t u16 = 0;
	uint32_t u32 = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)(i + 1);
	assert_true(etw_bytes_u8(&bytes, &u8) && u8 == 1);
	assert_true(etw_bytes_u16(&bytes, &u16) && u16 == 0x0302);
	assert_true(etw_bytes_u32(&bytes, &u32) && u32 == 0x07060504);
	assert_int_equal(bytes.left, 0);
}

static void test_bytes__too_few(void **state)
{
	const uint8_t memory[4] = {0};
	uint8_t u8 = 77;
	uint16_t u16 = 77;
	uint32_t u32 = 77;

	(void)state;
	for (size_t left = 0; left < 4; left++) {
		struct etw_bytes bytes = {memory, left};

		assert_false(etw_bytes_u32(&bytes, &u32));
		if (left < 2)
			assert_false(etw_bytes_u16(&bytes, &u16));
		if (left < 1)
			assert_false(etw_bytes_u8(&bytes, &u8));
		assert_int_equal(bytes.left, left);
		assert_ptr_equal(bytes.at, memory);
	}
	assert_true(u8 == 77 && u16 == 77 && u32 == 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes__load_and_store),
		cmocka_unit_test(test_bytes__wire_types),
		cmocka_unit_test(test_bytes__take),
		cmocka_unit_test(test_bytes__integers),
		cmocka_unit_test(test_bytes__too_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
