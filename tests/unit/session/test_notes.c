/* SPDX-License-Identifier: MIT */
/* What the host tells in a trace: in the file, in order, once; and nothing where there is nothing to tell. */
#include "session/common/notes.h"

#include "consumer/trace.h"
#include "fake_source.h"
#include "fixture.h"
#include "recovery_host.h"
#include "wire/session_note.h"

struct found {
	uint64_t events, notes, out_of_order;
	int64_t last_raw;
	struct wire_session_note last;
};

static pid_t host_pid; /* that wrote the notes; 0: this process */

static int take_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		      const EVENT_RECORD *record, struct etw_event_address address)
{
	static const GUID provider = WIRE_SESSION_NOTE_PROVIDER;
	struct found *found = context;
	const EVENT_HEADER_EXTENDED_DATA_ITEM *item;

	(void)address;
	(void)header_type;
	if (buffer->type == WIRE_BUFFER_HEADER)
		return 0;
	found->out_of_order += record->EventHeader.TimeStamp.QuadPart < found->last_raw;
	found->last_raw = record->EventHeader.TimeStamp.QuadPart;
	if (!etw_guid_equal(&record->EventHeader.ProviderId, &provider)) {
		found->events++;
		return 0;
	}
	assert_int_equal(record->EventHeader.ProcessId, host_pid ? host_pid : getpid());
	assert_int_equal(record->ExtendedDataCount, 2);
	item = &record->ExtendedData[1];
	assert_true(wire_session_note_decode(
		(struct etw_bytes){(const uint8_t *)(uintptr_t)item->DataPtr, item->DataSize},
		(struct etw_bytes){record->UserData, record->UserDataLength}, &found->last));
	found->notes++;
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
	assert_int_equal(etw_findings_total(etw_trace_findings(trace)), 0);
	etw_trace_close(trace);
	return found;
}

/* One processor's output, so that the order of all events is known. */
static struct wire_session_config one_stream(const struct fixture *fixture)
{
	struct wire_session_config config = fixture_config(fixture);

	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	return config;
}

static void test_notes__stand_among_the_events_in_order(void **state)
{
	struct fixture fixture;
	struct fixture_writer writer;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct found found;

	(void)state;
	fixture_open(&fixture);
	config = one_stream(&fixture);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	for (uint32_t i = 0; i < 40; i++) {
		const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {i, 2, 3};
		struct wire_session_note note;

		(void)fixture_write(&writer, 0x60);
		etw_note_make(&note, WIRE_NOTE_CLAIMED_LOSS, numbers, "note %u", i);
		etw_session_tell(session, &note);
		assert_int_equal(etw_session_flush(session), 0);
	}
	etw_session_stop(session, &info);
	etw_session_free(session);
	found = read_file(fixture.path);
	assert_int_equal(found.events, writer.written);
	assert_int_equal(found.notes, 40);
	assert_int_equal(found.out_of_order, 0);
	assert_int_equal(info.events, writer.written + 40);
	assert_int_equal(info.events_lost, 0);
	assert_int_equal(found.last.numbers[0], 39);
	assert_string_equal(found.last.message, "note 39");
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static void test_notes__a_quiet_session_has_none(void **state)
{
	struct fixture fixture;
	struct fixture_writer writer;
	struct wire_session_config config;
	struct etw_session *session;
	struct found found;

	(void)state;
	fixture_open(&fixture);
	config = one_stream(&fixture);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	(void)fixture_write(&writer, 0x60);
	etw_session_stop(session, NULL);
	etw_session_free(session);
	found = read_file(fixture.path);
	assert_int_equal(found.events, 1);
	assert_int_equal(found.notes, 0);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* Who reads the file later learns that the kernel's events were asked for and are not there. */
static void test_notes__kernel_events_that_do_not_come(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct etw_session *session;
	struct found found;

	(void)state;
	fixture_open(&fixture);
	fake_source_attach(&fixture);
	fake_source_memory->open_error = -ENOSYS;
	config = one_stream(&fixture);
	config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	session = fixture_start(&fixture, &config);
	etw_session_stop(session, NULL);
	etw_session_free(session);
	found = read_file(fixture.path);
	assert_int_equal(found.notes, 1);
	assert_int_equal(found.last.kind, WIRE_NOTE_NOT_COLLECTED);
	assert_int_equal(found.last.numbers[0], EVENT_TRACE_FLAG_PROCESS);
	assert_non_null(strstr(found.last.message, "the fake is told to fail"));
	fake_source_detach();
	fixture_close(&fixture);
}

/* The note is in the output then, and in the state. */
static void flush_session(struct recovery *recovery, struct etw_session *session)
{
	(void)recovery;
	assert_int_equal(etw_session_flush(session), 0);
}

/* What the next host does not collect is told once, whether the one before it did or died before it could say. */
static void test_notes__kernel_events_that_the_next_host_does_not_collect(void **state)
{
	struct fixture fixture;
	struct recovery recovery;
	struct wire_session_config config;
	struct found found;

	(void)state;
	fixture_open(&fixture);
	fake_source_attach(&fixture);
	config = one_stream(&fixture);
	config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	recovery_open(&fixture, &config, &recovery);
	recovery_fork(&recovery, &fake_source_ops);
	recovery_kill(&recovery);
	for (int i = 0; i < 2; i++) {
		recovery.on_session = flush_session;
		recovery_fork(&recovery, NULL);
		if (i == 0) {
			host_pid = recovery.host;
			recovery_kill(&recovery);
		}
	}
	recovery_stop(&recovery);
	found = read_file(fixture.path);
	host_pid = 0;
	assert_int_equal(found.notes, 1);
	assert_int_equal(found.last.kind, WIRE_NOTE_NOT_COLLECTED);
	assert_int_equal(found.last.numbers[0], EVENT_TRACE_FLAG_PROCESS);
	recovery_close(&recovery);
	fake_source_detach();
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes__stand_among_the_events_in_order),
		cmocka_unit_test(test_notes__a_quiet_session_has_none),
		cmocka_unit_test(test_notes__kernel_events_that_do_not_come),
		cmocka_unit_test(test_notes__kernel_events_that_the_next_host_does_not_collect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
