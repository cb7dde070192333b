/* SPDX-License-Identifier: MIT */
/* Events a second, from EventWrite to the end of the line. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <winerror.h>

#include "base/macros.h"
#include "bench/end_to_end/bench.h"

#define RAW_BYTES (UINT64_C(512) << 20)

struct rate {
	double tried, recorded; /* millions a second */
	double lost_pct;
	double thread_ns;  /* of the session's thread, an event that was recorded */
	double file_bytes; /* a second */
};

double bench_raw(uint32_t buffer_bytes)
{
	uint8_t *buffer = calloc(1, buffer_bytes);
	uint64_t start_ns;
	char path[96];
	double took;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/raw", bench_home);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	start_ns = bench_now_ns();
	for (uint64_t at = 0; at < RAW_BYTES; at += buffer_bytes) {
		if (!buffer || pwrite(fd, buffer, buffer_bytes, (off_t)at) != (ssize_t)buffer_bytes)
			bench_check(ERROR_WRITE_FAULT, "pwrite");
	}
	took = (double)(bench_now_ns() - start_ns) / 1e9;
	close(fd);
	(void)unlink(path);
	free(buffer);
	return (double)RAW_BYTES / took;
}

static void measure(const struct bench_options *options, ULONG mode, struct rate *ret)
{
	struct bench_session session;
	struct bench_written written;
	struct bench_ended ended;
	uint64_t tried, recorded;
	double seconds;

	bench_start(options, 0, mode, 0, &session);
	if (mode & EVENT_TRACE_REAL_TIME_MODE)
		bench_consume(&session, NULL);
	bench_write(options, &written);
	bench_stop(&session, &ended);
	/* What was put off to the end counts: there is nothing gained by buffers that are written later. */
	seconds = written.seconds + ended.took;
	tried = written.written + written.refused;
	recorded = mode & EVENT_TRACE_REAL_TIME_MODE ? ended.delivered : tried - ended.events_lost;
	*ret = (struct rate){
		.tried = (double)tried / written.seconds / 1e6,
		.recorded = (double)recorded / seconds / 1e6,
		.lost_pct = 100.0 * (double)(tried - recorded) / (double)tried,
		.thread_ns = ended.thread_seconds / (double)recorded * 1e9,
		.file_bytes = (double)ended.buffers_written * session.buffer_bytes / seconds,
	};
	if (tried - written.refused != written.written || recorded > written.written ||
	    (ended.real_time_buffers_lost == 0 && recorded + ended.events_lost != tried))
		printf("  NOTE: %" PRIu64 " tried, %" PRIu64 " refused, %" PRIu64
		       " recorded, %" PRIu64 " lost\n",
		       tried, written.refused, recorded, ended.events_lost);
}

static void print_head(void)
{
	printf("%-5s %-12s %6s %9s %12s %8s %11s\n", "to", "writers", "bytes", "tried M/s",
	       "recorded M/s", "lost %", "thread ns");
}

static void print_rate(const char *name, const struct bench_options *options,
		       const struct rate *rate)
{
	char writers[32];

	(void)snprintf(writers, sizeof(writers), "%u %s", options->writers,
		       options->is_processes ? "processes" : "threads");
	printf("%-5s %-12s %6u %9.2f %12.2f %8.3f %11.1f", name, writers, options->bytes,
	       rate->tried, rate->recorded, rate->lost_pct, rate->thread_ns);
}

/* With a file: plain writes before and after, as the machine's speed for that changes by the minute. */
static void measure_and_print(const char *name, const struct bench_options *options, ULONG mode)
{
	bool has_file = mode & EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	double raw = has_file ? bench_raw(options->buffer_kib * 1024) / 2 : 0;
	struct rate rate;

	measure(options, mode, &rate);
	if (has_file)
		raw += bench_raw(options->buffer_kib * 1024) / 2;
	print_rate(name, options, &rate);
	if (has_file)
		printf("  file %.0f MB/s, %.2f of plain writes", rate.file_bytes / 1e6,
		       rate.file_bytes / raw);
	printf("\n");
}

void bench_rates(const char *name, const struct bench_options *options, ULONG mode)
{
	print_head();
	measure_and_print(name, options, mode);
}

static void measure_each_way(const struct bench_options *options)
{
	measure_and_print("live", options, EVENT_TRACE_REAL_TIME_MODE);
	measure_and_print("file", options, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	measure_and_print("both", options,
			  EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_FILE_MODE_SEQUENTIAL);
}

void bench_by_size(const struct bench_options *options)
{
	static const uint32_t sizes[] = {16, BENCH_THREE_FIELDS, 64, 256, 1024, 4096, 8192};
	struct bench_options own = *options;

	print_head();
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		own.bytes = sizes[i];
		measure_each_way(&own);
	}
}

void bench_by_writers(const struct bench_options *options)
{
	struct bench_options own = *options;

	print_head();
	for (int is_processes = 0; is_processes < 2; is_processes++) {
		own.is_processes = is_processes;
		for (own.writers = 1; own.writers <= 8; own.writers *= 2)
			measure_each_way(&own);
	}
}

void bench_curve(const struct bench_options *options)
{
	static const double rates[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16};
	struct bench_options own = *options;

	print_head();
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		own.rate = rates[i] * 1e6;
		printf("load %4.1f M/s\n", rates[i]);
		measure_each_way(&own);
	}
}
