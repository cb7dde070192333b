/* SPDX-License-Identifier: MIT */
/* Buffers in the form of compressed files: what shrinks, what cannot, and that both come back as they were. */
#include "etl/packer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "etl/writer.h"
#include "wire/xpress.h"

#define BYTES 4096u

static void make(uint8_t *buffer, uint32_t valid, bool is_random)
{
	struct etw_etl_buffer_head head = {.buffer_bytes = BYTES, .sequence = 7, .time_raw = 99};
	uint32_t random = 5;

	for (uint32_t i = WIRE_BUFFER_HEADER_BYTES; i < valid; i++) {
		random = random * 1664525 + 1013904223;
		buffer[i] = is_random ? (uint8_t)(random >> 24) : (uint8_t)(i % 11);
	}
	etw_etl_seal_buffer(&head, buffer, valid);
}

/* Returns the flags. */
static uint16_t assert_comes_back(struct etw_etl_packer *packer, const uint8_t *buffer,
				  uint32_t valid)
{
	uint8_t back[BYTES];
	const uint8_t *packed;
	uint32_t bytes = etw_etl_packer_pack(packer, buffer, &packed);
	uint32_t body = valid - WIRE_BUFFER_HEADER_BYTES;
	uint16_t flags = etw_load16(packed + 0x34);
	size_t taken;

	assert_int_equal(etw_load32(packed), bytes);
	assert_int_equal(etw_load32(packed + 0x30), valid);
	assert_memory_equal(packed + 4, buffer + 4, 0x30);
	assert_int_equal(flags & ~WIRE_BUFFER_COMPRESSED, etw_load16(buffer + 0x34));
	if (!(flags & WIRE_BUFFER_COMPRESSED)) {
		assert_int_equal(bytes, valid);
		assert_memory_equal(packed + 0x48, buffer + 0x48, body);
		return flags;
	}
	assert_true(bytes < valid);
	assert_int_equal(etw_xpress_decode(packed + 0x48, bytes - 0x48, back, body, &taken), body);
	assert_memory_equal(back, buffer + 0x48, body);
	return flags;
}

static void test_packer__shrinks_or_leaves_it(void **state)
{
	struct etw_etl_packer *packer;
	uint8_t buffer[BYTES];

	(void)state;
	assert_int_equal(etw_etl_packer_create(BYTES, &packer), 0);
	for (uint32_t valid = 0x48; valid <= BYTES; valid += 8) {
		make(buffer, valid, /* is_random= */ true);
		assert_false(assert_comes_back(packer, buffer, valid) & WIRE_BUFFER_COMPRESSED);
		make(buffer, valid, /* is_random= */ false);
		if (valid >= 0x100)
			assert_true(assert_comes_back(packer, buffer, valid) &
				    WIRE_BUFFER_COMPRESSED);
		else
			(void)assert_comes_back(packer, buffer, valid);
	}
	etw_etl_packer_free(packer);
	etw_etl_packer_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packer__shrinks_or_leaves_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
