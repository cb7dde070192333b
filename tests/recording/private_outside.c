/* SPDX-License-Identifier: MIT */
/*
 * A private session that another process controls: every process that has registered the provider writes a file of its own,
 * with its own rights; a process that comes later takes part, one that is killed leaves a sound file, and a host that dies
 * is replaced without a gap. Users who may control nothing are refused.
 */
#include <dirent.h>
#include <grp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "recording/children.h"
#include "recording/support.h"

#define WRITERS   3
#define EVENTS    100
#define OTHER_UID 12345
#define LEVEL     4
#define NAME      "private outside"

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x21}};

/* Each writer's, in shared memory; atomic. */
struct seat {
	uint32_t is_registered, is_enabled;
	uint32_t asked, written; /* rounds of EVENTS events */
	uint32_t is_to_end;
};

struct block {
	EVENT_TRACE_PROPERTIES properties;
	char name[256];
	char file[1024];
};

static struct seat *seats;
static char file_name[512];

static void write_round(REGHANDLE provider)
{
	const EVENT_DESCRIPTOR event = {.Id = 7, .Level = LEVEL, .Keyword = 0x10};
	EVENT_DATA_DESCRIPTOR data;
	uint32_t number = 1;

	EventDataDescCreate(&data, &number, sizeof(number));
	for (unsigned i = 0; i < EVENTS; i++) {
		if (EventWrite(provider, &event, 1, &data))
			fail("an event is refused");
	}
}

static void run_writer(struct seat *seat, uid_t uid)
{
	REGHANDLE provider = 0;

	if (uid && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
		fail("setuid failed");
	if (EventRegister(&provider_guid, NULL, NULL, &provider))
		fail("EventRegister failed");
	store_release(&seat->is_enabled, (uint32_t)EventProviderEnabled(provider, LEVEL, 0x10));
	store_release(&seat->is_registered, 1u);
	while (!load_acquire(&seat->is_to_end)) {
		store_release(&seat->is_enabled,
			      (uint32_t)EventProviderEnabled(provider, LEVEL, 0x10));
		if (load_acquire(&seat->written) < load_acquire(&seat->asked)) {
			write_round(provider);
			(void)add_acq_rel(&seat->written, 1);
		}
		(void)usleep(1000);
	}
	exit(0);
}

static pid_t start_writer(unsigned at, uid_t uid)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork failed");
	if (child == 0)
		run_writer(&seats[at], uid);
	await_flag(&seats[at].is_registered, 1, "a writer does not register");
	return child;
}

static void init_block(struct block *block, ULONG mode)
{
	*block = (struct block){
		.properties =
			{
				.Wnode.BufferSize = sizeof(*block),
				.Wnode.Flags = WNODE_FLAG_TRACED_GUID,
				.Wnode.ClientContext = 1,
				.Wnode.Guid = provider_guid,
				.BufferSize = 16,
				.MinimumBuffers = 4,
				.LogFileMode = mode,
				.LoggerNameOffset = offsetof(struct block, name),
				.LogFileNameOffset = offsetof(struct block, file),
			},
	};
}

static ULONG start(TRACEHANDLE *ret)
{
	struct block block;

	init_block(&block, EVENT_TRACE_PRIVATE_LOGGER_MODE);
	(void)snprintf(block.file, sizeof(block.file), "%s", file_name);
	return StartTraceA(ret, NAME, &block.properties);
}

static void expect(ULONG error, ULONG wanted, const char *what)
{
	if (error != wanted)
		fail("%s: error %u, not %u", what, (unsigned)error, (unsigned)wanted);
}

static struct block control(TRACEHANDLE handle, ULONG code, ULONG wanted)
{
	struct block block;

	init_block(&block, 0);
	expect(ControlTraceA(handle, NULL, &block.properties, code), wanted, "ControlTrace");
	return block;
}

/* By name the block says that it is a private one, or has the provider's GUID. */
static void query_by_name(TRACEHANDLE handle)
{
	struct block block;

	init_block(&block, EVENT_TRACE_PRIVATE_LOGGER_MODE);
	block.properties.Wnode.Guid = (GUID){0};
	expect(ControlTraceA(0, "PRIVATE outside", &block.properties, EVENT_TRACE_CONTROL_QUERY),
	       ERROR_SUCCESS, "by name");
	if (block.properties.Wnode.HistoricalContext != handle)
		fail("another session has the name");
	if (strcmp(block.file, file_name) != 0)
		fail("the file is %s", block.file);
	init_block(&block, 0);
	expect(ControlTraceA(0, NAME, &block.properties, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS,
	       "by name and GUID");
	init_block(&block, 0);
	block.properties.Wnode.Guid = (GUID){0};
	expect(ControlTraceA(0, NAME, &block.properties, EVENT_TRACE_CONTROL_QUERY),
	       ERROR_WMI_INSTANCE_NOT_FOUND, "by name alone");
}

static void check_not_listed(void)
{
	struct block block;
	PEVENT_TRACE_PROPERTIES blocks[1] = {&block.properties};
	ULONG count = 1;

	init_block(&block, 0);
	expect(QueryAllTracesA(blocks, 1, &count), ERROR_SUCCESS, "QueryAllTraces");
	if (count != 0)
		fail("QueryAllTraces lists a private session");
}

static void enable(TRACEHANDLE handle, ULONG wanted)
{
	expect(EnableTraceEx2(handle, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, LEVEL, 0,
			      0, WAIT_SECONDS * 1000, NULL),
	       wanted, "EnableTraceEx2");
}

/* Of another user, who may control nothing here. */
static void check_stranger(TRACEHANDLE handle)
{
	TRACEHANDLE other = 0;
	pid_t child;

	if (geteuid() != 0)
		return;
	child = fork();
	if (child == 0) {
		if (setgroups(0, NULL) || setgid(OTHER_UID) || setuid(OTHER_UID))
			fail("setuid failed");
		expect(start(&other), ERROR_ACCESS_DENIED, "a stranger starts one");
		(void)control(handle, EVENT_TRACE_CONTROL_QUERY, ERROR_WMI_INSTANCE_NOT_FOUND);
		(void)control(handle, EVENT_TRACE_CONTROL_STOP, ERROR_WMI_INSTANCE_NOT_FOUND);
		enable(handle, ERROR_WMI_INSTANCE_NOT_FOUND);
		_exit(0);
	}
	await_end(child, "a stranger");
}

static void write_some(unsigned at)
{
	const uint32_t before = add_acq_rel(&seats[at].asked, 1);

	await_flag(&seats[at].written, before + 1, "a writer does not write");
}

static void WINAPI on_event(PEVENT_RECORD record)
{
	unsigned *count = record->UserContext;

	*count += IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid);
}

static void check_file(pid_t writer, unsigned rounds, uid_t owner)
{
	char path[600];
	struct stat status;
	unsigned count = 0;

	(void)snprintf(path, sizeof(path), "%s_%d", file_name, (int)writer);
	if (stat(path, &status))
		fail("%s is not there", path);
	if (status.st_uid != owner)
		fail("%s is of uid %u", path, (unsigned)status.st_uid);
	(void)recording_read(path, on_event, &count);
	if (count != rounds * EVENTS)
		fail("%s has %u events of %u", path, count, rounds * EVENTS);
}

static void kill_writer(pid_t writer)
{
	if (kill(writer, SIGKILL) || waitpid(writer, NULL, 0) != writer)
		fail("a writer cannot be killed");
}

static void end_writer(unsigned at, pid_t writer)
{
	store_release(&seats[at].is_to_end, 1u);
	await_end(writer, "a writer");
}

/* The next host knows the session, and the processes go on with theirs. */
static void replace_host(TRACEHANDLE handle)
{
	const struct recording_processes before = recording_await_standby();

	if (kill(before.host, SIGKILL))
		fail("the host cannot be killed");
	while (recording_await_standby().host == before.host)
		(void)usleep(1000);
	(void)control(handle, EVENT_TRACE_CONTROL_QUERY, ERROR_SUCCESS);
}

static void make_place(void)
{
	const char *home = test_home();
	char folder[300];

	(void)snprintf(folder, sizeof(folder), "%s/files", home);
	if (mkdir(folder, 0700) || chmod(folder, 01777))
		fail("mkdir %s failed", folder);
	(void)snprintf(file_name, sizeof(file_name), "%s/outside.etl", folder);
}

int main(void)
{
	const uid_t other = geteuid() == 0 ? OTHER_UID : 0;
	const uid_t own = geteuid();
	TRACEHANDLE handle = 0, second = 0;
	pid_t writers[WRITERS];
	struct block block;

	make_place();
	seats = share_with_forks(sizeof(*seats) * WRITERS);
	writers[0] = start_writer(0, 0);
	writers[1] = start_writer(1, other);
	expect(start(&handle), ERROR_SUCCESS, "StartTrace");
	expect(start(&second), ERROR_ALREADY_EXISTS, "the name twice");
	enable(handle, ERROR_SUCCESS);
	await_flag(&seats[0].is_enabled, 1, "the first writer is not enabled");
	await_flag(&seats[1].is_enabled, 1, "the second writer is not enabled");
	query_by_name(handle);
	check_not_listed();
	check_stranger(handle);
	write_some(0);
	write_some(1);
	/* One that comes later is enabled when EventRegister returns, if the host is not slow. */
	writers[2] = start_writer(2, 0);
	await_flag(&seats[2].is_enabled, 1, "the late writer is not enabled");
	write_some(2);
	block = control(handle, EVENT_TRACE_CONTROL_FLUSH, ERROR_SUCCESS);
	if (block.properties.NumberOfBuffers < 3 * 4)
		fail("three processes have %u buffers", (unsigned)block.properties.NumberOfBuffers);
	kill_writer(writers[1]);
	check_file(writers[1], 1, other ? other : own);
	replace_host(handle);
	write_some(0);
	write_some(2);
	end_writer(2, writers[2]); /* its file is ended with it */
	check_file(writers[2], 2, own);
	write_some(0);
	(void)control(handle, EVENT_TRACE_CONTROL_STOP, ERROR_SUCCESS);
	await_flag(&seats[0].is_enabled, 0, "a writer is enabled behind the end");
	check_file(writers[0], 3, own);
	(void)control(handle, EVENT_TRACE_CONTROL_QUERY, ERROR_WMI_INSTANCE_NOT_FOUND);
	end_writer(0, writers[0]);
	return 0;
}
