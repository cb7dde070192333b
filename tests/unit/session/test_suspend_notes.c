/* SPDX-License-Identifier: MIT */
/* A machine that is suspended under a session, by a made-up CLOCK_BOOTTIME: times, notes, and what a query says. */
#include "session/suspend_notes.h"

#include "consumer/trace.h"
#include "fake_source.h"
#include "fixture.h"
#include "session/suspend_watch.h"
#include "wire/session_note.h"

#define HOUR_NS (3600 * ETW_NS_PER_S)
#define NOTES   4

static uint64_t asleep_ns; /* by which the made-up clock is ahead */

static void read_made(const struct wire_clock_page *page, unsigned tries,
		      struct etw_clock_reading *ret)
{
	etw_clock_read_machine(page, tries, ret);
	ret->boottime_ns += asleep_ns;
}

struct host {
	struct fixture fixture;
	struct etw_suspend_watch watch;
};

/* The fixture is the first member: what its calls get as context is the host. */
static void suspends(void *context, struct etw_suspends *ret)
{
	const struct host *host = context;

	etw_suspend_watch_sums(&host->watch, ret);
}

static void host_open(struct host *host, bool is_writable)
{
	asleep_ns = 0;
	fixture_open(&host->fixture);
	host->fixture.host.suspends = suspends;
	etw_suspend_watch_begin(&host->watch, &host->fixture.page,
				is_writable ? &host->fixture.page : NULL, read_made);
}

static void suspend(struct host *host, uint64_t ns)
{
	int64_t gap;

	asleep_ns += ns;
	assert_true(etw_suspend_watch_look(&host->watch, &gap));
}

struct found {
	uint64_t events, out_of_order, notes;
	int64_t times_ft[NOTES]; /* of the first events */
	int64_t last_ft;
	struct wire_session_note note[NOTES];
};

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
	found->out_of_order += record->EventHeader.TimeStamp.QuadPart < found->last_ft;
	found->last_ft = record->EventHeader.TimeStamp.QuadPart;
	if (!etw_guid_equal(&record->EventHeader.ProviderId, &provider)) {
		if (found->events < NOTES)
			found->times_ft[found->events] = found->last_ft;
		found->events++;
		return 0;
	}
	assert_true(found->notes < NOTES);
	item = &record->ExtendedData[1];
	assert_true(wire_session_note_decode(
		(struct etw_bytes){(const uint8_t *)(uintptr_t)item->DataPtr, item->DataSize},
		(struct etw_bytes){record->UserData, record->UserDataLength},
		&found->note[found->notes]));
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
static struct wire_session_config one_stream(const struct fixture *fixture, uint32_t clock_type)
{
	struct wire_session_config config = fixture_config(fixture);

	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	config.clock_type = clock_type;
	return config;
}

static void check_note(const struct wire_session_note *note, uint64_t asleep, uint64_t early)
{
	assert_int_equal(note->kind, WIRE_NOTE_SUSPENDED);
	assert_int_equal(note->numbers[0] / ETW_NS_PER_MS, asleep / ETW_NS_PER_MS);
	assert_int_equal(note->numbers[1] / ETW_NS_PER_MS, early / ETW_NS_PER_MS);
	assert_true(note->numbers[2] > 0);
	assert_non_null(strstr(note->message, "the machine was suspended for "));
	assert_true(!strstr(note->message, "are too early by") == (early == 0));
}

/* The made-up clock is exact but for some ten nanoseconds between two readings: half a ms on top keeps it off the edge. */
#define LONG_NS  (HOUR_NS + ETW_NS_PER_MS / 2)
#define SHORT_NS (2 * ETW_NS_PER_S + ETW_NS_PER_MS / 2)

static void test_suspend_notes__times_go_on_behind_it(void **state)
{
	struct host host;
	struct fixture_writer writer;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct found found;

	(void)state;
	host_open(&host, true);
	config = one_stream(&host.fixture, 0);
	config.flush_timer = 1;
	session = fixture_start(&host.fixture, &config);
	fixture_attach(&host.fixture, session, getuid(), 0, &writer);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	suspend(&host, LONG_NS);
	etw_session_wake(session);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	assert_int_equal(etw_session_flush(session), 0);
	suspend(&host, SHORT_NS);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	etw_session_info(session, &info);
	assert_non_null(strstr(info.complaint, "the machine was suspended for 3600.000 s"));
	assert_null(strstr(info.complaint, "2.000 s"));
	assert_non_null(strstr(info.complaint, "a note for each suspend"));
	etw_session_stop(session, &info);
	etw_session_free(session);
	found = read_file(host.fixture.path);
	assert_int_equal(found.events, 3);
	assert_int_equal(found.out_of_order, 0);
	assert_int_equal(info.events_lost, 0);
	assert_true(found.times_ft[1] - found.times_ft[0] >= (int64_t)(HOUR_NS / ETW_NS_PER_FT));
	assert_true(found.times_ft[2] - found.times_ft[1] >=
		    (int64_t)(2 * ETW_NS_PER_S / ETW_NS_PER_FT));
	assert_int_equal(found.notes, 2);
	check_note(&found.note[0], LONG_NS, 0);
	check_note(&found.note[1], SHORT_NS, 0);
	/* The timer goes by a clock that sleeps, too: 3600 flushes have not become due. */
	assert_true(info.buffers_written < 1000);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&host.fixture);
}

/* Of the kernel's events those from before stay there, whatever clock the session has. */
static void test_suspend_notes__events_of_a_source(void **state)
{
	struct host host;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct found found;

	(void)state;
	host_open(&host, true);
	fake_source_attach(&host.fixture);
	config = one_stream(&host.fixture, 0);
	config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	session = fixture_start(&host.fixture, &config);
	for (int i = 0; i < 2; i++) {
		fake_source_produce(&host.fixture.clock, 0);
		if (i == 0)
			suspend(&host, LONG_NS);
	}
	assert_int_equal(etw_session_flush(session), 0);
	etw_session_stop(session, &info);
	etw_session_free(session);
	found = read_file(host.fixture.path);
	assert_int_equal(found.out_of_order, 0);
	assert_int_equal(found.notes, 1);
	assert_true(found.last_ft - found.times_ft[0] >= (int64_t)(HOUR_NS / ETW_NS_PER_FT));
	assert_int_equal(info.events_lost, 0);
	fake_source_detach();
	fixture_close(&host.fixture);
}

/* The note of a session that this clock counts for, under a host that can or cannot write the page. */
static void check_clock(uint32_t clock_type, bool is_writable, uint64_t early_ns)
{
	struct host host;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct found found;

	host_open(&host, is_writable);
	config = one_stream(&host.fixture, clock_type);
	/* Before the session: none of its business. */
	suspend(&host, HOUR_NS / 2);
	session = fixture_start(&host.fixture, &config);
	assert_int_equal(etw_session_flush(session), 0);
	suspend(&host, LONG_NS);
	etw_session_info(session, &info);
	assert_non_null(strstr(info.complaint, "the machine was suspended for 3600.000 s"));
	assert_true(!strstr(info.complaint, "too early by 3600.000 s") == (early_ns == 0));
	etw_session_stop(session, &info);
	etw_session_free(session);
	found = read_file(host.fixture.path);
	assert_int_equal(found.notes, 1);
	check_note(&found.note[0], LONG_NS, early_ns);
	fixture_close(&host.fixture);
}

static void test_suspend_notes__what_is_wrong_depends_on_the_clock(void **state)
{
	(void)state;
	check_clock(1, true, 0);
	check_clock(1, false, LONG_NS);
	check_clock(2, true, 0);
	check_clock(2, false, 0);
	check_clock(3, true, LONG_NS);
}

static void test_suspend_notes__nobody_watches(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	config = one_stream(&fixture, 0);
	session = fixture_start(&fixture, &config);
	assert_int_equal(etw_session_flush(session), 0);
	etw_session_stop(session, NULL);
	etw_session_free(session);
	assert_int_equal(read_file(fixture.path).notes, 0);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suspend_notes__times_go_on_behind_it),
		cmocka_unit_test(test_suspend_notes__events_of_a_source),
		cmocka_unit_test(test_suspend_notes__what_is_wrong_depends_on_the_clock),
		cmocka_unit_test(test_suspend_notes__nobody_watches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
