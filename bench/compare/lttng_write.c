/* SPDX-License-Identifier: MIT */
/*
 * lttng_write [SECONDS BYTES THREADS]
 *
 * What one event costs LTTng-UST, written as bench/write writes: batches of the same number of events, on as
 * many threads, timed by the threads' CPU time, the best of as many rounds. Run by run_lttng, which makes the
 * session; without one it says what a disabled tracepoint costs. With SECONDS it writes events of BYTES (26: the
 * three fields) at full speed for so long, on THREADS threads, and says how many those were and how long it took.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lttng_write_events.h"

#define ROUNDS      40
#define BATCH       8000
#define THREADS_MAX 64
#define BYTES_MAX   65536

struct writer {
	pthread_t thread;
	pthread_barrier_t *step;
	int payload_bytes;
	double best_ns;
};

/* The calling thread's, as in bench/write. */
static double cpu_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void write_batch(int payload_bytes)
{
	static const char text[200];

	for (uint64_t i = 0; i < BATCH; i++) {
		if (payload_bytes == 26)
			lttng_ust_tracepoint(etw_compare, three_fields, i, i * i, text);
		else
			lttng_ust_tracepoint(etw_compare, text_200, text);
	}
}

static void *write_rounds(void *context)
{
	struct writer *writer = context;

	for (int i = 0; i < ROUNDS; i++) {
		double before, ns;

		(void)pthread_barrier_wait(writer->step);
		before = cpu_ns();
		write_batch(writer->payload_bytes);
		ns = (cpu_ns() - before) / BATCH;
		if (writer->best_ns == 0 || ns < writer->best_ns)
			writer->best_ns = ns;
	}
	return NULL;
}

static double measure(int payload_bytes, unsigned threads)
{
	struct writer writers[THREADS_MAX];
	pthread_barrier_t step;
	double best = 0;

	memset(writers, 0, sizeof(writers));
	(void)pthread_barrier_init(&step, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		writers[i].step = &step;
		writers[i].payload_bytes = payload_bytes;
		if (pthread_create(&writers[i].thread, NULL, write_rounds, &writers[i]))
			return 0;
	}
	for (unsigned i = 0; i < threads; i++) {
		(void)pthread_join(writers[i].thread, NULL);
		best += writers[i].best_ns / threads;
	}
	(void)pthread_barrier_destroy(&step);
	printf("  %3d bytes, %u thread%s              %7.1f ns\n", payload_bytes, threads,
	       threads > 1 ? "s" : " ", best);
	return best;
}

static int is_over; /* atomic */
static uint32_t sized_bytes;

static void *write_on(void *context)
{
	static const uint8_t bytes[BYTES_MAX];
	unsigned long long *written = context;
	unsigned long long count = 0;

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		if (sized_bytes == 26)
			lttng_ust_tracepoint(etw_compare, three_fields, count, count * count,
					     (const char *)bytes);
		else
			lttng_ust_tracepoint(etw_compare, sized, bytes, sized_bytes);
		count++;
	}
	*written = count;
	return NULL;
}

static double wall_seconds(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int write_for(double seconds, unsigned count)
{
	const struct timespec time = {.tv_sec = (time_t)seconds,
				      .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
	unsigned long long written[THREADS_MAX] = {0}, sum = 0;
	pthread_t threads[THREADS_MAX];
	double start = wall_seconds();

	for (unsigned i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, write_on, &written[i]))
			return 1;
	}
	(void)nanosleep(&time, NULL);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < count; i++) {
		(void)pthread_join(threads[i], NULL);
		sum += written[i];
	}
	printf("lttng-tried %llu %.3f\n", sum, wall_seconds() - start);
	return 0;
}

int main(int argc, char **argv)
{
	double reference;

	if (argc == 4) {
		unsigned count = (unsigned)atoi(argv[3]);

		sized_bytes = (uint32_t)atoi(argv[2]);
		if (count < 1 || count > THREADS_MAX || sized_bytes > BYTES_MAX)
			return 2;
		return write_for(atof(argv[1]), count);
	}
	printf("LTTng-UST, %s, per event\n",
	       lttng_ust_tracepoint_enabled(etw_compare, three_fields) ? "enabled" : "disabled");
	reference = measure(26, 1);
	(void)measure(200, 1);
	(void)measure(26, 2);
	(void)measure(200, 2);
	printf("lttng-ns-per-event %.2f\n", reference);
	return 0;
}
