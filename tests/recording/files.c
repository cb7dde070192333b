/* SPDX-License-Identifier: MIT */
/*
 * files [--kernel] FOLDER - records files of many kinds through the public API, while four processes of
 * two uids write (of one uid without root); with --kernel, beside the kernel's events of some work. For each file
 * one line says what the session said when it stopped:
 *
 *	NAME EVENTS_LOST BUFFERS_WRITTEN BUFFERS_LOST TRIED BEFORE AFTER
 *
 * NAME.etl lies in the folder; TRIED events were written or refused; the session stopped between the
 * FILETIMEs BEFORE and AFTER. check_recorded.py holds the files against the lines.
 */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <evntprov.h>

#include "base/macros.h"
#include "base/time.h"
#include "recording/support.h"

#define WRITERS       4
#define OTHER_UID     65534
#define EVENTS        3000 /* of each writer */
#define PAYLOAD_MAX   300
#define PROCESSES     60
#define PAUSE_EVERY   100
#define KILL_AFTER_US 30000

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x04}};

struct kind {
	const char *name;
	ULONG mode, buffer_kib, buffers, clock, maximum_mib;
	bool is_kernel, is_host_killed;
};

#define ONE_STREAM EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING

static const struct kind kinds[] = {
	{.name = "plain", .buffer_kib = 64, .buffers = 64},
	{.name = "one_stream", .mode = ONE_STREAM, .buffer_kib = 64, .buffers = 64},
	{.name = "system_time", .buffer_kib = 64, .buffers = 64, .clock = 2},
	{.name = "cycles", .buffer_kib = 64, .buffers = 64, .clock = 3},
	{.name = "one_stream_system_time",
	 .mode = ONE_STREAM,
	 .buffer_kib = 64,
	 .buffers = 64,
	 .clock = 2},
	{.name = "small_buffers", .buffer_kib = 4, .buffers = 64},
	{.name = "large_buffers", .buffer_kib = 1024, .buffers = 8},
	/* In real time too: else the session would end with its file. */
	{.name = "limited",
	 .mode = EVENT_TRACE_REAL_TIME_MODE,
	 .buffer_kib = 64,
	 .buffers = 64,
	 .maximum_mib = 1},
	{.name = "host_killed", .buffer_kib = 64, .buffers = 64, .is_host_killed = true},
	{.name = "kernel", .buffer_kib = 64, .buffers = 64, .is_kernel = true},
	{.name = "kernel_one_stream",
	 .mode = ONE_STREAM,
	 .buffer_kib = 64,
	 .buffers = 64,
	 .is_kernel = true},
	{.name = "kernel_system_time",
	 .buffer_kib = 64,
	 .buffers = 64,
	 .clock = 2,
	 .is_kernel = true},
	{.name = "kernel_cycles", .buffer_kib = 64, .buffers = 64, .clock = 3, .is_kernel = true},
	{.name = "kernel_small_buffers", .buffer_kib = 4, .buffers = 256, .is_kernel = true},
	{.name = "kernel_limited",
	 .mode = EVENT_TRACE_REAL_TIME_MODE,
	 .buffer_kib = 64,
	 .buffers = 64,
	 .maximum_mib = 1,
	 .is_kernel = true},
	{.name = "kernel_host_killed",
	 .buffer_kib = 64,
	 .buffers = 64,
	 .is_kernel = true,
	 .is_host_killed = true},
};

static int64_t now_ft(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ETW_FILETIME_UNIX_EPOCH + now.tv_sec * ETW_FILETIME_PER_SECOND + now.tv_nsec / 100;
}

/* Events of every size, some with an extended item; at a pace that most buffers can follow. */
static void write_events(REGHANDLE handle)
{
	static const GUID related = {1, 2, 3, {4}};
	EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	uint8_t payload[PAYLOAD_MAX] = {0};

	for (ULONG i = 0; i < EVENTS; i++) {
		EVENT_DATA_DESCRIPTOR data;

		memcpy(payload, &i, sizeof(i));
		EventDataDescCreate(&data, payload, i % PAYLOAD_MAX);
		if (i % 7)
			(void)EventWrite(handle, &descriptor, 1, &data);
		else
			(void)EventWriteTransfer(handle, &descriptor, NULL, &related, 1, &data);
		if (i % PAUSE_EVERY == 0)
			usleep(1000);
	}
}

static int be_writer(int index, int ready, int go)
{
	REGHANDLE handle;
	char byte;

	if (geteuid() == 0 && index >= WRITERS / 2 &&
	    (setgroups(0, NULL) || setgid(OTHER_UID) || setuid(OTHER_UID)))
		fail("cannot become uid %d: %s", OTHER_UID, strerror(errno));
	handle = recording_register(&provider_guid, NULL, NULL);
	if (write(ready, "r", 1) != 1 || read(go, &byte, 1) != 0)
		fail("writer %d was not started", index);
	write_events(handle);
	EventUnregister(handle);
	return 0;
}

/* The writers run once the write end of @ret_go is closed. */
static void start_writers(pid_t writers[WRITERS], int *ret_go)
{
	int ready[2], go[2];
	char byte;

	if (pipe(ready) || pipe(go))
		fail("pipe: %s", strerror(errno));
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		if (writers[i])
			continue;
		close(go[1]);
		close(ready[0]);
		exit(be_writer(i, ready[1], go[0]));
	}
	close(ready[1]);
	close(go[0]);
	for (int i = 0; i < WRITERS; i++)
		if (read(ready[0], &byte, 1) != 1)
			fail("a writer did not get ready");
	close(ready[0]);
	*ret_go = go[1];
}

static void make_processes(void)
{
	for (int i = 0; i < PROCESSES; i++) {
		pid_t child = fork();

		if (child == 0) {
			if (i % 3 == 0)
				execl("/bin/true", "true", "a \"quoted\" argument", (char *)NULL);
			_exit(i % 2);
		}
		waitpid(child, NULL, 0);
	}
}

/* The logger thread is one of the host's, so a signal to it is one to the host. */
static void kill_host(struct recording *recording)
{
	usleep(KILL_AFTER_US);
	recording_control(recording, EVENT_TRACE_CONTROL_QUERY);
	if (kill((pid_t)(uintptr_t)recording->block.properties.LoggerThreadId, SIGKILL))
		fail("kill: %s", strerror(errno));
}

static void await_writers(const pid_t writers[WRITERS])
{
	int status;

	for (int i = 0; i < WRITERS; i++)
		if (waitpid(writers[i], &status, 0) < 0 || status)
			fail("writer %d ended with status %d", i, status);
}

static void record(const struct kind *kind, const char *folder)
{
	char file[512];
	struct recording_options options = {
		.name = kind->name,
		.file = file,
		.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL | kind->mode,
		.buffer_kib = kind->buffer_kib,
		.buffers = kind->buffers,
		.clock = kind->clock,
		.maximum_mib = kind->maximum_mib,
	};
	const EVENT_TRACE_PROPERTIES *said;
	struct recording recording;
	pid_t writers[WRITERS];
	int64_t before_ft;
	int go;

	snprintf(file, sizeof(file), "%s/%s.etl", folder, kind->name);
	if (kind->is_kernel) {
		options.mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
		options.kernel_flags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD |
				       EVENT_TRACE_FLAG_IMAGE_LOAD;
	}
	recording_start(&recording, &options);
	recording_enable(&recording, &provider_guid);
	start_writers(writers, &go);
	close(go);
	if (kind->is_kernel)
		make_processes();
	if (kind->is_host_killed)
		kill_host(&recording);
	await_writers(writers);
	before_ft = now_ft();
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	said = &recording.block.properties;
	printf("%s %u %u %u %u %lld %lld\n", kind->name, (unsigned)said->EventsLost,
	       (unsigned)said->BuffersWritten, (unsigned)said->LogBuffersLost, WRITERS * EVENTS,
	       (long long)before_ft, (long long)now_ft());
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
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].is_kernel == is_kernel)
			record(&kinds[i], argv[argc - 1]);
	return 0;
}
