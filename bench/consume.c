/* SPDX-License-Identifier: MIT */
/*
 * consume [--quick] [FILE...]
 *
 * Reads traces in three ways: buffer by buffer without looking at events, by a pass in order of time whose
 * callback reads the header and one field, and by one pass over several. Prints events and MiB a second, and
 * the peak memory of the process that did it, which runs nothing else. Without files it makes some, in
 * $TMPDIR: about 5 GB, or 300 MB with --quick. docs/performance.md says what the figures were.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "consumer/trace.h"
#include "tests/synthetic/uniform.h"

#define TRACES_MAX 64
#define ROUNDS     3 /* the best one counts: others use the machine too */

struct totals {
	uint64_t events;
	uint64_t bytes;
	uint64_t sum; /* of what the callback read, so that it must be read */
	double seconds;
	int result;
};

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int count_buffer(void *context, const struct etw_etl_buffer *buffer, uint32_t event_count)
{
	struct totals *totals = context;

	totals->events += event_count;
	totals->sum += buffer->processor;
	return 0;
}

static int read_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct totals *totals = context;
	uint32_t field = 0;

	(void)trace;
	(void)address;
	if (record->UserDataLength >= sizeof(field))
		memcpy(&field, record->UserData, sizeof(field));
	totals->sum += (uint64_t)record->EventHeader.TimeStamp.QuadPart +
		       record->EventHeader.EventDescriptor.Id + record->EventHeader.ProcessId +
		       field;
	totals->events++;
	return 0;
}

static void walk(struct etw_trace *const *traces, size_t count, struct totals *totals)
{
	struct etw_trace_visitor visitor = {.context = totals, .buffer = count_buffer};

	for (size_t i = 0; i < count && !totals->result; i++)
		totals->result = etw_trace_each_buffer(traces[i], &visitor);
}

static void process(struct etw_trace *const *traces, size_t count, struct totals *totals)
{
	struct etw_trace_sink sink = {
		.context = totals, .event = read_event, .from_ft = INT64_MIN, .to_ft = INT64_MAX};

	totals->result = etw_trace_process(traces, count, &sink);
}

typedef void (*way)(struct etw_trace *const *traces, size_t count, struct totals *totals);

static struct totals run_once(char *const *paths, size_t count, way run)
{
	struct etw_trace *traces[TRACES_MAX];
	struct totals totals = {0};
	double start = now();
	size_t opened = 0;

	for (; opened < count && !totals.result; opened++) {
		totals.result = etw_trace_open(paths[opened], &traces[opened], NULL);
		if (totals.result)
			break;
		totals.bytes += etw_trace_bytes(traces[opened]);
	}
	if (!totals.result)
		run(traces, count, &totals);
	for (size_t i = 0; i < opened; i++)
		etw_trace_close(traces[i]);
	totals.seconds = now() - start;
	return totals;
}

/* In a process of its own, so that its peak memory is its own. */
static int measure(const char *name, char *const *paths, size_t count, way run)
{
	struct totals best = {0};
	struct rusage usage = {0};
	int ends[2], status = 0;

	(void)fflush(stdout);
	if (pipe(ends))
		return 1;
	pid_t child = fork();

	if (!child) {
		for (int i = 0; i < ROUNDS; i++) {
			struct totals totals = run_once(paths, count, run);

			if (!i || totals.seconds < best.seconds)
				best = totals;
		}
		_exit(write(ends[1], &best, sizeof(best)) != (ssize_t)sizeof(best));
	}
	(void)close(ends[1]);
	if (child < 0 || read(ends[0], &best, sizeof(best)) != (ssize_t)sizeof(best) ||
	    wait4(child, &status, 0, &usage) != child || status || best.result) {
		(void)close(ends[0]);
		printf("%-34s failed: %s\n", name, strerror(-best.result));
		return 1;
	}
	(void)close(ends[0]);
	printf("%-34s %11" PRIu64 " events  %7.2f M events/s  %7.0f MiB/s  %6.1f MiB peak\n", name,
	       best.events, (double)best.events / best.seconds * 1e-6,
	       (double)best.bytes / 1048576 / best.seconds, (double)usage.ru_maxrss / 1024);
	return 0;
}

static int measure_both(const char *name, char *path)
{
	char label[64];
	int result;

	(void)snprintf(label, sizeof(label), "%s, walk", name);
	result = measure(label, &path, 1, walk);
	(void)snprintf(label, sizeof(label), "%s, process", name);
	return result | measure(label, &path, 1, process);
}

static bool make(const char *folder, const char *name, const struct uniform *uniform,
		 char **ret_path)
{
	FILE *file;

	if (asprintf(ret_path, "%s/%s.etl", folder, name) < 0)
		return false;
	file = fopen(*ret_path, "wb+");
	if (!file)
		return false;
	uniform_write(uniform, file);
	return fclose(file) == 0;
}

static int measure_made(const char *folder, const struct uniform *uniform, const char *name)
{
	CLEANUP(freep) char *path = NULL;
	int result = 1;

	if (make(folder, "made", uniform, &path))
		result = measure_both(name, path);
	if (path)
		(void)unlink(path);
	return result;
}

static int measure_several(const char *folder, struct uniform uniform)
{
	char *paths[4] = {NULL};
	int result = 0;

	uniform.buffers /= ARRAY_SIZE(paths);
	for (size_t i = 0; i < ARRAY_SIZE(paths) && !result; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "made-%zu", i);
		result = !make(folder, name, &uniform, &paths[i]);
	}
	if (!result)
		result = measure("four files together, process", paths, ARRAY_SIZE(paths), process);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (paths[i])
			(void)unlink(paths[i]);
		free(paths[i]);
	}
	return result;
}

static int measure_all_made(bool is_quick)
{
	const char *temporary = getenv("TMPDIR");
	CLEANUP(freep) char *folder = NULL;
	struct uniform plain = UNIFORM_DEFAULT, odd, packed, million;
	int result = 0;

	if (asprintf(&folder, "%s/etw-bench-XXXXXX", temporary ? temporary : "/tmp") < 0 ||
	    !mkdtemp(folder))
		return 1;
	plain.buffers = is_quick ? 1024 : 8192;
	odd = packed = million = plain;
	odd.frequency = 2994853;
	packed.packing = MAKER_GREEDY;
	million.buffer_bytes = 4096;
	million.buffers = is_quick ? 50000 : 1000000;
	result |= measure_made(folder, &plain, "64 KiB buffers, 10 MHz");
	result |= measure_made(folder, &odd, "64 KiB buffers, 2994853 Hz");
	result |= measure_made(folder, &packed, "compressed");
	result |= measure_made(folder, &million, is_quick ? "50000 buffers" : "a million buffers");
	result |= measure_several(folder, plain);
	(void)rmdir(folder);
	return result;
}

int main(int argc, char **argv)
{
	bool is_quick = argc > 1 && !strcmp(argv[1], "--quick");
	int result = 0;

	if (argc - is_quick < 2)
		return measure_all_made(is_quick);
	for (int i = 1 + is_quick; i < argc; i++)
		result |= measure_both(strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i],
				       argv[i]);
	if (argc - is_quick > 2 && argc - is_quick <= TRACES_MAX)
		result |= measure("all together, process", argv + 1 + is_quick,
				  (size_t)(argc - 1 - is_quick), process);
	return result;
}
