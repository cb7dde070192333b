/* SPDX-License-Identifier: MIT */
/*
 * lifecycle KIND PART PROGRAM [PLUGIN] - records what PROGRAM (lifecycle_writer.c) writes while it does what processes
 * do, and settles the account: what succeeded is in the file once and in order, or counts as lost.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <winerror.h>

#include "recording/children.h"
#include "recording/lifecycle_kind.h"
#include "recording/support.h"

static struct recording recording;
static struct lifecycle_shared *shared;

struct seen {
	uint64_t last[LIFECYCLE_WRITERS];
	uint64_t count[LIFECYCLE_WRITERS];
};

static bool is_ours(const GUID *provider)
{
	return IsEqualGUID(provider, &lifecycle_provider) ||
	       IsEqualGUID(provider, &lifecycle_plugin_provider) ||
	       IsEqualGUID(provider, &lifecycle_class);
}

static void WINAPI see_event(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	struct lifecycle_payload payload;

	if (!is_ours(&record->EventHeader.ProviderId))
		return;
	if (record->UserDataLength != sizeof(payload))
		fail("an event of %u bytes is not what a writer wrote", record->UserDataLength);
	memcpy(&payload, record->UserData, sizeof(payload));
	if (payload.writer >= LIFECYCLE_WRITERS)
		fail("an event is of writer %u", payload.writer);
	if (payload.number <= seen->last[payload.writer])
		fail("writer %u: event %" PRIu64 " comes after %" PRIu64, payload.writer,
		     payload.number, seen->last[payload.writer]);
	if (record->EventHeader.ProcessId != payload.process_id)
		fail("writer %u of process %u is said to be process %u", payload.writer,
		     payload.process_id, (unsigned)record->EventHeader.ProcessId);
	seen->last[payload.writer] = payload.number;
	seen->count[payload.writer]++;
}

static void settle(const char *file)
{
	static struct seen seen;
	uint64_t done = 0, refused = 0, in_file = 0;
	ULONG lost;

	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	lost = recording_read(file, see_event, &seen);
	(void)recording_check_order(file);
	for (uint32_t i = 0; i < LIFECYCLE_WRITERS; i++) {
		const struct lifecycle_log *log = &shared->logs[i];

		if (seen.last[i] > load_relaxed(&log->done))
			fail("writer %u: event %" PRIu64 " is in the file, but it wrote %" PRIu64,
			     i, seen.last[i], load_relaxed(&log->done));
		done += load_relaxed(&log->done);
		refused += load_relaxed(&log->refused);
		in_file += seen.count[i];
	}
	printf("%" PRIu64 " succeeded, %" PRIu64 " were refused; %" PRIu64
	       " in the file, %u lost\n",
	       done, refused, in_file, (unsigned)lost);
	if (load_relaxed(&shared->is_account_open) ? done + refused < in_file + lost
						   : done + refused != in_file + lost)
		fail("the sum is off by %lld", (long long)(done + refused - in_file - lost));
	if (in_file == 0)
		fail("nothing is in the file");
}

/* What the writing program asks for: it has no controller in it. */
static void serve(void)
{
	const uint32_t request = load_acquire(&shared->request);
	const GUID *provider = shared->is_for_plugin ? &lifecycle_plugin_provider
						     : &lifecycle_provider;
	ULONG error;

	if (!request)
		return;
	error = EnableTraceEx2(recording.handle, provider, request - 1, TRACE_LEVEL_VERBOSE, 0, 0,
			       WAIT_SECONDS * 1000, NULL);
	if (error)
		fail("EnableTraceEx2 %u: error %u", (unsigned)request - 1, (unsigned)error);
	store_release(&shared->request, 0u);
}

static void run_program(char *const *arguments, const char *fd)
{
	const char *plugin = arguments[4] ? arguments[4] : "";
	const struct wait wait = wait_for("the writing program does not end");
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		(void)execl(arguments[3], arguments[3], fd, arguments[1], arguments[2], plugin,
			    (char *)NULL);
		_exit(127);
	}
	if (child < 0)
		fail("fork: %s", strerror(errno));
	while (waitpid(child, &status, WNOHANG) == 0) {
		serve();
		wait_on(&wait);
	}
	if (status)
		fail("the writing program ended with status %#x", (unsigned)status);
}

int main(int argc, char **argv)
{
	struct recording_options options = {.name = "lifecycle",
					    .mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
					    .buffer_kib = 64,
					    .buffers = 128};
	char file[300], fd_text[16];
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 4)
		fail("usage: lifecycle KIND PART PROGRAM [PLUGIN]");
	shared = share_with_programs(sizeof(*shared), &fd);
	snprintf(fd_text, sizeof(fd_text), "%d", fd);
	snprintf(file, sizeof(file), "%s/lifecycle.etl", test_home());
	options.file = file;
	recording_start(&recording, &options);
	recording_enable(&recording, &lifecycle_provider);
	run_program(argv, fd_text);
	settle(file);
	return 0;
}
