/* SPDX-License-Identifier: MIT */
/* A pass over a session of a made-up host, for the tests of live traces. */
#ifndef ETW_TESTS_UNIT_CONSUMER_LIVE_TEST_H
#define ETW_TESTS_UNIT_CONSUMER_LIVE_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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
	unsigned late;          /* events older than one before them */
	int64_t last_raw, youngest_raw, loss_raw;
	int64_t from_ft; /* 0: all */
	unsigned stop_after;
	unsigned idles;
	int idle_result;
	uint32_t buffers_lost; /* as the header says in the end */
};

static inline int on_event(void *context, size_t trace, EVENT_RECORD *record,
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
	seen->late += time_raw < seen->youngest_raw;
	if (time_raw > seen->youngest_raw)
		seen->youngest_raw = time_raw;
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

static inline int on_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct seen *seen = context;

	(void)trace;
	(void)buffer;
	seen->buffers++;
	return 0;
}

static inline int on_idle(void *context)
{
	struct seen *seen = context;

	seen->idles++;
	return seen->idle_result;
}

static inline int run(struct etw_trace *const *traces, size_t count, struct seen *seen)
{
	struct etw_trace_sink sink = {.context = seen,
				      .event = on_event,
				      .buffer = on_buffer,
				      .idle = on_idle,
				      .from_ft = seen->from_ft ? seen->from_ft : INT64_MIN,
				      .to_ft = INT64_MAX};

	return etw_trace_process(traces, count, &sink);
}

static inline void assert_once_each(const struct seen *seen, unsigned from, unsigned to)
{
	assert_int_equal(seen->headers, 0); /* it is a file's alone */
	assert_int_equal(seen->ran_back, 0);
	for (unsigned i = 0; i < EVENTS; i++)
		assert_int_equal(seen->times[i], i >= from && i < to);
}

/* Opens the host's session, runs a pass, and closes both. */
static inline int run_script(void (*script)(struct fake_host *host), uint16_t flags,
			     struct seen *seen, struct etw_findings *ret_findings)
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

static inline int64_t time_of(unsigned event)
{
	return FAKE_T0_RAW + (int64_t)(event + 1) * FAKE_STEP_RAW;
}

static inline void deliver_all(struct fake_host *host)
{
	fake_accept(host);
	for (unsigned batch = 0; batch < EVENTS / PER_FLUSH; batch++) {
		fake_batch(host, 1 + 2 * batch, 3 + 2 * batch,
			   time_of((batch + 1) * PER_FLUSH - 1));
		fake_await_taken(host);
	}
	fake_end(host);
	fake_await_close(host);
	FAKE_ASSERT(!strcmp(host->asked.name, "live") && !host->asked.last_batch);
}

static inline void answer_once(struct fake_host *host)
{
	fake_accept(host);
	fake_await_close(host);
}

#endif
