/* SPDX-License-Identifier: MIT */
/* Passes over sessions: order, watermarks, losses, damage, a host that is replaced, errors. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/time.h"
#include "consumer/trace.h"
#include "unit/consumer/fake_host.h"

#define EVENTS    80
#define LAG_MS    2000 /* for so long a session is waited for */
#define PER_FLUSH 10   /* so 2 buffers of 5 events each, of which one batch is made */

/* A pass, and what came out of it. */
static uint32_t delivered; /* atomic: events of all passes, for scripts to wait for */

struct seen {
	unsigned headers, events, losses, buffers, ran_back;
	unsigned times[EVENTS]; /* how often each event came */
	int64_t last_raw, loss_raw;
	int64_t from_ft; /* 0: all */
	unsigned stop_after;
	unsigned idles;
	int idle_result;
	uint32_t buffers_lost; /* as the header says in the end */
};

static int on_event(void *context, size_t trace, EVENT_RECORD *record,
		    struct etw_event_address address)
{
	struct seen *seen = context;
	int64_t time_raw = record->EventHeader.TimeStamp.QuadPart;

	(void)trace;
	if (address.offset == UINT32_MAX) {
		seen->losses++;
		seen->loss_raw = time_raw;
		return 0;
	}
	seen->ran_back += time_raw < seen->last_raw;
	seen->last_raw = time_raw;
	if (record->EventHeader.ProviderId.Data1 == 0x68fdd900) {
		seen->headers += !record->EventHeader.EventDescriptor.Opcode;
		return 0;
	}
	assert_int_equal(record->UserDataLength, 4);
	seen->times[etw_load32(record->UserData)]++;
	seen->events++;
	(void)add_acq_rel(&delivered, 1u);
	return seen->stop_after == seen->events ? -ECANCELED : 0;
}

static int on_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct seen *seen = context;

	(void)trace;
	(void)buffer;
	seen->buffers++;
	return 0;
}

static int on_idle(void *context)
{
	struct seen *seen = context;

	seen->idles++;
	return seen->idle_result;
}

static int run(struct etw_trace *const *traces, size_t count, struct seen *seen)
{
	struct etw_trace_sink sink = {.context = seen,
				      .event = on_event,
				      .buffer = on_buffer,
				      .idle = on_idle,
				      .from_ft = seen->from_ft ? seen->from_ft : INT64_MIN,
				      .to_ft = INT64_MAX};

	return etw_trace_process(traces, count, &sink);
}

static void assert_once_each(const struct seen *seen, unsigned from, unsigned to)
{
	assert_int_equal(seen->headers, 1);
	assert_int_equal(seen->ran_back, 0);
	for (unsigned i = 0; i < EVENTS; i++)
		assert_int_equal(seen->times[i], i >= from && i < to);
}

/* Opens the host's session, runs a pass, and closes both. */
static int run_script(void (*script)(struct fake_host *host), uint16_t flags, struct seen *seen,
		      struct etw_findings *ret_findings)
{
	struct fake_trace bytes = fake_trace_make(EVENTS, PER_FLUSH, flags);
	struct fake_host host = {.trace = &bytes, .script = script};
	struct etw_trace *trace;
	int result;

	*seen = (struct seen){.last_raw = INT64_MIN,
			      .from_ft = seen->from_ft,
			      .idle_result = seen->idle_result,
			      .stop_after = seen->stop_after};
	fake_start(&host);
	assert_int_equal(etw_trace_open_live("live", &trace), 0);
	assert_true(etw_trace_is_live(trace));
	etw_trace_set_raw(trace, true);
	result = run(&trace, 1, seen);
	if (ret_findings)
		*ret_findings = *etw_trace_findings(trace);
	seen->buffers_lost = etw_trace_header(trace)->buffers_lost;
	etw_trace_close(trace);
	fake_stop(&host);
	free(bytes.bytes);
	return result;
}

static int64_t time_of(unsigned event)
{
	return FAKE_T0_RAW + (int64_t)(event + 1) * FAKE_STEP_RAW;
}

static void deliver_all(struct fake_host *host)
{
	fake_accept(host);
	for (unsigned batch = 0; batch < EVENTS / PER_FLUSH; batch++) {
		fake_batch(host, 1 + 2 * batch, 3 + 2 * batch,
			   time_of((batch + 1) * PER_FLUSH - 1));
		fake_await_release(host);
	}
	fake_end(host);
	fake_await_close(host);
	FAKE_ASSERT(!strcmp(host->asked.name, "live") && !host->asked.last_batch);
}

static void test_live__every_event_comes_in_order(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(deliver_all, 0, &seen, NULL), 0);
	assert_once_each(&seen, 0, EVENTS);
	assert_int_equal(seen.buffers, 1 + 2 * EVENTS / PER_FLUSH);
}

/* The first processor's buffers of all batches at once, then the other's. */
static void deliver_skewed(struct fake_host *host)
{
	unsigned batches = EVENTS / PER_FLUSH;

	fake_accept(host);
	for (unsigned i = 0; i < batches; i++)
		(void)fake_put(host, 1 + 2 * i);
	fake_announce(host, WIRE_BATCH, batches, FAKE_T0_RAW);
	fake_await_release(host);
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

static void deliver_damaged(struct fake_host *host)
{
	uint8_t *at;

	fake_accept(host);
	at = fake_put(host, 1);
	etw_store32(at + 0x30, 0x10); /* Offset within the header */
	at = fake_put(host, 2);
	etw_store32(at, 64 * 1024); /* BufferSize beyond the slot */
	at = fake_put(host, 3);
	etw_store16(at + 0x34, WIRE_BUFFER_COMPRESSED);
	at = fake_put(host, 4);
	etw_store16(at + 0x48, 0); /* size of the first event */
	fake_announce(host, WIRE_BATCH, 4, time_of(EVENTS));
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
	assert_int_equal(seen.headers, 1);
	assert_int_equal(seen.events, PER_FLUSH + 4);
	assert_int_equal(findings.counts[ETW_FINDING_SKIPPED], 3);
	assert_int_equal(findings.counts[ETW_FINDING_EVENTS], 1);
}

/*
 * The first host dies with a batch told, one not told, and a buffer more in the memory; the next one goes on
 * behind what was given back.
 */
static void deliver_with_two_hosts(struct fake_host *host)
{
	uint64_t consumer, written, released;

	host->keeps_memory = true;
	fake_accept(host);
	consumer = host->asked.consumer;
	fake_batch(host, 1, 5, time_of(19));
	fake_await_release(host);
	fake_batch(host, 5, 7, time_of(29));
	for (size_t i = 7; i < 10; i++)
		(void)fake_put(host, i);
	fake_hang_up(host);
	fake_accept(host);
	FAKE_ASSERT(consumer && host->asked.consumer == consumer);
	FAKE_ASSERT(host->asked.last_batch == 2);
	(void)fake_put(host, 10);
	written = host->memory->written;
	released = load_acquire(&host->memory->released);
	FAKE_ASSERT(released == 6);
	fake_announce(host, WIRE_BATCH, (uint32_t)(written - released), time_of(49));
	fake_batch(host, 11, 17, time_of(EVENTS - 1));
	fake_end(host);
	fake_await_close(host);
}

static void test_live__a_new_host_goes_on(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(deliver_with_two_hosts, 0, &seen, NULL), 0);
	assert_once_each(&seen, 0, EVENTS);
}

/* The next host has no room at first: for anybody, then for another one of this user. */
static void refuse_at_first(struct fake_host *host)
{
	static const int refusals[] = {-EUSERS, -ETOOMANYREFS};

	host->keeps_memory = true;
	fake_accept(host);
	fake_batch(host, 1, 5, time_of(19));
	fake_await_release(host);
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		fake_hang_up(host);
		host->subscribe_status = refusals[i];
		fake_accept(host);
	}
	fake_hang_up(host);
	host->subscribe_status = 0;
	fake_accept(host);
	fake_batch(host, 5, 17, time_of(EVENTS - 1));
	fake_end(host);
	fake_await_close(host);
}

static void test_live__a_host_without_room_is_asked_again(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(refuse_at_first, 0, &seen, NULL), 0);
	assert_once_each(&seen, 0, EVENTS);
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
	fake_await_release(host);
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
}

/* A host that dies while it is asked, and another one in its place. */
static void die_while_asked(struct fake_host *host)
{
	etw_runtime_announce(host->page, true);
	FAKE_ASSERT(fake_await(host->listener) == 1);
	FAKE_ASSERT(!etw_ipc_accept(host->listener, &host->socket));
	(void)close(host->socket);
	fake_accept(host);
	fake_batch(host, 1, 3, time_of(9));
	fake_end(host);
	fake_await_close(host);
}

static void test_live__a_host_that_dies_while_asked_is_waited_for(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(die_while_asked, 0, &seen, NULL), 0);
	assert_once_each(&seen, 0, PER_FLUSH);
}

static void end_with_the_host(struct fake_host *host)
{
	fake_accept(host);
	fake_batch(host, 1, 3, time_of(9));
	fake_await_release(host);
	fake_hang_up(host);
	host->subscribe_status = -ENOENT;
	fake_accept(host);
	fake_await_close(host);
}

static void test_live__a_session_that_is_gone_is_over(void **state)
{
	struct etw_findings findings;
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(end_with_the_host, 0, &seen, &findings), -ENOENT);
	assert_once_each(&seen, 0, PER_FLUSH);
	assert_int_equal(findings.counts[ETW_FINDING_CUT], 1); /* not silently */
}

/* Three buffers lie in the memory that no batch has announced; then there is neither host nor keeper. */
static void end_with_the_keeper(struct fake_host *host)
{
	etw_runtime_announce(host->page, true);
	fake_accept(host);
	fake_batch(host, 1, 3, time_of(9));
	fake_await_release(host);
	for (size_t i = 3; i < 6; i++)
		(void)fake_put(host, i);
	(void)shutdown(host->listener, SHUT_RDWR);
	fake_hang_up(host);
}

static void test_live__what_the_last_host_left_is_told_as_lost(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(end_with_the_keeper, 0, &seen, NULL), -ENOENT);
	assert_once_each(&seen, 0, PER_FLUSH);
	assert_int_equal(seen.losses, 1);
	assert_int_equal(seen.buffers_lost, 3);
}

/* One was empty, but for the last batch, which nobody gets. */
static void end_with_the_keeper_and_nothing_else(struct fake_host *host)
{
	fake_accept(host);
	(void)shutdown(host->listener, SHUT_RDWR);
	fake_hang_up(host);
}

static void test_live__an_end_that_nobody_tells_is_a_loss(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(end_with_the_keeper_and_nothing_else, 0, &seen, NULL), -ENOENT);
	assert_int_equal(seen.losses, 1);
	assert_int_equal(seen.buffers_lost, 1);
}

/* Its call lies in the queue of the socket meanwhile, and breaks with it. */
static void lose_the_keeper_while_called(struct fake_host *host)
{
	struct pollfd wait;

	fake_accept(host);
	fake_hang_up(host);
	wait = (struct pollfd){.fd = host->listener, .events = POLLIN};
	FAKE_ASSERT(poll(&wait, 1, FAKE_WAIT_MS) == 1);
	(void)close(host->listener);
	host->listener = -1;
}

static void test_live__a_call_ends_with_the_keeper(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(lose_the_keeper_while_called, 0, &seen, NULL), -ENOENT);
	assert_int_equal(seen.losses, 1);
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

static void answer_once(struct fake_host *host)
{
	fake_accept(host);
	fake_await_close(host);
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

static int attach_result(int status, struct wire_delivery *spoil, const uint8_t *header)
{
	struct fake_trace bytes = fake_trace_make(EVENTS, PER_FLUSH, 0);
	struct fake_host host = {
		.trace = &bytes, .script = answer_once, .subscribe_status = status, .spoil = spoil};
	struct etw_trace *trace;
	int result;

	if (header)
		memcpy(bytes.bytes, header, FAKE_BUFFER_BYTES);
	fake_start(&host);
	assert_int_equal(etw_trace_open_live("live", &trace), 0);
	result = etw_trace_attach(trace);
	if (!result) {
		assert_int_equal(etw_trace_attach(trace), 0);
		assert_string_equal(etw_trace_header(trace)->logger_name, "synthetic");
	}
	etw_trace_close(trace);
	fake_stop(&host);
	free(bytes.bytes);
	return result;
}

static void test_live__attaching_says_what_the_host_says(void **state)
{
	static const uint8_t no_header[FAKE_BUFFER_BYTES];
	const struct wire_delivery right = {.magic = WIRE_DELIVERY_MAGIC,
					    .version = 1,
					    .slot_count = FAKE_SLOTS,
					    .slot_bytes = FAKE_BUFFER_BYTES,
					    .slots_at = 4096};
	struct wire_delivery wrong;

	(void)state;
	assert_int_equal(attach_result(0, NULL, NULL), 0);
	assert_int_equal(attach_result(-ENOENT, NULL, NULL), -ENOENT);
	assert_int_equal(attach_result(-EINVAL, NULL, NULL), -EINVAL);
	assert_int_equal(attach_result(-EACCES, NULL, NULL), -EACCES);
	assert_int_equal(attach_result(-EBUSY, NULL, NULL), -EBUSY);
	assert_int_equal(attach_result(0, NULL, no_header), -EPROTO);
	wrong = right, wrong.magic = 1;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.version = 2;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.slot_count = 3;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.slot_count = 2 * FAKE_SLOTS;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.slot_bytes = 100;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.slots_at = 8;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
}

static void test_live__without_a_host_there_is_no_session(void **state)
{
	char folder[] = "/tmp/etw-nobody-XXXXXX";
	struct etw_trace *trace;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(setenv("ETW_RUNTIME_DIR", folder, 1), 0);
	assert_int_equal(etw_trace_open_live("live", &trace), 0);
	assert_int_equal(etw_trace_attach(trace), -ENOENT);
	etw_trace_close(trace);
	(void)rmdir(folder);
}

/* The first bytes of it are the session's name; all of it is nobody's. */
static void test_live__a_name_that_is_too_long_is_nobodys(void **state)
{
	static char name[WIRE_MESSAGE_NAME_MAX + 2];
	struct fake_trace bytes = fake_trace_make(EVENTS, PER_FLUSH, 0);
	struct fake_host host = {.trace = &bytes, .script = answer_once};
	struct etw_trace *trace;

	(void)state;
	memset(name, 'n', WIRE_MESSAGE_NAME_MAX + 1);
	fake_start(&host);
	assert_int_equal(etw_trace_open_live(name, &trace), 0);
	assert_int_equal(etw_trace_attach(trace), -ENOENT);
	etw_trace_close(trace);
	name[WIRE_MESSAGE_NAME_MAX] = '\0';
	assert_int_equal(etw_trace_open_live(name, &trace), 0);
	assert_int_equal(etw_trace_attach(trace), 0);
	etw_trace_close(trace);
	fake_stop(&host);
	free(bytes.bytes);
}

static void announce_what_was_given_back(struct fake_host *host)
{
	fake_accept(host);
	fake_batch(host, 1, 3, time_of(9));
	fake_await_release(host);
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
	fake_await_release(host);
	fake_batch(&second, 3, 5, time_of(19));
	fake_await_release(&second);
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
	assert_int_equal(seen.headers, 2);
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live__every_event_comes_in_order),
		cmocka_unit_test(test_live__what_is_not_promised_waits),
		cmocka_unit_test(test_live__the_end_delivers_the_rest),
		cmocka_unit_test(test_live__flags_become_losses),
		cmocka_unit_test(test_live__damage_is_left_out_and_told),
		cmocka_unit_test(test_live__a_new_host_goes_on),
		cmocka_unit_test(test_live__a_host_without_room_is_asked_again),
		cmocka_unit_test(test_live__what_is_lost_adds_up),
		cmocka_unit_test(test_live__a_host_that_dies_while_asked_is_waited_for),
		cmocka_unit_test(test_live__a_session_that_is_gone_is_over),
		cmocka_unit_test(test_live__what_the_last_host_left_is_told_as_lost),
		cmocka_unit_test(test_live__an_end_that_nobody_tells_is_a_loss),
		cmocka_unit_test(test_live__a_call_ends_with_the_keeper),
		cmocka_unit_test(test_live__callbacks_stop_a_pass),
		cmocka_unit_test(test_live__waking_asks_whether_to_go_on),
		cmocka_unit_test(test_live__attaching_says_what_the_host_says),
		cmocka_unit_test(test_live__without_a_host_there_is_no_session),
		cmocka_unit_test(test_live__a_name_that_is_too_long_is_nobodys),
		cmocka_unit_test(test_live__impossible_batches_end_the_pass),
		cmocka_unit_test(test_live__a_loss_has_a_time_when_no_event_came),
		cmocka_unit_test(test_live__a_backlog_keeps_its_order),
		cmocka_unit_test(test_live__a_promise_that_never_moves_does_not_stop_all),
		cmocka_unit_test(test_live__sessions_are_merged),
		cmocka_unit_test(test_live__a_session_that_lags_is_waited_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
