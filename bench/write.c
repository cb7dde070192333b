/* SPDX-License-Identifier: MIT */
/*
 * write
 *
 * What one EventWrite costs, through the shared library as programs call it: by payload, threads and
 * sessions, and what it costs when nobody listens. It is the threads' CPU time for batches of events that fit
 * the rings, which are emptied between batches. Each figure is the best of several rounds; the worst says how
 * much others used the machine. The last line is for scripts: the figure that other recorders are compared with.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <evntprov.h>

#include "base/macros.h"
#include "tests/fake_host/fake_host.h"

#define ROUNDS       40
#define BATCH        8000
#define THREADS_MAX  2
#define SESSIONS_MAX 2
#define BUFFER_COUNT 160
#define BUFFER_BYTES 65528
#define DISABLED_RUN 20000000

static const GUID provider_id = {0xBE, 0xEF, 1, {2, 3, 4, 5, 6, 7, 8, 9}};
static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4, .Keyword = 1};

static struct fake_host host;
static struct fake_session sessions[SESSIONS_MAX];
static REGHANDLE provider;

struct figure {
	double best_ns, worst_ns;
};

struct writer {
	pthread_t thread;
	pthread_barrier_t *step;
	uint32_t payload_bytes;
	uint64_t refused;
	struct figure figure;
};

static void fail(const char *what)
{
	fprintf(stderr, "write: %s\n", what);
	exit(1);
}

/* The calling thread's: what it pays is asked for, not what it waits for a processor. */
static double cpu_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void note(struct figure *figure, double ns)
{
	if (figure->best_ns == 0 || ns < figure->best_ns)
		figure->best_ns = ns;
	if (ns > figure->worst_ns)
		figure->worst_ns = ns;
}

/* 26 bytes are three fields: two numbers and ten bytes of text; else it is one field or none. */
static uint64_t write_batch(uint32_t payload_bytes)
{
	static const char text[200];
	EVENT_DATA_DESCRIPTOR data[3];
	uint64_t refused = 0;

	for (uint64_t i = 0; i < BATCH; i++) {
		uint64_t square = i * i;
		ULONG count = payload_bytes ? 1 : 0;

		if (payload_bytes == 26) {
			EventDataDescCreate(&data[0], &i, sizeof(i));
			EventDataDescCreate(&data[1], &square, sizeof(square));
			EventDataDescCreate(&data[2], text, 10);
			count = 3;
		} else {
			EventDataDescCreate(&data[0], text, payload_bytes);
		}
		refused += EventWrite(provider, &descriptor, count, data) != 0;
	}
	return refused;
}

static void *write_rounds(void *context)
{
	struct writer *writer = context;

	for (int i = 0; i < ROUNDS; i++) {
		double before;

		(void)pthread_barrier_wait(writer->step);
		before = cpu_ns();
		writer->refused += write_batch(writer->payload_bytes);
		note(&writer->figure, (cpu_ns() - before) / BATCH);
		(void)pthread_barrier_wait(writer->step);
	}
	return NULL;
}

static uint64_t drain(unsigned session_count)
{
	uint64_t taken = 0;

	for (unsigned i = 0; i < session_count; i++)
		taken += (uint64_t)fake_session_take(&sessions[i], NULL, NULL);
	return taken;
}

/* The mean of the threads' bests. */
static double measure(uint32_t payload_bytes, unsigned threads, unsigned session_count)
{
	struct writer writers[THREADS_MAX] = {{0}};
	pthread_barrier_t step;
	uint64_t taken = 0;
	double best = 0;
	double worst = 0;
	uint64_t refused = 0;

	(void)pthread_barrier_init(&step, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++) {
		writers[i].step = &step;
		writers[i].payload_bytes = payload_bytes;
		if (pthread_create(&writers[i].thread, NULL, write_rounds, &writers[i]))
			fail("no thread");
	}
	for (int i = 0; i < ROUNDS; i++) {
		(void)pthread_barrier_wait(&step);
		(void)pthread_barrier_wait(&step);
		taken += drain(session_count);
	}
	for (unsigned i = 0; i < threads; i++) {
		(void)pthread_join(writers[i].thread, NULL);
		best += writers[i].figure.best_ns / threads;
		worst = writers[i].figure.worst_ns > worst ? writers[i].figure.worst_ns : worst;
		refused += writers[i].refused;
	}
	(void)pthread_barrier_destroy(&step);
	printf("  %3u bytes, %u thread%s, %u session%s   %7.1f ns   worst %7.1f\n", payload_bytes,
	       threads, threads > 1 ? "s" : " ", session_count, session_count > 1 ? "s" : " ", best,
	       worst);
	if (refused || taken != (uint64_t)threads * ROUNDS * BATCH * session_count)
		printf("    %" PRIu64 " refused, %" PRIu64 " taken\n", refused, taken);
	return best;
}

static double measure_clock(void)
{
	struct figure figure = {0};
	int64_t sum = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double before = cpu_ns();

		for (int i = 0; i < BATCH; i++)
			sum += etw_clock_now(&host.clock, ETW_CLOCK_QPC) & 1;
		note(&figure, (cpu_ns() - before) / BATCH);
	}
	printf("  the clock alone                  %7.1f ns%s\n", figure.best_ns,
	       sum < 0 ? "?" : "");
	return figure.best_ns;
}

/* What code that mc or TraceLogging makes has in front of its call: a flag that the callback keeps. */
static volatile uint32_t is_enabled;

static void measure_disabled(void)
{
	EVENT_DATA_DESCRIPTOR data;
	uint64_t written = 0;
	double before, inline_ns, call_ns, test_ns;

	EventDataDescCreate(&data, &written, sizeof(written));
	before = cpu_ns();
	for (int i = 0; i < DISABLED_RUN; i++) {
		if (is_enabled)
			written += EventWrite(provider, &descriptor, 1, &data);
		__asm__ volatile("" ::: "memory");
	}
	inline_ns = (cpu_ns() - before) / DISABLED_RUN;
	before = cpu_ns();
	for (int i = 0; i < DISABLED_RUN; i++)
		written += EventWrite(provider, &descriptor, 1, &data);
	call_ns = (cpu_ns() - before) / DISABLED_RUN;
	before = cpu_ns();
	for (int i = 0; i < DISABLED_RUN; i++)
		written += EventProviderEnabled(provider, 4, 1);
	test_ns = (cpu_ns() - before) / DISABLED_RUN;
	printf("disabled\n");
	printf("  a flag of the program            %7.2f ns\n", inline_ns);
	printf("  EventWrite                       %7.2f ns\n", call_ns);
	printf("  EventProviderEnabled             %7.2f ns%s\n", test_ns, written ? " ?" : "");
}

static void enable(unsigned index)
{
	if (fake_session_open(&sessions[index], index + 1, BUFFER_COUNT, BUFFER_BYTES, 0) < 0 ||
	    fake_host_enable(&host, &provider_id, &sessions[index],
			     (struct fake_wish){.level = 5}) < 0)
		fail("cannot enable");
}

int main(void)
{
	static const uint32_t payloads[] = {0, 26, 200};
	double reference = 0;
	double clock_ns;

	if (fake_host_init(&host) < 0 || fake_host_start(&host) < 0)
		fail("no host");
	if (EventRegister(&provider_id, NULL, NULL, &provider))
		fail("EventRegister");
	measure_disabled();
	printf("enabled, per event\n");
	clock_ns = measure_clock();
	for (unsigned s = 0; s < SESSIONS_MAX; s++) {
		enable(s);
		for (unsigned t = 1; t <= THREADS_MAX; t++) {
			for (size_t i = 0; i < ARRAY_SIZE(payloads); i++) {
				double ns = measure(payloads[i], t, s + 1);

				if (payloads[i] == 26 && t == 1 && s == 0)
					reference = ns;
			}
		}
	}
	printf("26 bytes in three fields, beside the clock alone: %.1f times\n",
	       reference / clock_ns);
	printf("etw-ns-per-event %.2f\n", reference);
	(void)EventUnregister(provider);
	fake_host_leave(&host);
	fake_host_done(&host);
	return 0;
}
