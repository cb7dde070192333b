/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/event_shape.h"
#include "wire/ring_message.h"

#define ARGUMENT_BYTES 5

/* Of every options that a ring may hold, what comes out has each part where a reader of traces looks for it. */
static void test_ring_message__unpacks_every_form(void **state)
{
	unsigned forms = 0;

	(void)state;
	for (unsigned options = 0; options < 0x10000; options++) {
		const struct wire_message_layout layout = wire_message_layout((uint16_t)options);
		const uint32_t head = wire_ring_message_head((uint16_t)options);
		uint8_t event[64];
		struct wire_ring_message in = {
			.bytes = le16_of((uint16_t)(head + ARGUMENT_BYTES)),
			.header_type = WIRE_HEADER_MESSAGE,
			.header_flag = WIRE_EVENT_FLAG_TRACE,
			.number = le16_of(77),
			.options = le16_of((uint16_t)options),
			.thread_id = le32_of(11),
			.process_id = le32_of(12),
			.time_raw = le64_of(0x123456789),
		};

		if (!head)
			continue;
		forms++;
		assert_int_equal(head, layout.header_bytes);
		memcpy(event, &in, sizeof(in));
		for (uint32_t i = sizeof(in); i < sizeof(event); i++)
			event[i] = (uint8_t)i;
		assert_true(wire_ring_message_is_sound(event, head));
		assert_false(wire_ring_message_is_sound(event, head - 1));
		wire_ring_message_unpack(event, 0xAABBCCDD);
		assert_int_equal(etw_load16(event), head + ARGUMENT_BYTES);
		assert_int_equal(etw_load16(event + 2), 0x9000);
		assert_int_equal(etw_load16(event + 4), 77);
		assert_int_equal(etw_load16(event + 6), options);
		if (layout.sequence)
			assert_true(etw_load32(event + layout.sequence) == 0xAABBCCDD);
		for (uint32_t i = 0; layout.guid && i < 16; i++)
			assert_int_equal(event[layout.guid + i], sizeof(in) + i);
		for (uint32_t i = 0; layout.component && i < 4; i++)
			assert_int_equal(event[layout.component + i], sizeof(in) + i);
		assert_true(etw_load64(event + layout.time) == 0x123456789);
		assert_int_equal(etw_load32(event + layout.system_info), 11);
		assert_int_equal(etw_load32(event + layout.system_info + 4), 12);
		assert_int_equal(event[head], head);
	}
	/* Sequence or not, a GUID, a component or neither, four ways to speak of pointers. */
	assert_int_equal(forms, 2 * 3 * 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_message__unpacks_every_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
