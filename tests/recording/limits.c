/* SPDX-License-Identifier: MIT */
/*
 * limits descriptors|memory - the host meets a limit of its descriptors, or of its memory, while a session records. What
 * needs more is refused with an error: another session, another user's rings. The session goes on, and when the limit
 * is lifted the other user's process is enabled by itself. The file has what was tried, or it is counted as lost.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "recording/children.h"
#include "recording/storm_shared.h"
#include "recording/support.h"

#define MORE_EVENTS 5000
#define OTHERS      8 /* sessions that are tried */
#define SMALL_KIB   1024

struct seen {
	uint64_t last[2], count;
};

static struct storm_shared *shared;
static struct recording recording;

static pid_t start_writer(uint32_t place)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (pid == 0)
		_exit(storm_write(shared, place, 1));
	return pid;
}

static unsigned count_descriptors(pid_t pid)
{
	char path[64];
	unsigned count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	if (!folder)
		fail("%s: %s", path, strerror(errno));
	for (const struct dirent *entry; (entry = readdir(folder));)
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

/* None more than it has now. */
static void limit_host(pid_t host, bool is_memory, struct rlimit *ret_before)
{
	const __rlimit_resource_t resource = is_memory ? RLIMIT_AS : RLIMIT_NOFILE;
	struct rlimit limit;

	if (prlimit(host, resource, NULL, ret_before))
		fail("prlimit: %s", strerror(errno));
	limit = *ret_before;
	limit.rlim_cur = is_memory ? ((rlim_t)process_status(host, "VmSize:") + SMALL_KIB) * 1024
				   : count_descriptors(host);
	if (prlimit(host, resource, &limit, NULL))
		fail("prlimit: %s", strerror(errno));
}

/* Returns the error of the first that is refused. */
static ULONG try_others(void)
{
	for (int i = 0; i < OTHERS; i++) {
		struct {
			EVENT_TRACE_PROPERTIES properties;
			char name[64];
		} block = {.properties = {.Wnode.BufferSize = sizeof(block),
					  .Wnode.Flags = WNODE_FLAG_TRACED_GUID,
					  .LogFileMode = EVENT_TRACE_REAL_TIME_MODE,
					  .BufferSize = 64,
					  .MinimumBuffers = 32,
					  .LoggerNameOffset = offsetof(__typeof__(block), name)}};
		TRACEHANDLE handle;
		char name[32];
		ULONG error;

		snprintf(name, sizeof(name), "limits %d", i);
		error = StartTraceA(&handle, name, &block.properties);
		if (error)
			return error;
	}
	return ERROR_SUCCESS;
}

/* Whichever were started. */
static void stop_others(void)
{
	for (int i = 0; i < OTHERS; i++) {
		struct {
			EVENT_TRACE_PROPERTIES properties;
			char name[64];
		} block = {.properties = {.Wnode.BufferSize = sizeof(block),
					  .LoggerNameOffset = offsetof(__typeof__(block), name)}};
		char name[32];
		ULONG error;

		snprintf(name, sizeof(name), "limits %d", i);
		error = ControlTraceA(0, name, &block.properties, EVENT_TRACE_CONTROL_STOP);
		if (error && error != ERROR_WMI_INSTANCE_NOT_FOUND)
			fail("%s cannot be stopped: error %u", name, (unsigned)error);
	}
}

static void await_written(uint32_t place)
{
	const uint64_t *count = &shared->writers[place].succeeded;

	await_more(count, load_acquire(count) + MORE_EVENTS, "a writer does not go on");
}

static void WINAPI see_event(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	struct storm_payload payload;

	if (!IsEqualGUID(&record->EventHeader.ProviderId, &storm_provider))
		return;
	memcpy(&payload, record->UserData, sizeof(payload));
	if (payload.writer > 1 || payload.number <= seen->last[payload.writer])
		fail("an event of writer %u is there twice, or not in order", payload.writer);
	seen->last[payload.writer] = payload.number;
	seen->count++;
}

static uint64_t calls(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 2; i++)
		sum += shared->writers[i].succeeded + shared->writers[i].refused;
	return sum;
}

static void settle(const char *file)
{
	struct seen seen = {0};
	ULONG lost = recording_read(file, see_event, &seen);

	(void)recording_check_order(file);
	printf("%" PRIu64 " tried, %" PRIu64 " in the file, %u lost\n", calls(), seen.count,
	       (unsigned)lost);
	if (calls() != seen.count + lost)
		fail("the sum is off by %lld", (long long)(seen.count + lost - calls()));
}

static void run(bool is_memory)
{
	char file[300];
	const struct recording_options options = {
		.name = "limits",
		.file = file,
		.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
		.buffer_kib = 64,
		.buffers = 32,
	};
	const int resource = is_memory ? RLIMIT_AS : RLIMIT_NOFILE;
	struct rlimit before;
	pid_t host, writers[2];
	ULONG error;

	snprintf(file, sizeof(file), "%s/limits.etl", test_home());
	recording_start(&recording, &options);
	recording_enable(&recording, &storm_provider);
	writers[0] = start_writer(0);
	await_written(0);
	host = recording_await_standby().host;
	limit_host(host, is_memory, &before);
	error = try_others();
	printf("another session: error %u\n", (unsigned)error);
	if (error != ERROR_NO_SYSTEM_RESOURCES && error != ERROR_NOT_ENOUGH_MEMORY &&
	    error != ERROR_OUTOFMEMORY && error != ERROR_TOO_MANY_OPEN_FILES)
		fail("no session was refused for lack of anything: error %u", (unsigned)error);
	writers[1] = start_writer(1);
	await_written(0);
	recording_control(&recording, EVENT_TRACE_CONTROL_FLUSH);
	await_written(0);
	if (prlimit(host, (__rlimit_resource_t)resource, &before, NULL))
		fail("the host is not there any more: %s", strerror(errno));
	await_written(1);
	for (int i = 0; i < 2; i++) {
		store_release(&shared->writers[i].order, (uint32_t)STORM_END);
		await_end(writers[i], "a writer");
	}
	stop_others();
	if (recording_processes().host != host)
		fail("the host has died");
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	settle(file);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2)
		return 2;
	if (geteuid() != 0) {
		printf("skipped: another user's process needs root\n");
		return TEST_SKIPPED;
	}
	shared = share_with_forks(sizeof(*shared));
	run(strcmp(argv[1], "memory") == 0);
	return 0;
}
