/* SPDX-License-Identifier: MIT */
/* What the host noted in a trace: found among other events, kept up to a number, told as text and as JSON. */
#include "tools/etw/notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/etl_event.h"

#define ITEMS_MOST 4

/* A note as a reader of the trace gives it. */
struct note_event {
	uint8_t bytes[WIRE_SESSION_NOTE_BYTES_MAX];
	EVENT_HEADER_EXTENDED_DATA_ITEM items[ITEMS_MOST];
	EVENT_RECORD record;
};

static void make_event(const struct wire_session_note *note, struct note_event *event)
{
	const struct wire_session_note_origin origin = {1, 2, 3};
	uint32_t bytes = wire_session_note_encode(note, &origin, event->bytes);
	uint32_t at = sizeof(struct wire_event_header);
	struct wire_extended_item item;
	USHORT count = 0;

	memset(&event->record, 0, sizeof(event->record));
	do {
		memcpy(&item, event->bytes + at, sizeof(item));
		event->items[count] = (EVENT_HEADER_EXTENDED_DATA_ITEM){
			.ExtType = le16_get(item.type),
			.DataSize = le16_get(item.data_bytes),
			.DataPtr = (ULONGLONG)(uintptr_t)(event->bytes + at + sizeof(item)),
		};
		count++;
		at += le16_get(item.bytes);
	} while (le16_get(item.linkage) & WIRE_EXTENDED_LINKAGE);
	event->record.EventHeader.ProviderId = (GUID)WIRE_SESSION_NOTE_PROVIDER;
	event->record.ExtendedData = event->items;
	event->record.ExtendedDataCount = count;
	event->record.UserData = event->bytes + at;
	event->record.UserDataLength = (USHORT)(bytes - at);
}

static void take(struct notes *notes, uint32_t kind, uint64_t number, const char *message)
{
	struct wire_session_note note = {.kind = kind, .numbers = {number, 22, 333}};
	struct note_event event;

	(void)snprintf(note.message, sizeof(note.message), "%s", message);
	make_event(&note, &event);
	notes_take(notes, &event.record);
}

static void take_missing(struct notes *notes, const uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	struct wire_session_note note = {.kind = WIRE_NOTE_NOT_COLLECTED, .message = "no"};
	struct note_event event;

	wire_session_note_set_masks(note.numbers, masks);
	make_event(&note, &event);
	notes_take(notes, &event.record);
}

static void test_notes__none(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct notes notes = {0};
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];

	(void)state;
	notes_write(&text, &notes);
	notes_write_json(&text, &notes);
	assert_string_equal(etw_text_string(&text), "");
	assert_false(notes_kernel_missing(&notes, masks));
}

static void test_notes__only_what_the_host_wrote(void **state)
{
	const struct wire_session_note note = {.kind = WIRE_NOTE_FILE_ENDED, .message = "x"};
	struct notes notes = {0};
	struct note_event event;

	(void)state;
	make_event(&note, &event);
	event.record.EventHeader.ProviderId.Data1 ^= 1;
	notes_take(&notes, &event.record);
	make_event(&note, &event);
	event.record.ExtendedDataCount = 0; /* without its description */
	notes_take(&notes, &event.record);
	make_event(&note, &event);
	event.record.UserDataLength = 3; /* cut off */
	notes_take(&notes, &event.record);
	assert_int_equal(notes.count, 0);
	make_event(&note, &event);
	notes_take(&notes, &event.record);
	assert_int_equal(notes.count, 1);
}

static void test_notes__lines_are_harmless(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct notes notes = {0};

	(void)state;
	take(&notes, WIRE_NOTE_FILE_ENDED, 28, "the file ended: no space");
	take(&notes, WIRE_NOTE_CANNOT_WRITE, 1000, "user\033[31m 1000\nfoo");
	notes_write(&text, &notes);
	assert_memory_equal(etw_text_string(&text), "note: the file ended: no space\nnote: user",
			    41);
	assert_null(strchr(etw_text_string(&text), '\033'));
	assert_non_null(strstr(etw_text_string(&text), "foo\n"));
}

static void test_notes__json(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct notes notes = {0};

	(void)state;
	take(&notes, WIRE_NOTE_CLAIMED_LOSS, 1000, "say \"much\"");
	take(&notes, WIRE_NOTE_NOT_COLLECTED, 0x40, "no");
	notes_write_json(&text, &notes);
	assert_string_equal(etw_text_string(&text),
			    ",\"notes\":[{\"kind\":\"ClaimedLoss\",\"uid\":1000,\"events\":22,"
			    "\"disregarded\":333,\"message\":\"say \\\"much\\\"\"},"
			    "{\"kind\":\"NotCollected\",\"enable_flags\":64,\"masks01\":22,"
			    "\"masks23\":333,\"masks45\":0,\"masks67\":0,\"message\":\"no\"}]");
}

static void test_notes__kernel_flags_of_all_notes(void **state)
{
	const uint32_t wanted[2][WIRE_GROUP_MASKS_WORDS] = {{0x40, 0x4},
							    {0x3, 0, 0, 0, 0, 0, 0, 8}};
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];
	struct notes notes = {0};

	(void)state;
	take_missing(&notes, wanted[0]);
	take(&notes, WIRE_NOTE_FILE_ENDED, 0x100, "b");
	take_missing(&notes, wanted[1]);
	assert_true(notes_kernel_missing(&notes, masks));
	assert_int_equal(masks[0], 0x43);
	assert_int_equal(masks[1], 0x4);
	assert_int_equal(masks[2], 0);
	assert_int_equal(masks[7], 8);
}

static void test_notes__many_are_counted(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct notes notes = {0};
	char message[16];

	(void)state;
	for (int i = 0; i < NOTES_KEPT_MAX + 2; i++) {
		(void)snprintf(message, sizeof(message), "number %d", i);
		take(&notes, WIRE_NOTE_FILE_ENDED, 0, message);
	}
	assert_int_equal(notes.count, NOTES_KEPT_MAX + 2);
	notes_write(&text, &notes);
	assert_non_null(strstr(etw_text_string(&text), "number 31\n... and 2 notes more\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes__none),
		cmocka_unit_test(test_notes__only_what_the_host_wrote),
		cmocka_unit_test(test_notes__lines_are_harmless),
		cmocka_unit_test(test_notes__json),
		cmocka_unit_test(test_notes__kernel_flags_of_all_notes),
		cmocka_unit_test(test_notes__many_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
