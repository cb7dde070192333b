/* SPDX-License-Identifier: MIT */
/*
 * ring
 *
 * What one event costs a writer: reserve, copy of header and payload, commit, by payload and by the number of
 * threads, while a reader drains the rings. It is the threads' CPU time, without the time in which the reader
 * did not keep up (those refusals are counted). Beside it what the clock alone costs and what the same copy
 * costs without a ring. Each figure is the best of several runs; the worst says how much others used the
 * machine.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "ring/reader.h"
#include "ring/writer.h"
#include "wire/etl_event.h"

#define ROUNDS       7
#define EVENTS       2000000
#define THREADS_MAX  64
#define BUFFER_COUNT 64
#define BUFFER_BYTES 65536

struct bench {
	struct wire_clock_page page;
	struct etw_clock_page clock;
	struct etw_ring_set set;
	struct etw_ring_durable *durables;
	struct etw_ring_reader **readers;
	uint32_t payload_bytes;
	uint32_t threads;
	uint32_t is_done; /* atomic */
	uint64_t taken;
	pthread_barrier_t start;
};

struct writer {
	struct bench *bench;
	pthread_t thread;
	uint64_t refused;
	double ns;
};

static double read_clock(clockid_t clock)
{
	struct timespec time;

	(void)clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* The calling thread's: what it pays is asked for, not what it waits for a processor. */
static double cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Into the place itself: a header that is made on the stack and copied waits for its own stores. */
static inline void lay_out(uint8_t *at, uint32_t bytes, int64_t time_raw, const uint8_t *payload)
{
	memset(at, 0, sizeof(struct wire_event_header));
	etw_store32(at, bytes | (uint32_t)WIRE_HEADER_EVENT64 << 16 |
				(uint32_t)WIRE_EVENT_FLAG_TRACE << 24);
	etw_store64(at + offsetof(struct wire_event_header, time_raw), (uint64_t)time_raw);
	memcpy(at + sizeof(struct wire_event_header), payload,
	       bytes - sizeof(struct wire_event_header));
}

/* Lets the reader work until an event finds room; the time that this takes is not the writer's. */
static double wait_for_room(struct writer *writer, uint32_t bytes, struct etw_ring_span *ret)
{
	double start = cpu_ns();

	do {
		writer->refused++;
		(void)usleep(500);
	} while (etw_ring_reserve(&writer->bench->set, &writer->bench->clock, bytes, ret));
	return cpu_ns() - start;
}

static void *write_events(void *context)
{
	struct writer *writer = context;
	struct bench *bench = writer->bench;
	uint32_t bytes = (uint32_t)sizeof(struct wire_event_header) + bench->payload_bytes;
	uint8_t payload[1024] = {1};
	double start, waited = 0;

	(void)pthread_barrier_wait(&bench->start);
	start = cpu_ns();
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct etw_ring_span span;

		if (etw_ring_reserve(&bench->set, &bench->clock, bytes, &span))
			waited += wait_for_room(writer, bytes, &span);
		lay_out(span.at, bytes, span.time_raw, payload);
		etw_ring_commit(&span);
	}
	writer->ns = (cpu_ns() - start - waited) / EVENTS;
	return NULL;
}

/* Reads as fast as it can, and copies nothing: the writers are what is measured. */
static uint64_t drain(struct bench *bench)
{
	struct etw_ring_event event;
	uint64_t taken = 0;

	for (uint32_t cpu = 0; cpu < bench->set.cpu_count; cpu++) {
		struct etw_ring_reader *reader = bench->readers[cpu];

		if (etw_ring_reader_look(reader, ETW_RING_LOOK_CLOSED, 0))
			abort();
		for (; etw_ring_reader_peek(reader, (uint64_t)now_ns(), &event) == 0; taken++)
			etw_ring_reader_take(reader, true);
		etw_ring_reader_release(reader);
	}
	return taken;
}

static void *read_events(void *context)
{
	struct bench *bench = context;

	while (!load_acquire(&bench->is_done)) {
		bench->taken += drain(bench);
		(void)usleep(200);
	}
	return NULL;
}

static int open_rings(struct bench *bench)
{
	struct etw_ring_set_config config = {.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
					     .buffer_count = BUFFER_COUNT,
					     .buffer_bytes = BUFFER_BYTES,
					     .clock_type = ETW_CLOCK_QPC};
	struct etw_ring_set_fds fds;

	bench->page = (struct wire_clock_page){.kind = WIRE_CLOCK_TSC, .frequency = 1};
	bench->clock.page = &bench->page;
	TRY(etw_ring_set_create(&config, &fds));
	TRY(etw_ring_set_map(&fds, &bench->set));
	etw_ring_set_close(&fds);
	bench->durables = calloc(config.cpu_count, sizeof(*bench->durables));
	bench->readers = calloc(config.cpu_count, sizeof(struct etw_ring_reader *));
	if (!bench->durables || !bench->readers)
		return -ENOMEM;
	for (uint32_t i = 0; i < config.cpu_count; i++)
		TRY(etw_ring_reader_open(&bench->set, i, &bench->durables[i],
					 (struct etw_ring_position){0}, &bench->readers[i]));
	return 0;
}

static void close_rings(struct bench *bench)
{
	for (uint32_t i = 0; i < bench->set.cpu_count; i++)
		etw_ring_reader_close(bench->readers[i]);
	free(bench->durables);
	free((void *)bench->readers);
	etw_ring_set_unmap(&bench->set);
}

/* One run. Returns ns for an event, the mean of the threads. */
static double run(struct bench *bench, uint64_t *ret_refused)
{
	struct writer writers[THREADS_MAX] = {0};
	pthread_t reader;
	double ns = 0;

	bench->is_done = 0;
	*ret_refused = 0;
	(void)pthread_barrier_init(&bench->start, NULL, bench->threads);
	if (pthread_create(&reader, NULL, read_events, bench))
		abort();
	for (uint32_t i = 0; i < bench->threads; i++) {
		writers[i].bench = bench;
		if (pthread_create(&writers[i].thread, NULL, write_events, &writers[i]))
			abort();
	}
	for (uint32_t i = 0; i < bench->threads; i++) {
		(void)pthread_join(writers[i].thread, NULL);
		ns += writers[i].ns / bench->threads;
		*ret_refused += writers[i].refused;
	}
	store_release(&bench->is_done, 1u);
	(void)pthread_join(reader, NULL);
	bench->taken += drain(bench);
	(void)pthread_barrier_destroy(&bench->start);
	return ns;
}

static int measure(uint32_t threads, uint32_t payload_bytes)
{
	struct bench bench = {.threads = threads, .payload_bytes = payload_bytes};
	double best = 0, worst = 0;
	uint64_t refused = 0, all_refused = 0;

	if (open_rings(&bench))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		double ns = run(&bench, &refused);

		best = !i || ns < best ? ns : best;
		worst = ns > worst ? ns : worst;
		all_refused += refused;
	}
	printf("%2u threads, %4u bytes of payload: %6.1f ns an event (worst run %.1f), "
	       "%" PRIu64 " taken, %" PRIu64 " refused\n",
	       threads, payload_bytes, best, worst, bench.taken, all_refused);
	close_rings(&bench);
	return 0;
}

/* Reserve and commit in one buffer's reach, without copying, reader or second thread. */
static void measure_reserve(void)
{
	struct bench bench = {.threads = 1};
	double best = 0;
	uint64_t refused = 0;

	if (open_rings(&bench))
		return;
	for (int i = 0; i < ROUNDS * 20; i++) {
		const uint32_t events = BUFFER_BYTES / 64 * (BUFFER_COUNT - 2);
		double start = now_ns(), ns;

		for (uint32_t j = 0; j < events; j++) {
			struct etw_ring_span span;

			if (etw_ring_reserve(&bench.set, &bench.clock, 64, &span)) {
				refused++;
				continue;
			}
			etw_store16(span.at, 64);
			etw_ring_commit(&span);
		}
		ns = (now_ns() - start) / events;
		best = !i || ns < best ? ns : best;
		bench.taken += drain(&bench);
	}
	printf("reserve, size, commit of 64 bytes:  %6.1f ns, %" PRIu64 " refused\n", best,
	       refused);
	close_rings(&bench);
}

static void measure_clock(void)
{
	struct wire_clock_page page = {.kind = WIRE_CLOCK_TSC};
	struct etw_clock_page clock = {.page = &page};
	double best = 0, best_copy = 0;
	uint8_t target[256], payload[256] = {1};

	for (int i = 0; i < ROUNDS; i++) {
		double start = now_ns(), ns;

		for (uint32_t j = 0; j < EVENTS; j++)
			(void)etw_clock_now(&clock, ETW_CLOCK_QPC);
		ns = (now_ns() - start) / EVENTS;
		best = !i || ns < best ? ns : best;
		start = now_ns();
		for (uint32_t j = 0; j < EVENTS; j++) {
			lay_out(target, sizeof(struct wire_event_header) + 16, (int64_t)j, payload);
			__asm__ volatile("" : : "r"(target) : "memory");
		}
		ns = (now_ns() - start) / EVENTS;
		best_copy = !i || ns < best_copy ? ns : best_copy;
	}
	printf("clock alone:                        %6.1f ns\n", best);
	printf("copy alone, 16 bytes of payload:    %6.1f ns\n", best_copy);
}

int main(void)
{
	static const uint32_t payloads[] = {8, 64, 256};
	static const uint32_t threads[] = {1, 2, 4, 8};
	int result = 0;

	printf("%ld processors, %d buffers of %d bytes a ring, best of %d runs of %d events a "
	       "thread\n",
	       sysconf(_SC_NPROCESSORS_ONLN), BUFFER_COUNT, BUFFER_BYTES, ROUNDS, EVENTS);
	measure_clock();
	measure_reserve();
	for (size_t i = 0; i < ARRAY_SIZE(payloads) && !result; i++)
		result = measure(1, payloads[i]);
	for (size_t i = 1; i < ARRAY_SIZE(threads) && !result; i++)
		result = measure(threads[i], 64);
	return result;
}
