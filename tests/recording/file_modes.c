/* SPDX-License-Identifier: MIT */
/*
 * file_modes [--kernel] FOLDER - records in the modes in which files turn over, through the public API, while three
 * processes write; with --kernel the NT Kernel Logger into a circular file of 5 MB, until that has wrapped three times. For
 * each recording one line says what was done and what the session said when it stopped:
 *
 *	NAME FILES EVENTS_LOST BUFFERS_WRITTEN BUFFERS_LOST TRIED BEFORE AFTER READ
 *
 * FILES is 0 for a recording in NAME.etl; else it is in NAME-1.etl to NAME-FILES.etl. READ events of the writers came from
 * ProcessTrace, file by file and never back in time. The rest is as files.c says. check_file_modes.py holds the files
 * against the lines.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <evntprov.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "recording/support.h"

#define WRITERS     3
#define EVENTS      4000 /* of each writer */
#define PAYLOAD_MAX 300
#define PAUSE_EVERY 100
#define LAPS        3  /* of circular files */
#define FILES       10 /* of a series */
#define KERNEL_MIB  5
#define KERNEL_KIB  64
#define THREADS     64 /* that are made between two looks at it */

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x04}};

struct kind {
	const char *name;
	ULONG mode, buffer_kib, kib; /* kib: MaximumFileSize */
	bool is_host_killed;
	bool is_incremented; /* by EVENT_TRACE_CONTROL_INCREMENT_FILE */
	bool is_updated;     /* into another file */
};

#define CIRCULAR   EVENT_TRACE_FILE_MODE_CIRCULAR
#define SERIES     EVENT_TRACE_FILE_MODE_NEWFILE
#define ONE_STREAM EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING

static const struct kind kinds[] = {
	{.name = "circular", .mode = CIRCULAR, .buffer_kib = 4, .kib = 250},
	{.name = "circular_one_stream", .mode = CIRCULAR | ONE_STREAM, .buffer_kib = 8, .kib = 256},
	{.name = "circular_preallocated",
	 .mode = CIRCULAR | EVENT_TRACE_FILE_MODE_PREALLOCATE,
	 .buffer_kib = 4,
	 .kib = 256},
	{.name = "circular_host_killed",
	 .mode = CIRCULAR,
	 .buffer_kib = 4,
	 .kib = 256,
	 .is_host_killed = true},
	{.name = "preallocated",
	 .mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_PREALLOCATE,
	 .buffer_kib = 64,
	 .kib = 64 * 1024},
	{.name = "series", .mode = SERIES, .buffer_kib = 4, .kib = 130},
	{.name = "series_host_killed",
	 .mode = SERIES,
	 .buffer_kib = 4,
	 .kib = 128,
	 .is_host_killed = true},
	{.name = "series_incremented",
	 .mode = SERIES,
	 .buffer_kib = 4,
	 .kib = 1024 * 1024,
	 .is_incremented = true},
	{.name = "updated",
	 .mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
	 .buffer_kib = 4,
	 .kib = 1024 * 1024,
	 .is_updated = true},
};

static int64_t now_ft(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ETW_FILETIME_UNIX_EPOCH + now.tv_sec * ETW_FILETIME_PER_SECOND + now.tv_nsec / 100;
}

static void write_events(void)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	REGHANDLE handle = recording_register(&provider_guid, NULL, NULL);
	uint8_t payload[PAYLOAD_MAX] = {0};

	for (ULONG i = 0; i < EVENTS; i++) {
		EVENT_DATA_DESCRIPTOR data;

		memcpy(payload, &i, sizeof(i));
		EventDataDescCreate(&data, payload, PAYLOAD_MAX - i % 100);
		(void)EventWrite(handle, &descriptor, 1, &data);
		if (i % PAUSE_EVERY == 0)
			usleep(2000);
	}
	EventUnregister(handle);
}

static void start_writers(pid_t writers[WRITERS])
{
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		if (writers[i] == 0) {
			write_events();
			exit(0);
		}
	}
}

static void await_writers(const pid_t writers[WRITERS])
{
	int status;

	for (int i = 0; i < WRITERS; i++)
		if (waitpid(writers[i], &status, 0) < 0 || status)
			fail("writer %d ended with status %d", i, status);
}

struct in_order {
	uint64_t events;
	int64_t last_ft;
};

static void WINAPI count_in_order(PEVENT_RECORD record)
{
	struct in_order *seen = record->UserContext;

	if (record->EventHeader.TimeStamp.QuadPart < seen->last_ft)
		fail("event %lu runs back in time", (unsigned long)seen->events);
	seen->last_ft = record->EventHeader.TimeStamp.QuadPart;
	seen->events += etw_guid_equal(&record->EventHeader.ProviderId, &provider_guid);
}

/* While the writers run. */
static void disturb(const struct kind *kind, struct recording *recording, const char *folder)
{
	uint32_t files = 1;

	if (kind->is_host_killed) {
		usleep(20000);
		if (kill(recording_host(recording), SIGKILL))
			fail("kill: %s", strerror(errno));
	}
	for (; kind->is_incremented && files < 10; files++) {
		usleep(5000);
		recording_control(recording, EVENT_TRACE_CONTROL_INCREMENT_FILE);
	}
	for (files = 1; kind->is_updated && files < 4; files++) {
		usleep(5000);
		recording_control(recording, EVENT_TRACE_CONTROL_QUERY);
		snprintf(recording->block.file, sizeof(recording->block.file), "%s/%s-%u.etl",
			 folder, kind->name, (unsigned)files + 1);
		recording->block.properties.LogFileMode = 0;
		recording_control(recording, EVENT_TRACE_CONTROL_UPDATE);
	}
}

/* How many there are from 1; whatever has room for more would have been found. */
static uint32_t count_files(const char *folder, const char *name)
{
	char path[512];

	for (uint32_t i = 1;; i++) {
		snprintf(path, sizeof(path), "%s/%s-%u.etl", folder, name, (unsigned)i);
		if (access(path, F_OK))
			return i - 1;
	}
}

/* Whether a circular file has wrapped, and a series has files, as often as the test wants; or it wants nothing. */
static bool is_enough(const struct kind *kind, struct recording *recording, const char *folder)
{
	if (kind->mode & SERIES)
		return count_files(folder, kind->name) >= FILES;
	recording_control(recording, EVENT_TRACE_CONTROL_QUERY);
	return !(kind->mode & CIRCULAR) || recording->block.properties.BuffersWritten >
						   (LAPS + 1) * kind->kib / kind->buffer_kib;
}

static uint64_t read_all(const char *folder, const char *name, uint32_t files)
{
	struct in_order seen = {0};
	char path[512];

	for (uint32_t i = files ? 1 : 0; i <= files; i++) {
		if (i)
			snprintf(path, sizeof(path), "%s/%s-%u.etl", folder, name, (unsigned)i);
		else
			snprintf(path, sizeof(path), "%s/%s.etl", folder, name);
		seen.last_ft = 0;
		recording_read(path, count_in_order, &seen);
	}
	return seen.events;
}

static void tell(const char *name, const char *folder, const struct recording *recording,
		 int64_t before_ft, uint32_t tried)
{
	const EVENT_TRACE_PROPERTIES *said = &recording->block.properties;
	int64_t after_ft = now_ft();
	uint32_t files = count_files(folder, name);

	printf("%s %u %u %u %u %u %lld %lld %lu\n", name, (unsigned)files,
	       (unsigned)said->EventsLost, (unsigned)said->BuffersWritten,
	       (unsigned)said->LogBuffersLost, (unsigned)tried, (long long)before_ft,
	       (long long)after_ft, (unsigned long)read_all(folder, name, files));
}

static void record(const struct kind *kind, const char *folder)
{
	char file[512];
	bool is_series = kind->mode & SERIES;
	struct recording_options options = {
		.name = kind->name,
		.file = file,
		.mode = kind->mode | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
		.buffer_kib = kind->buffer_kib,
		.buffers = 512 / kind->buffer_kib,
		.maximum_mib = kind->kib,
	};
	struct recording recording;
	pid_t writers[WRITERS];
	uint32_t tried = 0;
	int64_t before_ft;

	snprintf(file, sizeof(file), "%s/%s%s.etl", folder, kind->name,
		 is_series          ? "-%d"
		 : kind->is_updated ? "-1"
				    : "");
	recording_start(&recording, &options);
	recording_enable(&recording, &provider_guid);
	do { /* once, where the session can follow */
		start_writers(writers);
		if (tried == 0)
			disturb(kind, &recording, folder);
		await_writers(writers);
		tried += WRITERS * EVENTS;
	} while (!is_enough(kind, &recording, folder));
	before_ft = now_ft();
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	tell(kind->name, folder, &recording, before_ft, tried);
}

static void *end_at_once(void *context)
{
	return context;
}

static void make_threads(void)
{
	pthread_t thread;

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
			(void)pthread_join(thread, NULL);
	}
}

/*
 * As Microsoft's sample of the kernel logger does it: name and GUID, a circular file of 5 MB. The network's events are not
 * built, so it records processes, threads and images.
 */
static void record_kernel(const char *folder)
{
	char file[512];
	struct recording_options options = {
		.name = KERNEL_LOGGER_NAMEA,
		.file = file,
		.mode = CIRCULAR,
		.buffer_kib = KERNEL_KIB,
		.maximum_mib = KERNEL_MIB,
		.kernel_flags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD |
				EVENT_TRACE_FLAG_IMAGE_LOAD,
	};
	struct recording recording;
	int64_t before_ft;

	snprintf(file, sizeof(file), "%s/kernel_circular.etl", folder);
	recording_start(&recording, &options);
	do {
		make_threads();
		recording_control(&recording, EVENT_TRACE_CONTROL_QUERY);
	} while (recording.block.properties.BuffersWritten <=
		 (LAPS + 1) * KERNEL_MIB * 1024 / KERNEL_KIB);
	before_ft = now_ft();
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	tell("kernel_circular", folder, &recording, before_ft, 0);
}

/* The same into memory, flushed when that was overwritten three times: then the session goes on, and is stopped. */
static void flush_kernel(const char *folder)
{
	char file[512];
	struct recording_options options = {
		.name = "kernel_buffering",
		.mode = EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_SYSTEM_LOGGER_MODE,
		.buffer_kib = KERNEL_KIB,
		.buffers = KERNEL_MIB * 1024 / KERNEL_KIB,
		.kernel_flags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD |
				EVENT_TRACE_FLAG_IMAGE_LOAD,
	};
	struct recording recording;
	int64_t before_ft;
	ULONG error;

	snprintf(file, sizeof(file), "%s/kernel_buffering.etl", folder);
	recording_start(&recording, &options);
	do {
		make_threads();
		recording_control(&recording, EVENT_TRACE_CONTROL_QUERY);
	} while (recording.block.properties.BuffersWritten <=
		 (LAPS + 1) * KERNEL_MIB * 1024 / KERNEL_KIB);
	before_ft = now_ft();
	recording.block.properties.LogFileNameOffset = offsetof(__typeof__(recording.block), file);
	snprintf(recording.block.file, sizeof(recording.block.file), "%s", file);
	error = FlushTraceA(recording.handle, NULL, &recording.block.properties);
	if (error)
		fail("FlushTrace %s: error %u", file, (unsigned)error);
	tell("kernel_buffering", folder, &recording, before_ft, 0);
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
}

int main(int argc, char **argv)
{
	bool is_kernel = argc > 1 && !strcmp(argv[1], "--kernel");

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2 + is_kernel)
		return 2;
	if (is_kernel && is_kernel_shut())
		return TEST_SKIPPED;
	(void)test_home();
	if (is_kernel)
		record_kernel(argv[2]);
	if (is_kernel)
		flush_kernel(argv[2]);
	for (size_t i = 0; !is_kernel && i < ARRAY_SIZE(kinds); i++)
		record(&kinds[i], argv[1]);
	return 0;
}
