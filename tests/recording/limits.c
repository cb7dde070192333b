/* SPDX-License-Identifier: MIT */
/*
 * limits LIMIT - somebody meets a limit while a session records:
 *
 *	descriptors  the host, of its descriptors
 *	memory       the host, of its address space
 *	family       host, keeper and standby, of descriptors, from their start; and the host dies
 *	keeper       the keeper, of descriptors, while the host has enough: what it cannot keep does not go on
 *	file_size    the host and a writer, of the size of files (RLIMIT_FSIZE), which memory that is shared has, too
 *	consumer     a consumer, of descriptors and of its address space
 *	cgroup       the host, of the memory of a cgroup of its own: the kernel kills it
 *
 * What needs more is refused with an error: another session, another user's rings, a consumer. The session goes on, and when
 * the limit is lifted the other user's process is enabled by itself. The file has what was tried, or it is counted as lost.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "recording/children.h"
#include "recording/storm_shared.h"
#include "recording/support.h"

#define MORE_EVENTS 5000
#define OTHERS      8 /* sessions that are tried */
#define SMALL_KIB   1024
#define FEW_FILES   72
#define MORE_BYTES  (128u << 10)
#define GROUP_BYTES (8u << 20)

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

static char file[300];

static void start_session(ULONG mode)
{
	const struct recording_options options = {
		.name = "limits",
		.file = file,
		.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL | mode,
		.buffer_kib = 64,
		.buffers = 32,
	};

	snprintf(file, sizeof(file), "%s/limits.etl", test_home());
	recording_start(&recording, &options);
	recording_enable(&recording, &storm_provider);
}

static void end_writers(const pid_t writers[2])
{
	for (int i = 0; i < 2; i++) {
		store_release(&shared->writers[i].order, (uint32_t)STORM_END);
		await_end(writers[i], "a writer");
	}
}

static void expect_refused(ULONG error)
{
	printf("another session: error %u\n", (unsigned)error);
	if (error != ERROR_NO_SYSTEM_RESOURCES && error != ERROR_NOT_ENOUGH_MEMORY &&
	    error != ERROR_OUTOFMEMORY && error != ERROR_TOO_MANY_OPEN_FILES)
		fail("no session was refused for lack of anything: error %u", (unsigned)error);
}

static void finish(const pid_t writers[2], pid_t host)
{
	end_writers(writers);
	stop_others();
	if (host && recording_processes().host != host)
		fail("the host has died");
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	settle(file);
}

static void limit_the_host(bool is_memory)
{
	const int resource = is_memory ? RLIMIT_AS : RLIMIT_NOFILE;
	struct rlimit before;
	pid_t host, writers[2];

	start_session(0);
	writers[0] = start_writer(0);
	await_written(0);
	host = recording_await_standby().host;
	limit_host(host, is_memory, &before);
	expect_refused(try_others());
	writers[1] = start_writer(1);
	await_written(0);
	recording_control(&recording, EVENT_TRACE_CONTROL_FLUSH);
	await_written(0);
	if (prlimit(host, (__rlimit_resource_t)resource, &before, NULL))
		fail("the host is not there any more: %s", strerror(errno));
	await_written(1);
	finish(writers, host);
}

static void limit_descriptors(void)
{
	limit_the_host(false);
}

static void limit_memory(void)
{
	limit_the_host(true);
}

/* All that the host has the keeper can have, too: so nothing is missing when the host dies at its limit. */
static void limit_family(void)
{
	const struct rlimit few = {FEW_FILES, FEW_FILES};
	pid_t host, writers[2];

	if (setrlimit(RLIMIT_NOFILE, &few))
		fail("setrlimit: %s", strerror(errno));
	start_session(0);
	writers[0] = start_writer(0);
	await_written(0);
	host = recording_await_standby().host;
	printf("the host has %u descriptors\n", count_descriptors(host));
	expect_refused(try_others());
	writers[1] = start_writer(1);
	await_written(0);
	if (kill(host, SIGKILL))
		fail("kill: %s", strerror(errno));
	await_written(0);
	recording_control(&recording, EVENT_TRACE_CONTROL_FLUSH);
	stop_others();
	await_written(1);
	if (recording_await_standby().host == host)
		fail("the host has not died");
	finish(writers, 0);
}

/* Those that the keeper cannot keep end by themselves. */
static void await_no_others(void)
{
	struct wait wait = wait_for("a session goes on that is not kept");

	for (int i = 0; i < OTHERS; i++) {
		struct {
			EVENT_TRACE_PROPERTIES properties;
			char name[64];
		} block;
		char name[32];
		ULONG error;

		snprintf(name, sizeof(name), "limits %d", i);
		do {
			wait_on(&wait);
			memset(&block, 0, sizeof(block));
			block.properties.Wnode.BufferSize = sizeof(block);
			block.properties.LoggerNameOffset = offsetof(__typeof__(block), name);
			error = ControlTraceA(0, name, &block.properties,
					      EVENT_TRACE_CONTROL_QUERY);
		} while (error != ERROR_WMI_INSTANCE_NOT_FOUND);
	}
}

static void limit_keeper_of(struct rlimit *ret_before, pid_t *ret_host)
{
	const struct recording_processes processes = recording_await_standby();
	struct rlimit none;

	if (prlimit(processes.keeper, RLIMIT_NOFILE, NULL, ret_before))
		fail("prlimit: %s", strerror(errno));
	none = (struct rlimit){STDERR_FILENO + 1, ret_before->rlim_max};
	if (prlimit(processes.keeper, RLIMIT_NOFILE, &none, NULL))
		fail("prlimit: %s", strerror(errno));
	*ret_host = processes.host;
}

static void lift_keeper_limit(const struct rlimit *before)
{
	if (prlimit(recording_processes().keeper, RLIMIT_NOFILE, before, NULL))
		fail("prlimit: %s", strerror(errno));
}

/*
 * The keeper answers when it can, so the first sessions start and end again. Rings that it cannot keep are replaced by
 * ones that refuse, in which each event counts.
 */
static void limit_keeper(void)
{
	struct rlimit before;
	struct wait wait;
	pid_t host, writers[2];
	ULONG error;

	start_session(0);
	writers[0] = start_writer(0);
	await_written(0);
	limit_keeper_of(&before, &host);
	wait = wait_for("no session is refused");
	while ((error = try_others()) == ERROR_SUCCESS || error == ERROR_ALREADY_EXISTS)
		wait_on(&wait);
	expect_refused(error);
	await_no_others();
	await_written(0);
	lift_keeper_limit(&before);
	if (kill(host, SIGKILL))
		fail("kill: %s", strerror(errno));
	await_written(0);
	limit_keeper_of(&before, &host);
	writers[1] = start_writer(1);
	await_more(&shared->writers[1].refused, MORE_EVENTS, "rings are used that are not kept");
	await_written(0);
	lift_keeper_limit(&before);
	await_written(1);
	finish(writers, host);
}

/* The file ends, and memory that is new is refused; nobody dies of SIGXFSZ. */
static void limit_file_size(void)
{
	const struct rlimit none = {0, 0};
	struct rlimit little = none;
	pid_t host, writers[2];
	struct stat info;
	struct wait wait;

	start_session(0);
	writers[0] = fork();
	if (writers[0] < 0)
		fail("fork: %s", strerror(errno));
	if (writers[0] == 0)
		_exit(setrlimit(RLIMIT_FSIZE, &none) ? 1 : storm_write(shared, 0, 1));
	await_written(0);
	host = recording_await_standby().host;
	if (stat(file, &info))
		fail("%s: %s", file, strerror(errno));
	little.rlim_cur = little.rlim_max = (rlim_t)info.st_size + MORE_BYTES;
	if (prlimit(host, RLIMIT_FSIZE, &little, NULL))
		fail("prlimit: %s", strerror(errno));
	if (try_others() == ERROR_SUCCESS)
		fail("memory is made that is larger than the limit");
	wait = wait_for("the file does not end");
	do {
		wait_on(&wait);
		recording_control(&recording, EVENT_TRACE_CONTROL_FLUSH);
		recording_control(&recording, EVENT_TRACE_CONTROL_QUERY);
	} while (recording.block.properties.LogBuffersLost == 0);
	writers[1] = start_writer(1);
	await_written(0);
	finish(writers, host);
}

/* Everything that it has, or none more than that. */
static void be_poor_consumer(bool is_memory)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LoggerName = (char *)(uintptr_t) "limits",
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME,
		.EventRecordCallback = see_event,
	};
	struct seen seen = {0};
	struct rlimit limit;
	TRACEHANDLE trace;

	logfile.Context = &seen;
	limit_host(getpid(), is_memory, &limit);
	trace = OpenTraceA(&logfile);
	if (trace != INVALID_PROCESSTRACE_HANDLE)
		(void)ProcessTrace(&trace, 1, NULL, NULL);
	_exit(0);
}

static void limit_consumer(void)
{
	pid_t host, writers[2];

	start_session(EVENT_TRACE_REAL_TIME_MODE);
	host = recording_await_standby().host;
	for (uint32_t i = 0; i < 2; i++)
		writers[i] = start_writer(i);
	for (int i = 0; i < 4; i++) {
		pid_t consumer = fork();
		int status;

		if (consumer < 0)
			fail("fork: %s", strerror(errno));
		if (consumer == 0)
			be_poor_consumer(i % 2);
		await_written(0);
		await_written(1);
		/* One that had enough after all is gone now. */
		(void)kill(consumer, SIGKILL);
		if (waitpid(consumer, &status, 0) != consumer)
			fail("waitpid: %s", strerror(errno));
		printf("a poor consumer: %s\n", WIFEXITED(status) ? "was refused" : "had enough");
	}
	finish(writers, host);
}

/* Folder of a cgroup's controller of memory, and the file with the limit there; NULL: there is none here. */
static const char *memory_controller(const char **ret_limit)
{
	static const char *const folders[][2] = {
		{"/sys/fs/cgroup", "memory.max"},
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
	};
	char path[300];

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, sizeof(path), "%s/etw-test-%d", folders[i][0], (int)getpid());
		if (mkdir(path, 0755))
			continue;
		snprintf(path, sizeof(path), "%s/etw-test-%d/%s", folders[i][0], (int)getpid(),
			 folders[i][1]);
		if (access(path, W_OK) == 0) {
			*ret_limit = folders[i][1];
			return folders[i][0];
		}
		*strrchr(path, '/') = '\0';
		(void)rmdir(path);
	}
	return NULL;
}

static void write_number(const char *folder, const char *name, uint64_t number)
{
	char path[400];
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to = fopen(path, "we");
	if (!to || fprintf(to, "%" PRIu64 "\n", number) < 0 || fclose(to))
		fail("%s: %s", path, strerror(errno));
}

/*
 * Memory is charged to the group of who touches it first: what the host had before is its family's, what it makes now is its
 * group's. The next host is a child of the keeper, in whose group there is room.
 */
static void limit_group(void)
{
	const char *limit_name, *controller = memory_controller(&limit_name);
	char folder[300];
	pid_t host, writers[2];
	struct wait wait;
	ULONG error;

	if (!controller) {
		printf("skipped: no cgroup with a limit of memory can be made here\n");
		exit(TEST_SKIPPED);
	}
	snprintf(folder, sizeof(folder), "%s/etw-test-%d", controller, (int)getpid());
	start_session(0);
	writers[0] = start_writer(0);
	await_written(0);
	host = recording_await_standby().host;
	write_number(folder, "cgroup.procs", (uint64_t)host);
	write_number(folder, limit_name, GROUP_BYTES);
	error = try_others();
	printf("other sessions: error %u\n", (unsigned)error);
	writers[1] = start_writer(1);
	wait = wait_for("the host does not meet its group's limit");
	while (recording_processes().host == host) {
		(void)try_others();
		stop_others();
		wait_on(&wait);
	}
	await_written(0);
	await_written(1);
	finish(writers, 0);
	if (rmdir(folder))
		fail("%s: %s", folder, strerror(errno));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} limits[] = {
		{"descriptors", limit_descriptors},
		{"memory", limit_memory},
		{"family", limit_family},
		{"keeper", limit_keeper},
		{"file_size", limit_file_size},
		{"consumer", limit_consumer},
		{"cgroup", limit_group},
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2)
		return 2;
	if (geteuid() != 0) {
		printf("skipped: another user's process needs root\n");
		return TEST_SKIPPED;
	}
	shared = share_with_forks(sizeof(*shared));
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		if (strcmp(argv[1], limits[i].name) != 0)
			continue;
		limits[i].run();
		return 0;
	}
	return 2;
}
