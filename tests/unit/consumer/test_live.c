/* SPDX-License-Identifier: MIT */
/* Passes over sessions: order, watermarks, losses, damage, callbacks, several sessions. */
#include "unit/consumer/live_test.h"

static void test_live__every_event_comes_in_order(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(deliver_all, 0, &seen, NULL), 0);
	assert_once_each(&seen, 0, EVENTS);
	assert_int_equal(seen.buffers, 2 * EVENTS / PER_FLUSH);
}

/* The first processor's buffers of all batches at once, then the other's. */
static void deliver_skewed(struct fake_host *host)
{
	unsigned batches = EVENTS / PER_FLUSH;

	fake_accept(host);
	for (unsigned i = 0; i < batches; i++)
		(void)fake_put(host, 1 + 2 * i);
	fake_announce(host, WIRE_BATCH, batches, FAKE_T0_RAW);
	fake_await_taken(host);
	for (unsigned i = 0; i < batches; i++)
		(void)fake_put(host, 2 + 2 * i);
	fake_announce(host, WIRE_BATCH, batches, time_of(EVENTS));
	fake_end(host);
	fake_await_close(host);
}

static void test_live__what_is_not_promised_waits(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(deliver_skewed, 0, &seen, NULL), 0);
	assert_once_each(&seen, 0, EVENTS);
}

/* Each batch's events wait, and take more and more of the memory, but the session gets its slots back. */
static void deliver_beyond_the_memory(struct fake_host *host)
{
	unsigned buffers = 2 * EVENTS / PER_FLUSH;

	fake_accept(host);
	for (unsigned i = 0; i < FAKE_SLOTS; i++) {
		(void)fake_put(host, 1 + i % buffers);
		fake_announce(host, WIRE_BATCH, 1, FAKE_T0_RAW);
	}
	for (int i = 0; i < FAKE_WAIT_MS && load_acquire(&host->memory->released) < FAKE_SLOTS / 2;
	     i++)
		(void)usleep(1000);
	FAKE_ASSERT(load_acquire(&host->memory->released) >= FAKE_SLOTS / 2);
	/* Those that had gone from there are read from the copies. */
	memset((uint8_t *)host->memory + 4096, 0x5A, FAKE_SLOTS / 2 * (size_t)host->slot_bytes);
	fake_announce(host, WIRE_BATCH, 0, time_of(EVENTS));
	fake_end(host);
	fake_await_close(host);
}

static void test_live__what_waits_does_not_keep_the_memory(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(deliver_beyond_the_memory, 0, &seen, NULL), 0);
	assert_int_equal(seen.buffers, FAKE_SLOTS);
	assert_int_equal(seen.events, FAKE_SLOTS * PER_FLUSH / 2);
	assert_int_equal(seen.ran_back, 0);
}

static void deliver_without_promise(struct fake_host *host)
{
	fake_accept(host);
	fake_batch(host, 1, 3, INT64_MIN);
	fake_end(host);
	fake_await_close(host);
}

static void test_live__the_end_delivers_the_rest(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(deliver_without_promise, 0, &seen, NULL), 0);
	assert_once_each(&seen, 0, PER_FLUSH);
}

static void test_live__flags_become_losses(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(deliver_all, WIRE_BUFFER_EVENTS_LOST | WIRE_BUFFER_BUFFER_LOST,
				    &seen, NULL),
			 0);
	assert_once_each(&seen, 0, EVENTS);
	assert_int_equal(seen.losses, 2);
}

static void deliver_a_loss_alone(struct fake_host *host)
{
	uint8_t *at;

	fake_accept(host);
	fake_batch(host, 1, 3, time_of(9));
	at = fake_put(host, 3);
	etw_store32(at + 0x30, 0x48); /* no events */
	etw_store16(at + 0x34, WIRE_BUFFER_EVENTS_LOST);
	fake_announce(host, WIRE_BATCH, 1, time_of(EVENTS));
	fake_end(host);
	fake_await_close(host);
}

static void test_live__a_loss_needs_no_event(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(deliver_a_loss_alone, 0, &seen, NULL), 0);
	assert_once_each(&seen, 0, PER_FLUSH);
	assert_int_equal(seen.losses, 1);
}

static void deliver_damaged(struct fake_host *host)
{
	uint8_t *at;

	fake_accept(host);
	at = fake_put(host, 2);
	etw_store32(at, 64 * 1024); /* BufferSize beyond the slot */
	at = fake_put(host, 3);
	etw_store16(at + 0x34, WIRE_BUFFER_COMPRESSED);
	at = fake_put(host, 4);
	etw_store16(at + 0x48, 0); /* size of the first event */
	at = fake_put(host, 1);
	etw_store32(at + 0x30,
		    0x10); /* Offset within the header: nobody knows where the next one is */
	(void)fake_put(host, 1);
	fake_announce(host, WIRE_BATCH, 5, time_of(EVENTS));
	fake_batch(host, 5, 7, time_of(EVENTS));
	fake_end(host);
	fake_await_close(host);
}

static void test_live__damage_is_left_out_and_told(void **state)
{
	struct etw_findings findings;
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(deliver_damaged, 0, &seen, &findings), 0);
	assert_int_equal(seen.headers, 0);
	assert_int_equal(seen.events, PER_FLUSH + 4);
	assert_int_equal(findings.counts[ETW_FINDING_SKIPPED], 4);
	assert_int_equal(findings.counts[ETW_FINDING_EVENTS], 1);
}

/* The memory is lost with the host; others' losses are known by then. */
static void lose_the_memory(struct fake_host *host)
{
	host->pieces = 10;
	host->events = 100;
	fake_accept(host);
	host->pieces = 12;
	host->events = 110;
	host->events_lost = 4;
	fake_batch(host, 1, 3, time_of(9));
	fake_await_taken(host);
	fake_hang_up(host);
	host->pieces = 15;
	host->events = 130;
	fake_accept(host);
	FAKE_ASSERT(host->asked.pieces == 12);
	host->pieces = 17;
	host->events = 140;
	host->events_lost = 7;
	fake_batch(host, 3, 5, time_of(19));
	fake_end(host);
	fake_await_close(host);
}

static void test_live__what_is_lost_adds_up(void **state)
{
	struct fake_trace bytes = fake_trace_make(EVENTS, PER_FLUSH, 0);
	struct fake_host host = {.trace = &bytes, .script = lose_the_memory};
	struct seen seen = {.last_raw = INT64_MIN};
	struct etw_trace *trace;

	(void)state;
	fake_start(&host);
	assert_int_equal(etw_trace_open_live("live", &trace), 0);
	etw_trace_set_raw(trace, true);
	assert_int_equal(run(&trace, 1, &seen), 0);
	assert_once_each(&seen, 0, 2 * PER_FLUSH);
	assert_int_equal(seen.losses, 2); /* no buffer had told of either */
	assert_int_equal(etw_trace_header(trace)->buffers_lost, 3);
	assert_int_equal(etw_trace_header(trace)->events_lost, 20 + 7);
	etw_trace_close(trace);
	fake_stop(&host);
	free(bytes.bytes);
}

static void lose_events(struct fake_host *host)
{
	fake_accept(host);
	host->events_lost = 3;
	fake_batch(host, 1, 3, time_of(9));
	fake_end(host);
	fake_await_close(host);
}

static void test_live__a_loss_has_a_time_when_no_event_came(void **state)
{
	struct seen seen = {.from_ft = INT64_MAX};

	(void)state;
	assert_int_equal(run_script(lose_events, 0, &seen, NULL), 0);
	assert_int_equal(seen.events, 0);
	assert_int_equal(seen.losses, 1);
	assert_int_equal(seen.loss_raw, time_of(9));
}

#define WIDE_SLOT_BYTES (4u * 1024 * 1024)
#define WIDE_BATCHES    20 /* more than may wait */
#define EVENT_BYTES     88
#define WIDE_STEP_RAW   1000

/* A buffer of a whole slot that holds two events: the later one is behind the first one of the next buffer. */
static void put_wide(struct fake_host *host, unsigned batch)
{
	uint8_t *at = fake_put(host, 1);

	memset(at + 0x48 + 2 * EVENT_BYTES, 0xFF, WIDE_SLOT_BYTES - 0x48 - 2 * EVENT_BYTES);
	etw_store32(at + 0x00, WIDE_SLOT_BYTES);
	etw_store32(at + 0x04, WIDE_SLOT_BYTES);
	etw_store32(at + 0x30, WIDE_SLOT_BYTES);
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *event = at + 0x48 + (size_t)i * EVENT_BYTES;

		etw_store64(event + 0x10, (uint64_t)time_of(batch) + i * 3 * WIDE_STEP_RAW / 2);
		etw_store32(event + 0x50, 2 * batch + i);
	}
}

static void serve_wide(struct fake_host *host, bool is_promised)
{
	fake_accept(host);
	for (unsigned batch = 0; batch < WIDE_BATCHES; batch++) {
		put_wide(host, batch);
		fake_announce(host, WIRE_BATCH, 1, is_promised ? time_of(batch + 1) : FAKE_T0_RAW);
	}
	fake_end(host);
	fake_await_close(host);
}

static void serve_a_backlog(struct fake_host *host)
{
	host->slot_bytes = WIDE_SLOT_BYTES;
	serve_wide(host, /* is_promised= */ true);
}

static void serve_without_a_promise(struct fake_host *host)
{
	host->slot_bytes = WIDE_SLOT_BYTES;
	serve_wide(host, /* is_promised= */ false);
}

/* What the session kept its promises for stays in order, however much of it there is. */
static void test_live__a_backlog_keeps_its_order(void **state)
{
	struct etw_findings findings;
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(serve_a_backlog, 0, &seen, &findings), 0);
	assert_once_each(&seen, 0, 2 * WIDE_BATCHES);
	assert_int_equal(findings.counts[ETW_FINDING_LATE], 0);
}

static void test_live__a_promise_that_never_moves_does_not_stop_all(void **state)
{
	struct etw_findings findings;
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(serve_without_a_promise, 0, &seen, &findings), 0);
	assert_int_equal(seen.events, 2 * WIDE_BATCHES);
	assert_int_equal(seen.ran_back, 1);
	assert_true(findings.counts[ETW_FINDING_LATE] > 0);
	assert_int_equal(findings.counts[ETW_FINDING_LATE], seen.late);
}

/* What a pass showed of buffers. */
struct shown {
	struct seen seen; /* first: the other callbacks take it for one */
	struct etw_trace *trace;
	unsigned buffers, promises;
	int64_t promise_raw;
	uint16_t first_type;
};

static int on_shown(void *context, size_t index, const struct etw_etl_buffer *buffer)
{
	struct shown *shown = context;
	struct wire_buffer_header header;
	uint32_t bytes;
	const uint8_t *at = etw_trace_buffer_bytes(shown->trace, &bytes);

	(void)index;
	assert_int_equal(bytes, buffer->valid_bytes);
	memcpy(&header, at, sizeof(header));
	if (!shown->buffers++)
		shown->first_type = buffer->type;
	if (le64_get(header.reference_start) == WIRE_BUFFER_PROMISE) {
		shown->promises++;
		shown->promise_raw = (int64_t)le64_get(header.reference_clock);
	}
	return 0;
}

/* The header buffer first; the last buffer of each batch says what the session has promised. */
static void show(enum etw_trace_buffers how, struct shown *shown)
{
	struct fake_trace bytes = fake_trace_make(EVENTS, PER_FLUSH, 0);
	struct fake_host host = {.trace = &bytes, .script = deliver_all};
	struct etw_trace_sink sink = {.context = shown,
				      .event = on_event,
				      .buffer = on_shown,
				      .from_ft = INT64_MIN,
				      .to_ft = INT64_MAX};

	*shown = (struct shown){.seen = {.last_raw = INT64_MIN}};
	fake_start(&host);
	assert_int_equal(etw_trace_open_live("live", &shown->trace), 0);
	etw_trace_set_raw(shown->trace, true);
	etw_trace_set_buffers(shown->trace, how);
	assert_int_equal(etw_trace_process(&shown->trace, 1, &sink), 0);
	etw_trace_close(shown->trace);
	fake_stop(&host);
	free(bytes.bytes);
	assert_int_equal(shown->first_type, WIRE_BUFFER_HEADER);
	assert_int_equal(shown->buffers, 1 + 2 * EVENTS / PER_FLUSH);
	assert_int_equal(shown->promises, EVENTS / PER_FLUSH);
	assert_int_equal(shown->promise_raw, time_of(EVENTS - 1));
}

static void test_live__shows_whole_buffers(void **state)
{
	struct shown shown;

	(void)state;
	show(ETW_BUFFERS_IN_ORDER, &shown);
	assert_once_each(&shown.seen, 0, EVENTS);
	show(ETW_BUFFERS_ALONE, &shown);
	assert_int_equal(shown.seen.events, 0);
}

/* A pass that is to end delivers what has come. */
static bool ends_after_some(void *context)
{
	const struct seen *seen = context;

	return seen->events > 0;
}

static void see_the_wish(struct fake_host *host)
{
	fake_accept(host);
	FAKE_ASSERT(host->asked.memory_bytes == 12345678);
	fake_end(host);
	fake_await_close(host);
}

static void test_live__asks_for_memory(void **state)
{
	struct fake_trace bytes = fake_trace_make(EVENTS, PER_FLUSH, 0);
	struct fake_host host = {.trace = &bytes, .script = see_the_wish};
	struct seen seen = {.last_raw = INT64_MIN};
	struct etw_trace *trace;

	(void)state;
	fake_start(&host);
	assert_int_equal(etw_trace_open_live("live", &trace), 0);
	etw_trace_want_memory(trace, 12345678);
	assert_int_equal(run(&trace, 1, &seen), 0);
	etw_trace_close(trace);
	fake_stop(&host);
	free(bytes.bytes);
}

static void serve_some_in_advance(struct fake_host *host)
{
	fake_accept(host);
	fake_batch(host, 1, 5, time_of(9)); /* twenty events, of which ten are promised */
	fake_await_close(host);
}

static void test_live__an_end_delivers_what_has_come(void **state)
{
	struct fake_trace bytes = fake_trace_make(EVENTS, PER_FLUSH, 0);
	struct fake_host host = {.trace = &bytes, .script = serve_some_in_advance};
	struct seen seen = {.last_raw = INT64_MIN};
	struct etw_trace_sink sink = {.context = &seen,
				      .event = on_event,
				      .ends = ends_after_some,
				      .from_ft = INT64_MIN,
				      .to_ft = INT64_MAX};
	struct etw_trace *trace;

	(void)state;
	fake_start(&host);
	assert_int_equal(etw_trace_open_live("live", &trace), 0);
	etw_trace_set_raw(trace, true);
	assert_int_equal(etw_trace_process(&trace, 1, &sink), 0);
	assert_once_each(&seen, 0, 2 * PER_FLUSH);
	etw_trace_close(trace);
	fake_stop(&host);
	free(bytes.bytes);
}

static void wait_for_ever(struct fake_host *host)
{
	fake_accept(host);
	fake_batch(host, 1, 3, time_of(9));
	fake_await_close(host);
}

static void test_live__callbacks_stop_a_pass(void **state)
{
	struct seen seen = {.stop_after = 3};

	(void)state;
	assert_int_equal(run_script(wait_for_ever, 0, &seen, NULL), -ECANCELED);
	assert_int_equal(seen.events, 3);
}

static void *wake_later(void *context)
{
	(void)usleep(20000);
	etw_trace_wake(context);
	return NULL;
}

static void test_live__waking_asks_whether_to_go_on(void **state)
{
	struct fake_trace bytes = fake_trace_make(EVENTS, PER_FLUSH, 0);
	struct fake_host host = {.trace = &bytes, .script = answer_once};
	struct seen seen = {.last_raw = INT64_MIN, .idle_result = -EINTR};
	struct etw_trace *trace;
	pthread_t thread;

	(void)state;
	fake_start(&host);
	assert_int_equal(etw_trace_open_live("live", &trace), 0);
	assert_int_equal(pthread_create(&thread, NULL, wake_later, trace), 0);
	assert_int_equal(run(&trace, 1, &seen), -EINTR);
	assert_true(seen.idles >= 1);
	(void)pthread_join(thread, NULL);
	etw_trace_close(trace);
	fake_stop(&host);
	free(bytes.bytes);
}

static void announce_what_was_given_back(struct fake_host *host)
{
	fake_accept(host);
	fake_batch(host, 1, 3, time_of(9));
	fake_await_taken(host);
	fake_announce(host, WIRE_BATCH, 2, time_of(9));
	fake_await_close(host);
}

static void announce_a_world(struct fake_host *host)
{
	fake_accept(host);
	host->memory->written = UINT32_MAX;
	fake_announce(host, WIRE_BATCH, UINT32_MAX, time_of(9));
	fake_await_close(host);
}

static void test_live__impossible_batches_end_the_pass(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(announce_what_was_given_back, 0, &seen, NULL), -EPROTO);
	assert_int_equal(run_script(announce_a_world, 0, &seen, NULL), -EPROTO);
}

/* Two hosts cannot have one directory, so the second session is a consumer of the first's. */
static void serve_two(struct fake_host *host)
{
	struct fake_host second = *host;

	fake_accept(host);
	fake_accept(&second);
	fake_batch(host, 1, 3, time_of(9));
	fake_await_taken(host);
	fake_batch(&second, 3, 5, time_of(19));
	fake_await_taken(&second);
	fake_end(host);
	fake_end(&second);
	fake_await_close(&second);
	fake_hang_up(&second);
}

static int process_two(void (*script)(struct fake_host *host), struct seen *seen,
		       uint64_t *ret_late)
{
	struct fake_trace bytes = fake_trace_make(EVENTS, PER_FLUSH, 0);
	struct fake_host host = {.trace = &bytes, .script = script};
	struct etw_trace *traces[2];
	int result;

	fake_start(&host);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(etw_trace_open_live("live", &traces[i]), 0);
		etw_trace_set_raw(traces[i], true);
	}
	result = run(traces, 2, seen);
	*ret_late = 0;
	for (size_t i = 0; i < 2; i++) {
		*ret_late += etw_trace_findings(traces[i])->counts[ETW_FINDING_LATE];
		etw_trace_close(traces[i]);
	}
	fake_stop(&host);
	free(bytes.bytes);
	return result;
}

static void test_live__sessions_are_merged(void **state)
{
	struct seen seen = {.last_raw = INT64_MIN};
	uint64_t late;

	(void)state;
	assert_int_equal(process_two(serve_two, &seen, &late), 0);
	assert_int_equal(seen.headers, 0);
	assert_int_equal(seen.events, 20);
	assert_int_equal(seen.ran_back, 0);
	assert_int_equal(late, 0);
}

static void await_delivered(uint32_t count)
{
	for (int i = 0; i < FAKE_WAIT_MS && load_acquire(&delivered) < count; i++)
		(void)usleep(1000);
	FAKE_ASSERT(load_acquire(&delivered) >= count);
}

/* The first session's promise does not come; the second's events wait for it, but not for ever. */
static void serve_a_late_one(struct fake_host *host)
{
	const uint32_t before = load_acquire(&delivered);
	struct fake_host second = *host;
	uint64_t start_ms;

	fake_accept(host);
	fake_accept(&second);
	start_ms = etw_monotonic_ms();
	fake_batch(&second, 3, 5, time_of(19));
	await_delivered(before + 10);
	FAKE_ASSERT(etw_monotonic_ms() - start_ms >= LAG_MS);
	fake_batch(host, 1, 3, time_of(9));
	fake_end(host);
	fake_end(&second);
	fake_await_close(&second);
	fake_hang_up(&second);
}

static void test_live__a_session_that_lags_is_waited_for_a_while(void **state)
{
	struct seen seen = {.last_raw = INT64_MIN};
	uint64_t late;

	(void)state;
	assert_int_equal(process_two(serve_a_late_one, &seen, &late), 0);
	assert_int_equal(seen.events, 20);
	assert_int_equal(seen.ran_back, 1);
	assert_int_equal(late, 10);
	assert_int_equal(late, seen.late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live__every_event_comes_in_order),
		cmocka_unit_test(test_live__what_is_not_promised_waits),
		cmocka_unit_test(test_live__what_waits_does_not_keep_the_memory),
		cmocka_unit_test(test_live__the_end_delivers_the_rest),
		cmocka_unit_test(test_live__flags_become_losses),
		cmocka_unit_test(test_live__a_loss_needs_no_event),
		cmocka_unit_test(test_live__damage_is_left_out_and_told),
		cmocka_unit_test(test_live__what_is_lost_adds_up),
		cmocka_unit_test(test_live__callbacks_stop_a_pass),
		cmocka_unit_test(test_live__waking_asks_whether_to_go_on),
		cmocka_unit_test(test_live__impossible_batches_end_the_pass),
		cmocka_unit_test(test_live__a_loss_has_a_time_when_no_event_came),
		cmocka_unit_test(test_live__a_backlog_keeps_its_order),
		cmocka_unit_test(test_live__a_promise_that_never_moves_does_not_stop_all),
		cmocka_unit_test(test_live__shows_whole_buffers),
		cmocka_unit_test(test_live__an_end_delivers_what_has_come),
		cmocka_unit_test(test_live__asks_for_memory),
		cmocka_unit_test(test_live__sessions_are_merged),
		cmocka_unit_test(test_live__a_session_that_lags_is_waited_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
