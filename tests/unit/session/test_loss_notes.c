/* SPDX-License-Identifier: MIT */
/* What was lost stands in the trace by cause, class and processor, and adds up to what the header says. */
#include "session/loss_notes.h"

#include "consumer/trace.h"
#include "fake_source.h"
#include "fixture.h"
#include "parts.h"
#include "wire/session_note.h"

#define CELLS_MAX 16

struct cell {
	uint32_t kind;
	uint64_t cause, class_number, processor, events;
};

struct found {
	uint32_t count; /* of notes */
	struct cell cells[CELLS_MAX];
};

static int take_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		      const EVENT_RECORD *record, struct etw_event_address address)
{
	static const GUID provider = WIRE_SESSION_NOTE_PROVIDER;
	struct found *found = context;
	const EVENT_HEADER_EXTENDED_DATA_ITEM *item;
	struct wire_session_note note;

	(void)address;
	(void)header_type;
	if (buffer->type == WIRE_BUFFER_HEADER ||
	    !etw_guid_equal(&record->EventHeader.ProviderId, &provider))
		return 0;
	item = &record->ExtendedData[1];
	assert_true(wire_session_note_decode(
		(struct etw_bytes){(const uint8_t *)(uintptr_t)item->DataPtr, item->DataSize},
		(struct etw_bytes){record->UserData, record->UserDataLength}, &note));
	assert_true(found->count < CELLS_MAX);
	found->cells[found->count++] = (struct cell){note.kind, note.numbers[0], note.numbers[1],
						     note.numbers[2], note.numbers[3]};
	return 0;
}

static struct found read_file(const char *path)
{
	struct found found = {0};
	struct etw_trace_visitor visitor = {.context = &found, .event = take_event};
	struct etw_trace *trace;
	struct etw_fault fault;

	assert_int_equal(etw_trace_open(path, &trace, &fault), 0);
	assert_int_equal(etw_trace_each_buffer(trace, &visitor), 0);
	etw_trace_close(trace);
	return found;
}

static struct wire_session_config kernel_session(const struct fixture *fixture)
{
	struct wire_session_config config = fixture_config(fixture);

	config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	return config;
}

static const struct cell *find(const struct found *found, uint32_t kind, uint64_t cause)
{
	const struct cell *last = NULL;

	for (uint32_t i = 0; i < found->count; i++)
		if (found->cells[i].kind == kind && found->cells[i].cause == cause)
			last = &found->cells[i];
	assert_non_null(last);
	return last;
}

static void test_loss_notes__add_up_to_the_header(void **state)
{
	struct fixture fixture;
	struct fixture_writer writer;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct found found;
	uint64_t sum = 0;

	(void)state;
	fixture_open(&fixture);
	fake_source_attach(&fixture);
	config = kernel_session(&fixture);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	fake_source_memory->lost = 5;
	fake_source_memory->lost_by_host = 30;
	fake_source_memory->without_fields = 700;
	(void)fixture_write(&writer, 0x58);
	/* Larger than any buffer. */
	(void)fixture_write(&writer, config.buffer_kib * 1024u);
	etw_session_stop(session, &info);
	found = read_file(fixture.path);
	assert_int_equal(find(&found, WIRE_NOTE_LOST, ETW_LOSS_RING_FULL)->events, 5);
	assert_int_equal(find(&found, WIRE_NOTE_LOST, ETW_LOSS_RING_FULL)->class_number,
			 ETW_LOSS_OF_TASKS);
	assert_int_equal(find(&found, WIRE_NOTE_LOST, ETW_LOSS_RING_FULL)->processor,
			 ETW_LOSS_ANY_PROCESSOR);
	assert_int_equal(find(&found, WIRE_NOTE_LOST, ETW_LOSS_NO_MEMORY)->events, 30);
	assert_int_equal(find(&found, WIRE_NOTE_LOST, ETW_LOSS_NO_MEMORY)->processor, 0);
	assert_int_equal(find(&found, WIRE_NOTE_INCOMPLETE, ETW_LOSS_NO_FIELDS)->events, 700);
	for (uint32_t i = 0; i < found.count; i++)
		if (found.cells[i].kind == WIRE_NOTE_LOST)
			sum += found.cells[i].events;
	assert_int_equal(sum, info.events_lost);
	assert_true(sum >= 35);
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
	fake_source_detach();
	fixture_close(&fixture);
}

static void test_loss_notes__none_without_loss(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	fake_source_attach(&fixture);
	config = kernel_session(&fixture);
	session = fixture_start(&fixture, &config);
	etw_session_stop(session, NULL);
	assert_int_equal(read_file(fixture.path).count, 0);
	etw_session_free(session);
	fake_source_detach();
	fixture_close(&fixture);
}

/* Each number is told when it has changed, and as the sum so far; of many processors the sums are. */
static void test_loss_notes__tell_what_changed(void **state)
{
	static struct fixture fixture;
	static struct parts parts;
	struct wire_session_config config = parts_realtime();
	struct etw_loss_notes notes = {0};

	(void)state;
	for (uint32_t cpus = 2; cpus; cpus = cpus == 2 ? ETW_LOSS_NOTES_PROCESSORS + 1 : 0) {
		struct etw_state_source *first, *last;
		uint64_t before;

		fixture_open(&fixture);
		parts_open(&parts, &fixture, &config, cpus);
		first = etw_state_source(&parts.context.state, 0, 0);
		last = etw_state_source(&parts.context.state, 0, cpus - 1);
		before = parts.outputs.all[0].record->counts.notes;
		etw_loss_notes_tell(&notes, &parts.outputs, &parts.sets, 10, false);
		assert_int_equal(parts.outputs.all[0].record->counts.notes, before);
		assert_false(etw_loss_notes_are_due(&notes, 10));
		assert_true(etw_loss_notes_are_due(&notes, 10 + ETW_LOSS_NOTES_NS));
		first->now.events[ETW_LOSS_RING_FULL][ETW_LOSS_OF_SAMPLES] = 1;
		last->former.events[ETW_LOSS_RING_FULL][ETW_LOSS_OF_SAMPLES] = 2;
		last->now.events[ETW_LOSS_NO_FIELDS][ETW_LOSS_OF_SAMPLES] = 3;
		etw_loss_notes_tell(&notes, &parts.outputs, &parts.sets, 20, false);
		before += cpus == 2 ? 2 : 1;
		assert_int_equal(parts.outputs.all[0].record->counts.notes, before);
		etw_loss_notes_tell(&notes, &parts.outputs, &parts.sets, 30, false);
		assert_int_equal(parts.outputs.all[0].record->counts.notes, before);
		/* What events lack is told at the end alone. */
		etw_loss_notes_tell(&notes, &parts.outputs, &parts.sets, 40, true);
		assert_int_equal(parts.outputs.all[0].record->counts.notes, before + 1);
		etw_loss_notes_done(&notes);
		parts_close(&parts);
		fixture_close(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loss_notes__add_up_to_the_header),
		cmocka_unit_test(test_loss_notes__none_without_loss),
		cmocka_unit_test(test_loss_notes__tell_what_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
