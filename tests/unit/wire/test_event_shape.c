/* SPDX-License-Identifier: MIT */
/* The table of shapes against the layouts, and what each origin may write. */
#include "wire/event_shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_event_shape__types(void **state)
{
	static const struct {
		uint8_t type, bytes, size_at, time_at, thread_at, provider_at, is_ring;
	} rows[] = {
		{1, 0x20, 4, 0x10, 8, 0xFF, 0},     {2, 0x20, 4, 0x10, 8, 0xFF, 0},
		{3, 0x18, 4, 0x10, 8, 0xFF, 0},     {4, 0x18, 4, 0x10, 8, 0xFF, 0},
		{10, 0x30, 0, 0x10, 8, 0x18, 1},    {11, 0x48, 0, 0x10, 8, 0x18, 1},
		{16, 0x10, 4, 0x08, 0xFF, 0xFF, 0}, {17, 0x10, 4, 0x08, 0xFF, 0xFF, 0},
		{18, 0x50, 0, 0x10, 8, 0x18, 1},    {19, 0x50, 0, 0x10, 8, 0x18, 1},
		{20, 0x30, 0, 0x10, 8, 0x18, 1},    {21, 0x48, 0, 0x10, 8, 0x18, 1},
	};
	uint32_t known = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct wire_event_shape *shape = &wire_event_shapes[rows[i].type];

		assert_int_equal(shape->header_bytes, rows[i].bytes);
		assert_int_equal(shape->size_at, rows[i].size_at);
		assert_int_equal(shape->time_at, rows[i].time_at);
		assert_int_equal(shape->thread_at, rows[i].thread_at);
		assert_int_equal(shape->provider_at, rows[i].provider_at);
		assert_int_equal((shape->origins & WIRE_ORIGIN_RING) != 0, rows[i].is_ring);
		assert_true(shape->origins & WIRE_ORIGIN_FILE);
	}
	for (uint32_t type = 0; type < WIRE_HEADER_TYPES; type++)
		known += wire_event_shapes[type].header_bytes != 0;
	assert_int_equal(known, sizeof(rows) / sizeof(rows[0]));
}

/* What a ring may hold can be held against a provider and a process, and has its time where it is peeked at. */
static void test_event_shape__a_ring_holds_what_can_be_checked(void **state)
{
	uint8_t event[8] = {0};

	(void)state;
	for (unsigned flag = 0; flag < 0x100; flag++) {
		for (unsigned type = 0; type < 0x100; type++) {
			const struct wire_event_shape *shape;

			event[2] = (uint8_t)type;
			event[3] = (uint8_t)flag;
			shape = wire_event_ring_shape(event);
			if (!shape)
				continue;
			assert_int_equal(flag, WIRE_EVENT_FLAG_TRACE);
			assert_int_equal(shape->size_at, 0);
			assert_int_equal(shape->time_at, 0x10);
			assert_true(shape->thread_at + 8 <= shape->header_bytes);
			if (type == WIRE_HEADER_MESSAGE)
				assert_int_equal(shape->provider_at, WIRE_NOWHERE);
			else
				assert_true(shape->provider_at + 16 <= shape->header_bytes);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_shape__types),
		cmocka_unit_test(test_event_shape__a_ring_holds_what_can_be_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
