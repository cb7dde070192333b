/* SPDX-License-Identifier: MIT */
/* How long an event is on its way to a real-time callback. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "bench/end_to_end/bench.h"

#define SAMPLES_MAX  (1 << 20)
#define PACED_EVENTS 10000 /* a second */
#define WAKE_EVENTS  200
#define WAKE_REST_US 3000

static struct {
	uint64_t *ns;   /* owned */
	uint32_t count; /* atomic */
} samples;

static void WINAPI take_sample(PEVENT_RECORD record)
{
	uint64_t time_ns;
	uint32_t count = samples.count;

	if (record->EventHeader.EventDescriptor.Id != BENCH_EVENT_ID || count == SAMPLES_MAX)
		return;
	memcpy(&time_ns, record->UserData, sizeof(time_ns));
	samples.ns[count] = bench_now_ns() - time_ns;
	store_release(&samples.count, count + 1);
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void print_samples(const char *what, ULONG flush_ms)
{
	uint32_t count = samples.count;

	qsort(samples.ns, count, sizeof(*samples.ns), compare);
	if (count == 0)
		return;
	printf("%s, flush timer %4u ms: least %.3f, median %.3f, 99%% %.3f, most %.3f ms; %u "
	       "events\n",
	       what, (unsigned)flush_ms, (double)samples.ns[0] / 1e6,
	       (double)samples.ns[count / 2] / 1e6,
	       (double)samples.ns[(uint64_t)count * 99 / 100] / 1e6,
	       (double)samples.ns[count - 1] / 1e6, count);
}

static void open_samples(void)
{
	if (!samples.ns)
		samples.ns = calloc(SAMPLES_MAX, sizeof(*samples.ns));
	if (!samples.ns)
		bench_check(ERROR_OUTOFMEMORY, "samples");
	store_relaxed(&samples.count, 0u);
}

static void measure_paced(const struct bench_options *options, ULONG flush_ms)
{
	struct bench_options paced = *options;
	struct bench_session session;
	struct bench_written written;
	struct bench_ended ended;

	paced.rate = PACED_EVENTS;
	paced.writers = 1;
	paced.bytes = BENCH_THREE_FIELDS;
	paced.is_timed = true;
	open_samples();
	bench_start(&paced, 0, EVENT_TRACE_REAL_TIME_MODE, flush_ms, &session);
	bench_consume(&session, take_sample);
	bench_write(&paced, &written);
	bench_stop(&session, &ended);
	print_samples("10,000 events/s", flush_ms);
}

void bench_latency(const struct bench_options *options)
{
	measure_paced(options, 1);
	measure_paced(options, 10);
	measure_paced(options, 1000);
}

/* One event at a time, each when the one before has arrived: everybody sleeps in between. */
static void measure_wake(const struct bench_options *options, ULONG flush_ms, bool is_flushed)
{
	struct bench_session session;
	struct bench_ended ended;

	open_samples();
	bench_start(options, 0, EVENT_TRACE_REAL_TIME_MODE, flush_ms, &session);
	bench_consume(&session, take_sample);
	for (uint32_t i = 0; i < WAKE_EVENTS; i++) {
		/* At another moment of the timer's period each time. */
		usleep(WAKE_REST_US + i * 37 % 1000);
		bench_check(bench_write_one(bench_now_ns(), i), "EventWrite");
		if (is_flushed)
			bench_flush(&session);
		while (load_acquire(&samples.count) <= i)
			usleep(20);
	}
	bench_stop(&session, &ended);
	print_samples(is_flushed ? "one event and FlushTrace" : "one event", flush_ms);
}

void bench_wake(const struct bench_options *options)
{
	measure_wake(options, 1000, /* is_flushed= */ true);
	measure_wake(options, 1, /* is_flushed= */ false);
	measure_wake(options, 10, /* is_flushed= */ false);
	measure_wake(options, 100, /* is_flushed= */ false);
}
