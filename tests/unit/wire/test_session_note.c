/* SPDX-License-Identifier: MIT */
/* The bytes of the host's notes: what is written is read, and nothing else is taken for a note. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "wire/etl_event.h"
#include "wire/session_note.h"

static const struct wire_session_note_origin origin = {
	.time_raw = 0x1122334455667788, .process_id = 10, .thread_id = 11};

/* The event's last item, which is the schema, and what is behind it. */
static void find_parts(const uint8_t *event, uint32_t bytes, struct etw_bytes *ret_schema,
		       struct etw_bytes *ret_payload)
{
	const uint8_t *item = event + sizeof(struct wire_event_header);

	while (etw_load16(item + 4) & WIRE_EXTENDED_LINKAGE)
		item += etw_load16(item);
	*ret_schema = (struct etw_bytes){item + 8, etw_load16(item + 6)};
	item += etw_load16(item);
	*ret_payload = (struct etw_bytes){item, bytes - (size_t)(item - event)};
}

static void test_session_note__is_read_as_it_was_written(void **state)
{
	(void)state;
	for (uint32_t kind = 0; kind < WIRE_NOTE_KINDS; kind++) {
		struct wire_session_note note = {kind, {1, UINT64_MAX, 3}, "seventy – ok"}, back;
		uint8_t event[WIRE_SESSION_NOTE_BYTES_MAX];
		uint32_t bytes = wire_session_note_encode(&note, &origin, event);
		struct etw_bytes schema, payload;

		assert_int_equal(etw_load16(event), bytes);
		assert_int_equal(etw_load32(event + 8), 11);
		assert_int_equal(etw_load32(event + 12), 10);
		assert_int_equal(etw_load64(event + 16), 0x1122334455667788);
		find_parts(event, bytes, &schema, &payload);
		assert_true(wire_session_note_decode(schema, payload, &back));
		assert_int_equal(back.kind, kind);
		assert_string_equal(back.message, note.message);
		for (unsigned i = 0; i < WIRE_SESSION_NOTE_NUMBERS; i++)
			assert_int_equal(back.numbers[i], wire_session_note_number_name(kind, i)
								  ? note.numbers[i]
								  : 0);
		for (size_t cut = 0; cut < payload.left; cut++)
			assert_false(wire_session_note_decode(
				schema, (struct etw_bytes){payload.at, cut}, &back));
		for (size_t cut = 0; cut < schema.left; cut++)
			assert_false(wire_session_note_decode((struct etw_bytes){schema.at, cut},
							      payload, &back));
	}
}

static void test_session_note__a_long_message_is_cut_between_letters(void **state)
{
	struct wire_session_note note = {.kind = WIRE_NOTE_FILE_ENDED}, back;
	uint8_t event[WIRE_SESSION_NOTE_BYTES_MAX];
	struct etw_bytes schema, payload;
	uint32_t bytes;

	(void)state;
	memset(note.message, 'x', WIRE_SESSION_NOTE_MESSAGE_MAX - 1);
	/* No room for a NUL: and the last letter does not fit. */
	note.message[WIRE_SESSION_NOTE_MESSAGE_MAX - 1] = (char)0xC3;
	note.message[WIRE_SESSION_NOTE_MESSAGE_MAX] = (char)0xA4;
	bytes = wire_session_note_encode(&note, &origin, event);
	assert_true(bytes <= WIRE_SESSION_NOTE_BYTES_MAX);
	find_parts(event, bytes, &schema, &payload);
	assert_true(wire_session_note_decode(schema, payload, &back));
	assert_int_equal(strlen(back.message), WIRE_SESSION_NOTE_MESSAGE_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session_note__is_read_as_it_was_written),
		cmocka_unit_test(test_session_note__a_long_message_is_cut_between_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
