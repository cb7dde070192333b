/* SPDX-License-Identifier: MIT */
/* Reading a BPF ring, over memory that the test fills as the kernel does. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/kernel/rings/ring.h"

#define RING_BYTES 256
#define BUSY       UINT32_C(0x80000000)
#define DISCARDED  UINT32_C(0x40000000)

struct memory {
	uint64_t consumer, producer;
	_Alignas(8) uint8_t data[2 * RING_BYTES];
	struct etw_kernel_ring ring;
};

static void put(struct memory *memory, uint64_t position, const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t at = (position + i) % RING_BYTES;

		/* The kernel maps the data twice. */
		memory->data[at] = ((const uint8_t *)bytes)[i];
		memory->data[at + RING_BYTES] = memory->data[at];
	}
}

/* A record whose bytes are all @fill. Returns its position. */
static uint64_t add(struct memory *memory, uint32_t bytes, uint32_t bits, uint8_t fill)
{
	uint32_t header[2] = {bytes | bits, 0};
	uint64_t position = memory->producer;
	uint8_t body[RING_BYTES];

	memset(body, fill, sizeof(body));
	put(memory, position, header, sizeof(header));
	put(memory, position + 8, body, bytes);
	memory->producer += (8 + bytes + 7) & ~UINT64_C(7);
	return position;
}

static int set_up(void **state)
{
	static struct memory memory;

	memset(&memory, 0, sizeof(memory));
	etw_kernel_ring_init(&memory.ring, &memory.consumer, &memory.producer, memory.data,
			     RING_BYTES);
	*state = &memory;
	return 0;
}

static void expect(struct memory *memory, uint32_t bytes, uint8_t fill)
{
	struct etw_kernel_ring_record record;

	assert_int_equal(
		etw_kernel_ring_next(&memory->ring, etw_kernel_ring_end(&memory->ring), &record),
		1);
	assert_int_equal(record.byte_count, bytes);
	assert_int_equal(record.end, memory->ring.position);
	for (uint32_t i = 0; i < bytes; i++)
		assert_int_equal(record.at[i], fill);
}

static int next(struct memory *memory)
{
	struct etw_kernel_ring_record record;

	return etw_kernel_ring_next(&memory->ring, etw_kernel_ring_end(&memory->ring), &record);
}

static void test_ring__records_in_order(void **state)
{
	struct memory *memory = *state;

	assert_int_equal(next(memory), 0);
	add(memory, 5, 0, 1);
	add(memory, 24, 0, 2);
	expect(memory, 5, 1);
	expect(memory, 24, 2);
	assert_int_equal(next(memory), 0);
}

static void test_ring__discarded_ones_are_stepped_over(void **state)
{
	struct memory *memory = *state;

	add(memory, 8, DISCARDED, 1);
	add(memory, 8, 0, 2);
	add(memory, 8, DISCARDED, 3);
	expect(memory, 8, 2);
	assert_int_equal(next(memory), 0);
	assert_int_equal(memory->ring.position, memory->producer);
}

static void test_ring__a_record_in_the_making_holds_up(void **state)
{
	struct memory *memory = *state;
	uint64_t position = add(memory, 8, BUSY, 1);
	uint32_t done = 8;

	add(memory, 8, 0, 2);
	assert_int_equal(next(memory), -EAGAIN);
	assert_int_equal(next(memory), -EAGAIN);
	put(memory, position, &done, sizeof(done));
	expect(memory, 8, 1);
	expect(memory, 8, 2);
}

static void test_ring__nothing_is_given_back_but_by_release(void **state)
{
	struct memory *memory = *state;

	for (int i = 0; i < 100; i++) {
		uint64_t before = memory->consumer;

		add(memory, 40, 0, (uint8_t)i); /* 48 bytes: wraps at other places each time */
		expect(memory, 40, (uint8_t)i);
		assert_int_equal(memory->consumer, before);
		etw_kernel_ring_release(&memory->ring, memory->ring.position);
		assert_int_equal(memory->consumer, memory->producer);
	}
	/* Another host begins where the kernel may not have written. */
	add(memory, 16, 0, 7);
	expect(memory, 16, 7);
	etw_kernel_ring_init(&memory->ring, &memory->consumer, &memory->producer, memory->data,
			     RING_BYTES);
	expect(memory, 16, 7);
}

static void test_ring__impossible_lengths_stop_reading(void **state)
{
	struct memory *memory = *state;
	uint64_t position = add(memory, 8, 0, 1);
	uint32_t lengths[] = {RING_BYTES, 9, 0x3FFFFFFF};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		put(memory, position, &lengths[i], sizeof(lengths[i]));
		assert_int_equal(next(memory), -EBADMSG);
	}
}

static void test_ring__what_is_no_ring_cannot_be_mapped(void **state)
{
	struct etw_kernel_ring ring;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(etw_kernel_ring_open(&ring, ends[0], 4096), -EACCES);
	assert_int_equal(etw_kernel_ring_open(&ring, -1, 4096), -EBADF);
	close(ends[0]);
	close(ends[1]);
}

/* Positions are masked with it, so any other size would lead out of the mapping. */
static void test_ring__sizes_that_are_none(void **state)
{
	struct etw_kernel_ring ring = {0};

	(void)state;
	assert_int_equal(etw_kernel_ring_open(&ring, -1, 0), -EINVAL);
	assert_int_equal(etw_kernel_ring_open(&ring, -1, 4096 + 4096 + 4096), -EINVAL);
	assert_int_equal(etw_kernel_ring_open(&ring, -1, 4096), -EBADF);
	etw_kernel_ring_close(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ring__records_in_order, set_up),
		cmocka_unit_test_setup(test_ring__discarded_ones_are_stepped_over, set_up),
		cmocka_unit_test_setup(test_ring__a_record_in_the_making_holds_up, set_up),
		cmocka_unit_test_setup(test_ring__nothing_is_given_back_but_by_release, set_up),
		cmocka_unit_test_setup(test_ring__impossible_lengths_stop_reading, set_up),
		cmocka_unit_test(test_ring__what_is_no_ring_cannot_be_mapped),
		cmocka_unit_test(test_ring__sizes_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
