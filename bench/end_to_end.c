/* SPDX-License-Identifier: MIT */
/*
 * end_to_end [--seconds S] [--mib N] [--providers N] [--threads N] [--rate N] [live|file|both|latency|raw]...
 *
 * From EventWrite to the end of the line, through the public API and a host of its own: threads write events of
 * three fields (26 bytes) for several providers, into one session that delivers live, to a file on tmpfs, or
 * both. Prints events a second that were written, that arrived and that were lost, at full speed or at
 * --rate events a second in total. `latency` prints the time from EventWrite to the callback at 10,000 events
 * a second, by flush timer; `raw` how fast this machine takes plain writes of a buffer's size into the same
 * file system, as events of that size. docs/performance.md says what the figures were.
 */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <errhandlingapi.h>
#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>

#include "base/atomic.h"

#define PROVIDERS_MAX 64
#define THREADS_MAX   64
#define SAMPLES_MAX   (1 << 20)

struct options {
	double seconds;
	ULONG mib;
	int providers;
	int threads;
	double rate;   /* all threads together; 0: full speed */
	bool is_timed; /* each event carries the time */
};

struct writer {
	const struct options *options;
	pthread_t thread;
	uint64_t written, refused;
};

struct payload {
	uint64_t time_ns; /* three fields as a provider writes them: u64, u64, and ten bytes */
	uint64_t number;
	char text[10];
};

static REGHANDLE providers[PROVIDERS_MAX];
static uint32_t is_over; /* atomic */
static char home[64];

static struct {
	uint64_t received;
	uint64_t latency_count;
	uint64_t *latency_ns;
} consumer;

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void check(ULONG error, const char *what)
{
	if (error) {
		fprintf(stderr, "end_to_end: %s: error %u\n", what, (unsigned)error);
		exit(1);
	}
}

static GUID provider_guid(int index)
{
	GUID guid = {0x9b1f36a0, 0x7c11, 0x4d0c, {0x8e, 0x2a, 0x55, 0x10, 0xcc, 0x37, 0x40, 0x00}};

	guid.Data4[7] = (unsigned char)index;
	return guid;
}

static void pace(const struct options *options, uint64_t start_ns, uint64_t written)
{
	uint64_t due = start_ns +
		       (uint64_t)((double)written * options->threads / options->rate * 1e9);

	while (now_ns() < due && !load_relaxed(&is_over))
		usleep(100);
}

static void *write_events(void *argument)
{
	struct writer *writer = argument;
	const struct options *options = writer->options;
	EVENT_DESCRIPTOR descriptor = {.Id = 3, .Level = 4, .Keyword = 1};
	struct payload payload = {.text = "a message"};
	EVENT_DATA_DESCRIPTOR data[3];
	uint64_t start_ns = now_ns();

	EventDataDescCreate(&data[0], &payload.time_ns, sizeof(payload.time_ns));
	EventDataDescCreate(&data[1], &payload.number, sizeof(payload.number));
	EventDataDescCreate(&data[2], payload.text, sizeof(payload.text));
	for (uint64_t i = 0; !load_relaxed(&is_over); i++) {
		payload.number = i;
		if (options->is_timed)
			payload.time_ns = now_ns();
		if (options->rate > 0 && i % 64 == 0)
			pace(options, start_ns, i);
		if (EventWrite(providers[i % (unsigned)options->providers], &descriptor, 3, data))
			writer->refused++;
		else
			writer->written++;
	}
	return NULL;
}

static void WINAPI on_event(PEVENT_RECORD record)
{
	uint64_t time_ns;

	if (record->EventHeader.EventDescriptor.Id != 3)
		return;
	add_relaxed(&consumer.received, 1);
	if (consumer.latency_ns && consumer.latency_count < SAMPLES_MAX) {
		memcpy(&time_ns, record->UserData, sizeof(time_ns));
		consumer.latency_ns[consumer.latency_count++] = now_ns() - time_ns;
	}
}

static void *consume(void *argument)
{
	ULONG error = ProcessTrace((TRACEHANDLE *)argument, 1, NULL, NULL);

	if (error)
		fprintf(stderr, "end_to_end: ProcessTrace: error %u\n", (unsigned)error);
	return NULL;
}

struct block {
	EVENT_TRACE_PROPERTIES properties;
	char name[128];
	char file[256];
};

static void prepare(struct block *block)
{
	block->properties.Wnode.BufferSize = sizeof(*block);
	block->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	block->properties.LoggerNameOffset = offsetof(struct block, name);
	block->properties.LogFileNameOffset = offsetof(struct block, file);
}

static TRACEHANDLE start(struct block *block, const struct options *options, ULONG mode,
			 ULONG flush_ms)
{
	TRACEHANDLE session;

	memset(block, 0, sizeof(*block));
	prepare(block);
	block->properties.Wnode.ClientContext = 1;
	block->properties.BufferSize = 64;
	block->properties.MinimumBuffers = options->mib * 16;
	block->properties.MaximumBuffers = options->mib * 16;
	block->properties.LogFileMode = mode;
	if (flush_ms) {
		block->properties.LogFileMode |= EVENT_TRACE_USE_MS_FLUSH_TIMER;
		block->properties.FlushTimer = flush_ms;
	}
	if (mode & EVENT_TRACE_FILE_MODE_SEQUENTIAL)
		snprintf(block->file, sizeof(block->file), "%s/session.etl", home);
	else
		block->properties.LogFileNameOffset = 0;
	check(StartTraceA(&session, "bench session", &block->properties), "StartTrace");
	for (int i = 0; i < options->providers; i++) {
		GUID guid = provider_guid(i);

		check(EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0,
				     5000, NULL),
		      "EnableTraceEx2");
	}
	return session;
}

static TRACEHANDLE open_live(pthread_t *thread)
{
	static TRACEHANDLE trace;
	EVENT_TRACE_LOGFILEA logfile = {
		.LoggerName = (char *)(uintptr_t) "bench session",
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME,
		.EventRecordCallback = on_event,
	};

	trace = OpenTraceA(&logfile);
	if (trace == INVALID_PROCESSTRACE_HANDLE)
		check(GetLastError(), "OpenTrace");
	pthread_create(thread, NULL, consume, &trace);
	return trace;
}

static double write_for(const struct options *options, struct writer *total)
{
	struct writer writers[THREADS_MAX] = {{0}};
	uint64_t start_ns = now_ns();
	double took;

	memset(total, 0, sizeof(*total));
	store_release(&is_over, 0u);
	for (int i = 0; i < options->threads; i++) {
		writers[i].options = options;
		pthread_create(&writers[i].thread, NULL, write_events, &writers[i]);
	}
	usleep((useconds_t)(options->seconds * 1e6));
	store_release(&is_over, 1u);
	for (int i = 0; i < options->threads; i++) {
		pthread_join(writers[i].thread, NULL);
		total->written += writers[i].written;
		total->refused += writers[i].refused;
	}
	took = (double)(now_ns() - start_ns) / 1e9;
	return took;
}

static void measure(const char *name, const struct options *options, ULONG mode)
{
	struct block block;
	struct writer total;
	pthread_t thread;
	TRACEHANDLE session, trace = 0;
	double took;

	consumer.received = 0;
	session = start(&block, options, mode, 0);
	if (mode & EVENT_TRACE_REAL_TIME_MODE)
		trace = open_live(&thread);
	took = write_for(options, &total);
	prepare(&block);
	check(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP), "stop");
	if (trace) {
		pthread_join(thread, NULL);
		CloseTrace(trace);
	}
	printf("%-5s %2d threads, %d providers, %u MiB: %6.2f M/s tried, %6.2f M/s accepted, "
	       "refused %.3f%%, lost %u events, %u real-time buffers",
	       name, options->threads, options->providers, (unsigned)options->mib,
	       (double)(total.written + total.refused) / took / 1e6,
	       (double)total.written / took / 1e6,
	       100.0 * (double)total.refused / (double)(total.written + total.refused),
	       (unsigned)block.properties.EventsLost,
	       (unsigned)block.properties.RealTimeBuffersLost);
	if (trace)
		printf(", %" PRIu64 " of %" PRIu64 " delivered", consumer.received, total.written);
	printf("\n");
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void measure_latency(const struct options *options, ULONG flush_ms)
{
	struct options paced = *options;
	struct block block;
	struct writer total;
	pthread_t thread;
	TRACEHANDLE session, trace;
	uint64_t *at;

	paced.rate = 10000;
	paced.threads = 1;
	paced.is_timed = true;
	consumer.latency_count = 0;
	consumer.latency_ns = at = calloc(SAMPLES_MAX, sizeof(uint64_t));
	session = start(&block, &paced, EVENT_TRACE_REAL_TIME_MODE, flush_ms);
	trace = open_live(&thread);
	(void)write_for(&paced, &total);
	prepare(&block);
	check(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP), "stop");
	pthread_join(thread, NULL);
	CloseTrace(trace);
	qsort(at, consumer.latency_count, sizeof(*at), compare);
	if (consumer.latency_count)
		printf("latency, flush timer %4u ms: median %.2f ms, 99%% %.2f ms, most %.2f ms, "
		       "%" PRIu64 " events\n",
		       (unsigned)flush_ms, (double)at[consumer.latency_count / 2] / 1e6,
		       (double)at[consumer.latency_count * 99 / 100] / 1e6,
		       (double)at[consumer.latency_count - 1] / 1e6, consumer.latency_count);
	consumer.latency_ns = NULL;
	free(at);
}

#define RAW_BUFFER_BYTES (64 * 1024)
#define RAW_EVENT_BYTES  112 /* 26 bytes, a header and padding */
#define RAW_BYTES        (UINT64_C(2) << 30)

static void measure_raw(void)
{
	static char buffer[RAW_BUFFER_BYTES];
	uint64_t start_ns = now_ns(), took_ns;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/raw", home);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	for (uint64_t at = 0; at < RAW_BYTES; at += sizeof(buffer)) {
		if (pwrite(fd, buffer, sizeof(buffer), (off_t)at) != (ssize_t)sizeof(buffer))
			check(1, "pwrite");
	}
	took_ns = now_ns() - start_ns;
	close(fd);
	unlink(path);
	printf("raw   %.0f MB/s of plain writes, which is %.2f M events/s\n",
	       (double)RAW_BYTES * 1e3 / (double)took_ns,
	       (double)RAW_BYTES * 1e3 / (double)took_ns / RAW_EVENT_BYTES);
}

static void run(const char *name, const struct options *options)
{
	if (strcmp(name, "live") == 0) {
		measure(name, options, EVENT_TRACE_REAL_TIME_MODE);
	} else if (strcmp(name, "file") == 0) {
		measure(name, options, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	} else if (strcmp(name, "both") == 0) {
		measure(name, options,
			EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_REAL_TIME_MODE);
	} else if (strcmp(name, "raw") == 0) {
		measure_raw();
	} else if (strcmp(name, "latency") == 0) {
		measure_latency(options, 1);
		measure_latency(options, 10);
		measure_latency(options, 1000);
	} else {
		fprintf(stderr, "end_to_end: what is %s?\n", name);
		exit(2);
	}
}

static void make_home(void)
{
	char runtime[80];

	snprintf(home, sizeof(home), "/dev/shm/etw-bench-XXXXXX");
	if (!mkdtemp(home))
		check(1, "mkdtemp in /dev/shm");
	snprintf(runtime, sizeof(runtime), "%s/run", home);
	setenv("ETW_RUNTIME_DIR", runtime, 1);
	setenv("ETWD_IDLE_MS", "500", 0);
}

static void remove_home(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", home);
	if (system(command))
		fprintf(stderr, "end_to_end: %s is left behind\n", home);
}

static int number_of(const char *text, int most)
{
	int number = atoi(text);

	return number < 1 ? 1 : number > most ? most : number;
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{"seconds", 1, NULL, 's'}, {"mib", 1, NULL, 'm'},  {"providers", 1, NULL, 'p'},
		{"threads", 1, NULL, 't'}, {"rate", 1, NULL, 'r'}, {0}};
	struct options options = {.seconds = 5, .mib = 64, .providers = 9};
	int option;

	options.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		if (option == 's')
			options.seconds = atof(optarg);
		else if (option == 'm')
			options.mib = (ULONG)number_of(optarg, 4096);
		else if (option == 'p')
			options.providers = number_of(optarg, PROVIDERS_MAX);
		else if (option == 't')
			options.threads = number_of(optarg, THREADS_MAX);
		else if (option == 'r')
			options.rate = atof(optarg);
		else
			return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	make_home();
	for (int i = 0; i < options.providers; i++) {
		GUID guid = provider_guid(i);

		check(EventRegister(&guid, NULL, NULL, &providers[i]), "EventRegister");
	}
	if (optind == argc)
		run("live", &options), run("raw", &options), run("file", &options),
			run("latency", &options);
	for (int i = optind; i < argc; i++)
		run(argv[i], &options);
	remove_home();
	return 0;
}
