/* SPDX-License-Identifier: MIT */
/*
 * modes PART FOLDER - sessions in modes of which a file comes otherwise than by writing it from start to end, through the
 * public API and with a host that is killed on the way. Each file is read back here, and a line says what the walker is
 * to find in it:
 *
 *	PATH EVENTS
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "recording/consuming.h"
#include "recording/support.h"

#define EVENTS   4000
#define SESSIONS 3

static const GUID provider_guid = {
	0x1d2c6f0e, 0x8a54, 0x4f0b, {0x9c, 0x22, 0x51, 0x07, 0xe3, 0x6d, 0x90, 0x4b}};

static const char *folder;
static REGHANDLE provider;
static uint32_t written; /* events that EventWrite took, ever: their numbers are 0 .. written - 1 */
static uint32_t
	refused; /* that it did not take at once: for them an event is lost, and written again */

static const char *path_of(const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s.etl", folder, name);
	return path;
}

/* The number, and something that differs little and something that differs much. */
static void write_events(uint32_t count)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	EVENT_DATA_DESCRIPTOR data;
	uint32_t payload[16] = {0};

	for (uint32_t i = 0; i < count; i++) {
		const struct wait wait = wait_for("the rings stay full");
		ULONG error;

		payload[0] = written;
		payload[1 + i % 15] = i * 2654435761u;
		EventDataDescCreate(&data, payload, sizeof(payload));
		/* While a host is away its rings may be full. */
		while ((error = EventWrite(provider, &descriptor, 1, &data)) ==
		       ERROR_NOT_ENOUGH_MEMORY) {
			refused++;
			wait_on(&wait);
		}
		if (error)
			fail("EventWrite: error %u", (unsigned)error);
		written++;
	}
}

struct found {
	uint32_t events;
	uint32_t first, last; /* numbers */
	uint32_t steps;       /* between neighbours by number; none is 0 or doubled */
	uint8_t *seen;
};

static void WINAPI on_event(PEVENT_RECORD record)
{
	struct found *found = record->UserContext;
	uint32_t number;

	if (memcmp(&record->EventHeader.ProviderId, &provider_guid, sizeof(GUID)) != 0)
		return;
	memcpy(&number, record->UserData, sizeof(number));
	if (number >= written || found->seen[number]++)
		fail("event %u of %u is there twice, or never was", number, written);
	if (found->events == 0 || number < found->first)
		found->first = number;
	if (number > found->last)
		found->last = number;
	found->events++;
}

/* Every event from @first on, and no other; as lost counts what was refused since @lost_before. */
static void check_file(const char *path, uint32_t first, uint32_t lost_before)
{
	struct found found = {.seen = calloc(written + 1, 1)};
	ULONG lost = recording_read(path, on_event, &found);

	if (lost != refused - lost_before)
		fail("%s: %u events are lost, not %u", path, (unsigned)lost, refused - lost_before);
	if (found.events != written - first || (found.events && found.first != first))
		fail("%s: %u events from %u on, not %u from %u on", path, found.events, found.first,
		     written - first, first);
	free(found.seen);
	(void)recording_check_order(path);
	printf("%s %u\n", path, found.events);
}

static void start(struct recording *recording, const char *name, const char *file, ULONG mode)
{
	const struct recording_options options = {
		.name = name,
		.file = file,
		.mode = mode,
		.buffer_kib = 16,
		.buffers = 64,
		.clock = mode & EVENT_TRACE_FILE_MODE_APPEND ? 2 : 0,
	};

	recording_start(recording, &options);
	recording_enable(recording, &provider_guid);
}

/* The host dies; the next one goes on. */
static void kill_host(void)
{
	const struct recording_processes processes = recording_await_standby();

	if (kill(processes.host, SIGKILL))
		fail("there is no host");
}

static void run_compressed(void)
{
	static const ULONG modes[] = {0, EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING};
	struct recording recording;
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		uint32_t first = written, lost_before = refused;

		(void)snprintf(name, sizeof(name), "compressed-%zu", i);
		start(&recording, name, path_of(name), EVENT_TRACE_COMPRESSED_MODE | modes[i]);
		write_events(EVENTS);
		kill_host();
		write_events(EVENTS);
		recording_control(&recording, EVENT_TRACE_CONTROL_FLUSH);
		write_events(EVENTS / 10);
		recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
		check_file(path_of(name), first, lost_before);
	}
}

static void run_append(void)
{
	static const ULONG modes[] = {0, EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
				      EVENT_TRACE_COMPRESSED_MODE};
	struct recording recording;
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		uint32_t first = written, lost_before = refused;

		(void)snprintf(name, sizeof(name), "append-%zu", i);
		for (int session = 0; session < SESSIONS; session++) {
			start(&recording, name, path_of(name),
			      EVENT_TRACE_FILE_MODE_APPEND | modes[i]);
			write_events(EVENTS);
			if (session == 1)
				kill_host();
			write_events(EVENTS / 7);
			recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
		}
		check_file(path_of(name), first, lost_before);
	}
}

static void flush_to(struct recording *recording, const char *path)
{
	ULONG error;

	do {
		recording->block.properties.LogFileNameOffset =
			offsetof(__typeof__(recording->block), file);
		(void)snprintf(recording->block.file, sizeof(recording->block.file), "%s", path);
		error = FlushTraceA(recording->handle, NULL, &recording->block.properties);
	} while (error == ERROR_TIMEOUT);
	if (error)
		fail("FlushTrace %s: error %u", path, (unsigned)error);
}

static void run_buffering(void)
{
	static const ULONG modes[] = {0, EVENT_TRACE_COMPRESSED_MODE};
	struct recording recording;
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		uint32_t first = written, lost_before = refused;

		(void)snprintf(name, sizeof(name), "buffering-%zu", i);
		start(&recording, name, NULL, EVENT_TRACE_BUFFERING_MODE | modes[i]);
		write_events(500);
		(void)snprintf(name, sizeof(name), "buffering-%zu-early", i);
		flush_to(&recording, path_of(name));
		check_file(path_of(name), first, lost_before);
		write_events(500);
		kill_host();
		write_events(500);
		(void)snprintf(name, sizeof(name), "buffering-%zu-killed", i);
		flush_to(&recording, path_of(name));
		check_file(path_of(name), first, lost_before);
		recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
		if (recording.block.properties.EventsLost != refused - lost_before)
			fail("%u events are lost", (unsigned)recording.block.properties.EventsLost);
	}
}

static void update(struct recording *recording, ULONG mode)
{
	recording->block.properties.LogFileNameOffset = 0;
	recording->block.properties.LogFileMode = mode;
	recording->block.properties.FlushTimer = 0;
	recording->block.properties.MaximumBuffers = 0;
	if (UpdateTraceA(recording->handle, NULL, &recording->block.properties))
		fail("UpdateTrace failed");
}

/* File and consumer have the same; then only the file goes on, then both again. */
static void run_real_time(void)
{
	struct recording recording;
	uint32_t first = written, lost_before = refused;
	struct consuming live;

	start(&recording, "live", path_of("live"), EVENT_TRACE_REAL_TIME_MODE);
	consuming_begin(&live, &provider_guid, "live");
	/* Whoever consumes late does not get what went by: from here on all of it. */
	write_events(1);
	consuming_await(&live, 1);
	write_events(EVENTS);
	update(&recording, 0);
	consuming_finish(&live, 1 + EVENTS);
	write_events(EVENTS);
	recording_control(&recording, EVENT_TRACE_CONTROL_FLUSH);
	update(&recording, EVENT_TRACE_REAL_TIME_MODE);
	consuming_begin(&live, &provider_guid, "live");
	write_events(1);
	consuming_await(&live, 1);
	write_events(EVENTS);
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	consuming_finish(&live, 1 + EVENTS);
	if (recording.block.properties.RealTimeBuffersLost)
		fail("buffers are lost");
	check_file(path_of("live"), first, lost_before);
}

/* The file has what came before, and consumers get what comes behind. */
static void run_convert(void)
{
	struct recording recording;
	uint32_t first = written, lost_before = refused;
	struct consuming live;

	start(&recording, "converted", path_of("converted"), 0);
	write_events(EVENTS);
	recording_control(&recording, EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME);
	if (recording.block.properties.LogFileMode != EVENT_TRACE_REAL_TIME_MODE ||
	    recording.block.file[0])
		fail("it has mode %x and file %s", (unsigned)recording.block.properties.LogFileMode,
		     recording.block.file);
	check_file(path_of("converted"), first, lost_before);
	consuming_begin(&live, &provider_guid, "converted");
	write_events(1);
	consuming_await(&live, 1);
	kill_host();
	write_events(EVENTS);
	/* Once more is nothing more. */
	recording_control(&recording, EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME);
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	consuming_finish(&live, 1 + EVENTS);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{"compressed", run_compressed}, {"append", run_append},
		{"buffering", run_buffering},   {"real_time", run_real_time},
		{"convert", run_convert},
	};

	if (argc != 3)
		return 2;
	folder = argv[2];
	(void)test_home();
	if (EventRegister(&provider_guid, NULL, NULL, &provider))
		fail("EventRegister failed");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!strcmp(parts[i].name, argv[1])) {
			parts[i].run();
			EventUnregister(provider);
			return 0;
		}
	}
	return 2;
}
