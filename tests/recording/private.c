/* SPDX-License-Identifier: MIT */
/*
 * private FOLDER - records files of many kinds by private sessions, with no host to be had, while threads of the program
 * write. For each file a line on standard output, as files.c prints it: its name, what ControlTrace said of events lost,
 * buffers written and buffers lost, how many events were tried, and between which FILETIMEs the session was stopped.
 * check_recorded.py holds both readers against that.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#include "base/macros.h"
#include "base/time.h"

#define THREADS     3
#define EVENTS      20000 /* of each */
#define PAYLOAD_MAX 300
#define PAUSE_EVERY 500

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x04}};

static const struct kind {
	const char *name;
	uint32_t mode, clock, buffer_kib, buffers;
} kinds[] = {
	{.name = "plain", .buffer_kib = 64, .buffers = 64},
	{.name = "one_stream",
	 .mode = EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
	 .buffer_kib = 64,
	 .buffers = 64},
	{.name = "system_time", .clock = 2, .buffer_kib = 64, .buffers = 64},
	{.name = "cycles", .clock = 3, .buffer_kib = 64, .buffers = 64},
	{.name = "small_buffers", .buffer_kib = 4, .buffers = 256},
	{.name = "few_buffers", .buffer_kib = 4, .buffers = 2}, /* events are lost, and counted */
};

struct block {
	EVENT_TRACE_PROPERTIES properties;
	char logger[64];
	char file[1024];
};

static REGHANDLE provider;
static pthread_barrier_t barrier;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	(void)vfprintf(stderr, format, list);
	va_end(list);
	(void)fputc('\n', stderr);
	exit(1);
}

static int64_t now_ft(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return ETW_FILETIME_UNIX_EPOCH + now.tv_sec * ETW_FILETIME_PER_SECOND + now.tv_nsec / 100;
}

/* Events of every size, some with an extended item. */
static void *write_events(void *unused)
{
	static const GUID related = {1, 2, 3, {4}};
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	uint8_t payload[PAYLOAD_MAX] = {0};

	(void)unused;
	(void)pthread_barrier_wait(&barrier);
	for (ULONG i = 0; i < EVENTS; i++) {
		EVENT_DATA_DESCRIPTOR data;

		memcpy(payload, &i, sizeof(i));
		EventDataDescCreate(&data, payload, i % PAYLOAD_MAX);
		if (i % 7)
			(void)EventWrite(provider, &descriptor, 1, &data);
		else
			(void)EventWriteTransfer(provider, &descriptor, NULL, &related, 1, &data);
		if (i % PAUSE_EVERY == 0)
			(void)usleep(1000);
	}
	return NULL;
}

static void write_in_threads(void)
{
	pthread_t threads[THREADS];

	if (pthread_barrier_init(&barrier, NULL, THREADS))
		fail("no barrier");
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, write_events, NULL))
			fail("no thread");
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	(void)pthread_barrier_destroy(&barrier);
}

static TRACEHANDLE start(const struct kind *kind, const char *folder, struct block *block)
{
	TRACEHANDLE handle = 0;
	ULONG error;

	*block = (struct block){
		.properties =
			{
				.Wnode.BufferSize = sizeof(*block),
				.Wnode.Flags = WNODE_FLAG_TRACED_GUID,
				.Wnode.ClientContext = kind->clock,
				.BufferSize = kind->buffer_kib,
				.MinimumBuffers = kind->buffers,
				.MaximumBuffers = kind->buffers,
				.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL |
					       EVENT_TRACE_PRIVATE_LOGGER_MODE |
					       EVENT_TRACE_PRIVATE_IN_PROC | kind->mode,
				.LoggerNameOffset = offsetof(struct block, logger),
				.LogFileNameOffset = offsetof(struct block, file),
			},
	};
	(void)snprintf(block->file, sizeof(block->file), "%s/%s.etl", folder, kind->name);
	error = StartTraceA(&handle, kind->name, &block->properties);
	if (error)
		fail("%s: StartTrace: %u", kind->name, (unsigned)error);
	return handle;
}

static void record(const struct kind *kind, const char *folder)
{
	struct block block;
	const TRACEHANDLE handle = start(kind, folder, &block);
	const EVENT_TRACE_PROPERTIES *said = &block.properties;
	int64_t before_ft;
	ULONG error;

	error = EnableTraceEx2(handle, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0,
			       0, NULL);
	if (error)
		fail("%s: EnableTraceEx2: %u", kind->name, (unsigned)error);
	write_in_threads();
	before_ft = now_ft();
	error = ControlTraceA(handle, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP);
	if (error)
		fail("%s: ControlTrace: %u", kind->name, (unsigned)error);
	(void)printf("%s %u %u %u %u %lld %lld\n", kind->name, (unsigned)said->EventsLost,
		     (unsigned)said->BuffersWritten, (unsigned)said->LogBuffersLost,
		     THREADS * EVENTS, (long long)before_ft, (long long)now_ft());
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	/* No host can be there, nor be started. */
	if (setenv("ETW_RUNTIME_DIR", "/nonexistent/etw", 1) ||
	    setenv("ETW_ETWD", "/nonexistent/etwd", 1))
		fail("setenv: %s", strerror(errno));
	if (EventRegister(&provider_guid, NULL, NULL, &provider))
		fail("EventRegister");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		record(&kinds[i], argv[1]);
	(void)EventUnregister(provider);
	return 0;
}
