/* SPDX-License-Identifier: MIT */
/* What a session costs: its memory, and the time of each EventWrite for one more. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "bench/end_to_end/bench.h"

#define BATCH  8000
#define ROUNDS 12

/* A number of kilobytes of a file in /proc; 0 when it is not there. */
static uint64_t read_kb(unsigned pid, const char *name, const char *key)
{
	char path[64], line[256];
	uint64_t value = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtoull(line + strlen(key), NULL, 10);
	}
	if (file)
		(void)fclose(file);
	return value;
}

/* The processes that hold the session's memory, each its share of what they have together. */
struct used {
	uint64_t host_kb, keeper_kb, own_kb;
};

static struct used measure_used(const struct bench_session *session)
{
	unsigned thread = (unsigned)(uintptr_t)session->block.properties.LoggerThreadId;
	unsigned host = (unsigned)read_kb(thread, "status", "Tgid:");
	unsigned keeper = (unsigned)read_kb(host, "status", "PPid:");

	return (struct used){.host_kb = read_kb(host, "smaps_rollup", "Pss:"),
			     .keeper_kb = read_kb(keeper, "smaps_rollup", "Pss:"),
			     .own_kb = read_kb((unsigned)getpid(), "smaps_rollup", "Pss:")};
}

static void measure_memory(const struct bench_options *options, ULONG mode, const char *name)
{
	struct bench_options small = *options, own = *options;
	struct bench_session base, session;
	struct bench_written written;
	struct bench_ended ended;
	struct used before, after;
	double asked, used;

	/* There is a host already, and all of its code that sessions run is in memory. */
	small.mib = 1;
	small.buffer_kib = 64;
	own.seconds = 0.2;
	bench_start(&small, 1, EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, &base);
	bench_write(&own, &written);
	before = measure_used(&base);
	bench_start(&own, 0, mode, 0, &session);
	if (mode & EVENT_TRACE_REAL_TIME_MODE)
		bench_consume(&session, NULL);
	bench_write(&own, &written);
	bench_flush(&session);
	after = measure_used(&session);
	bench_stop(&session, &ended);
	bench_stop(&base, &ended);
	asked = (double)session.block.properties.NumberOfBuffers * own.buffer_kib / 1024;
	used = ((double)(after.host_kb + after.keeper_kb + after.own_kb) -
		(double)(before.host_kb + before.keeper_kb + before.own_kb)) /
	       1024;
	printf("%-5s %5u buffers of %4u KiB: %7.1f MiB, used %7.1f MiB, %.2f of it; beyond it %.1f "
	       "MiB\n",
	       name, (unsigned)session.block.properties.NumberOfBuffers, own.buffer_kib, asked,
	       used, used / asked, used - asked);
}

void bench_memory(const struct bench_options *options)
{
	static const struct {
		uint32_t mib, buffer_kib;
	} rows[] = {{1, 4}, {1, 64}, {4, 64}, {16, 64}, {64, 64}, {256, 64}, {64, 4}, {64, 1024}};
	struct bench_options own = *options;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		own.mib = rows[i].mib;
		own.buffer_kib = rows[i].buffer_kib;
		measure_memory(&own, EVENT_TRACE_FILE_MODE_SEQUENTIAL, "file");
		measure_memory(&own, EVENT_TRACE_REAL_TIME_MODE, "live");
	}
}

static double thread_cpu_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Batches that fit the rings, which are emptied in between. Returns the best batch's ns an event. */
static double measure_writes(struct bench_session *sessions, uint32_t count)
{
	double best = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		double start = thread_cpu_ns(), ns;

		for (uint64_t j = 0; j < BATCH; j++)
			(void)bench_write_one(0, j);
		ns = (thread_cpu_ns() - start) / BATCH;
		best = i == 0 || ns < best ? ns : best;
		for (uint32_t j = 0; j < count; j++)
			bench_flush(&sessions[j]);
	}
	return best;
}

void bench_sessions(const struct bench_options *options)
{
	struct bench_session sessions[BENCH_SESSIONS_MAX];
	struct bench_options own = *options;
	struct bench_ended ended;
	double before = 0;

	own.providers = 1;
	own.mib = 8;
	own.buffer_kib = 64;
	for (uint32_t count = 0; count <= BENCH_SESSIONS_MAX; count++) {
		double ns;

		if (count > 0)
			bench_start(&own, count, EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0,
				    &sessions[count - 1]);
		ns = measure_writes(sessions, count);
		printf("enabled in %u sessions: %6.1f ns an event", count, ns);
		if (count > 0)
			printf(", one more costs %.1f", ns - before);
		printf("\n");
		before = ns;
	}
	for (uint32_t i = 0; i < BENCH_SESSIONS_MAX; i++) {
		bench_stop(&sessions[i], &ended);
		if (ended.events_lost)
			printf("  NOTE: session %u lost %" PRIu64 " events\n", i + 1,
			       ended.events_lost);
	}
}
