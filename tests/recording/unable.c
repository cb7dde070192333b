/* SPDX-License-Identifier: MIT */
/*
 * unable ETW - processes that get no rings, or no connection, and what they, `etw sessions` and the trace say of it: one that has
 * no memory for them, one that has no descriptors before it registers, and one that has none afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <evntprov.h>
#include <winerror.h>

#include "base/atomic.h"
#include "recording/children.h"
#include "recording/enabled.h"
#include "recording/support.h"

#define EVENTS    100
#define NO_MEMORY "cannot write to this session: Cannot allocate memory"
#define FEW_FILES 64
#define SPARE_BYTES \
	(48u * 1024 * 1024) /* for a thread's stack and allocations, not for a ring set */

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x16}};

/* Shared with the children; atomics. */
struct shared {
	uint32_t step; /* of a child, and of its parent, in turn */
	uint64_t succeeded, refused;
};

static struct shared *shared;
static struct recording recording;
static const char *etw;

static void await_step(uint32_t step)
{
	const struct wait wait = wait_for("the next step does not come");

	while (load_acquire(&shared->step) < step)
		wait_on(&wait);
}

static void await_enabled(REGHANDLE handle, bool is_enabled)
{
	const struct wait wait = wait_for(is_enabled ? "the provider is not enabled"
						     : "the provider is not disabled");

	while (!EventProviderEnabled(handle, 0, 0) == is_enabled)
		wait_on(&wait);
}

static ULONG write_one(REGHANDLE handle)
{
	static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	ULONG error = EventWrite(handle, &descriptor, 0, NULL);

	if (error)
		add_relaxed(&shared->refused, UINT64_C(1));
	else
		add_relaxed(&shared->succeeded, UINT64_C(1));
	return error;
}

static uint64_t address_space_bytes(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		_exit(3);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Until an event does not just pass a provider that nobody has enabled. */
static void be_without_memory(void)
{
	const uint64_t bytes = address_space_bytes() + SPARE_BYTES;
	const struct rlimit limit = {bytes, bytes};
	REGHANDLE handle;

	if (setrlimit(RLIMIT_AS, &limit) || EventRegister(&provider_guid, NULL, NULL, &handle))
		_exit(2);
	await_enabled(handle, true);
	for (int i = 0; i < EVENTS; i++) {
		if (write_one(handle) != ERROR_NOT_ENOUGH_MEMORY)
			_exit(4);
	}
	store_release(&shared->step, 1u);
	await_step(2);
	_exit(EventUnregister(handle) != 0);
}

static int files[FEW_FILES];

static void use_up_files(void)
{
	const struct rlimit limit = {FEW_FILES, FEW_FILES};
	unsigned count = 0;

	if (setrlimit(RLIMIT_NOFILE, &limit))
		_exit(2);
	while (count < FEW_FILES && (files[count] = open("/dev/null", O_RDONLY)) >= 0)
		count++;
}

static void be_late(void)
{
	REGHANDLE handle;

	use_up_files();
	if (EventRegister(&provider_guid, NULL, NULL, &handle))
		_exit(3);
	if (EventProviderEnabled(handle, 0, 0))
		_exit(4);
	usleep(200000); /* so that it is late for longer than nothing */
	for (unsigned i = 0; i < FEW_FILES; i++)
		close(files[i]);
	await_enabled(handle, true);
	for (int i = 0; i < EVENTS; i++)
		(void)write_one(handle);
	store_release(&shared->step, 1u);
	await_step(2);
	_exit(EventUnregister(handle) != 0);
}

/* What it was connected with before it has for what comes later. */
static void be_frugal(void)
{
	REGHANDLE handle;

	if (EventRegister(&provider_guid, NULL, NULL, &handle))
		_exit(2);
	await_enabled(handle, true);
	store_release(&shared->step, 1u);
	await_step(2); /* disabled, without rings */
	await_enabled(handle, false);
	use_up_files();
	store_release(&shared->step, 3u);
	await_step(4);
	await_enabled(handle, true);
	for (int i = 0; i < EVENTS; i++)
		(void)write_one(handle);
	_exit(EventUnregister(handle) != 0);
}

static pid_t start(void (*be)(void))
{
	pid_t child;

	memset(shared, 0, sizeof(*shared));
	child = fork();
	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (child == 0)
		be();
	return child;
}

static void finish(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || status)
		fail("a child ended with status %#x", (unsigned)status);
}

static void toggle(ULONG code)
{
	ULONG error = EnableTraceEx2(recording.handle, &provider_guid, code, TRACE_LEVEL_VERBOSE, 0,
				     0, (ULONG)ENABLED_MS, NULL);

	if (error)
		fail("EnableTraceEx2 %u: error %u", (unsigned)code, (unsigned)error);
}

static void await_child(pid_t child, uint32_t step)
{
	const struct wait wait = wait_for("a child does not take its next step");
	int status;

	while (load_acquire(&shared->step) < step) {
		if (waitpid(child, &status, WNOHANG) == child)
			fail("a child ended early with status %#x", (unsigned)status);
		wait_on(&wait);
	}
}

/* What `etw` with these arguments says of the child. */
static void expect_said(const char *arguments, pid_t child, const char *what, uint64_t number)
{
	char command[1000], text[16384], wanted[200];
	size_t bytes;
	FILE *pipe;

	snprintf(command, sizeof(command), "'%s' %s", etw, arguments);
	pipe = popen(command, "re");
	if (!pipe)
		fail("popen: %s", strerror(errno));
	bytes = fread(text, 1, sizeof(text) - 1, pipe);
	text[bytes] = 0;
	if (pclose(pipe))
		fail("etw %s: %s", arguments, text);
	snprintf(wanted, sizeof(wanted), "process %d of uid %u %s", (int)child, (unsigned)getuid(),
		 what);
	if (!strstr(text, wanted))
		fail("etw %s does not say \"%s\": %s", arguments, wanted, text);
	snprintf(wanted, sizeof(wanted), "%llu events were refused", (unsigned long long)number);
	if (number && !strstr(text, wanted))
		fail("etw %s does not say \"%s\": %s", arguments, wanted, text);
}

/* The trace itself, when the session is over. */
static void expect_note(const char *file, pid_t child, const char *what, uint64_t number)
{
	char arguments[400];

	snprintf(arguments, sizeof(arguments), "info '%s'", file);
	expect_said(arguments, child, what, number);
}

static void start_session(const char *file)
{
	recording_start(&recording, &(struct recording_options){
					    .name = "unable",
					    .file = file,
					    .mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
					    .buffer_kib = 1024,
					    .buffers = 64,
				    });
	toggle(EVENT_CONTROL_CODE_ENABLE_PROVIDER);
}

static void WINAPI count_event(PEVENT_RECORD record)
{
	uint64_t *count = record->UserContext;

	*count += IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid);
}

/* Stops the session; it has what succeeded. */
static void settle(const char *file)
{
	uint64_t count = 0;
	ULONG lost;

	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	lost = recording_read(file, count_event, &count);
	printf("%llu succeeded, %llu refused; %llu in the file, %u lost\n",
	       (unsigned long long)shared->succeeded, (unsigned long long)shared->refused,
	       (unsigned long long)count, (unsigned)lost);
	if (count != shared->succeeded)
		fail("events are missing");
}

int main(int argc, char **argv)
{
	char file[300];
	pid_t child;

	if (argc != 2)
		fail("usage: unable ETW");
	etw = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	shared = share_with_forks(sizeof(*shared));
	snprintf(file, sizeof(file), "%s/unable.etl", test_home());

	start_session(file);
	child = start(be_without_memory);
	await_child(child, 1);
	expect_said("sessions --json", child, NO_MEMORY, 0);
	toggle(EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	expect_said("sessions --json", child, NO_MEMORY, EVENTS);
	store_release(&shared->step, 2u);
	finish(child);
	settle(file);
	expect_note(file, child, NO_MEMORY, EVENTS);

	start_session(file);
	child = start(be_late);
	await_child(child, 1);
	expect_said("sessions --json", child, "could not connect for", 0);
	store_release(&shared->step, 2u);
	finish(child);
	settle(file);
	expect_note(file, child, "could not connect for", 0);

	start_session(file);
	child = start(be_frugal);
	await_child(child, 1);
	toggle(EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	store_release(&shared->step, 2u);
	await_child(child, 3);
	start_session(file); /* another set, for which it has no descriptors but those in reserve */
	store_release(&shared->step, 4u);
	finish(child);
	settle(file);
	if (shared->succeeded != EVENTS)
		fail("a process without descriptors did not get its rings");
	return 0;
}
