/* SPDX-License-Identifier: MIT */
/*
 * replaced WRITER - forked children without a listener write on while their session replaces its rings, because
 * other processes died inside EventWrite; and while the host is killed. Nobody tells the children, so from then
 * on each EventWrite of theirs fails. What was tried is in the file or counted as lost, exactly; and when the
 * session is over their EventWrite succeeds again, as that of a provider that nobody has enabled.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <evntprov.h>
#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "recording/children.h"
#include "recording/death_shared.h"
#include "recording/support.h"

#define REPLACEMENTS  4
#define CHILD(number) (1 + (number))
#define DEAD(number)  (1 + REPLACEMENTS + (number))
#define WRITERS       (1 + 2 * REPLACEMENTS) /* 0: this process, which has a listener */
#define BURST         8
#define PAUSE_US      500
#define BURSTS        100
#define DEATH_AFTER   40 /* visits of the point */

struct seen {
	uint64_t last[WRITERS];
	uint64_t count[WRITERS];
};

static struct recording recording;
static const char *writer_program;
static struct death_writer *writers;
static int writers_fd;
static REGHANDLE provider;
static pid_t children[REPLACEMENTS];

static void write_one(uint32_t writer)
{
	struct death_log *log = &writers[writer].log;
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	struct death_payload payload = {.writer = writer, .number = load_relaxed(&log->done) + 1};
	EVENT_DATA_DESCRIPTOR data;
	ULONG error;

	EventDataDescCreate(&data, &payload, DEATH_PAYLOAD_FIXED);
	error = EventWrite(provider, &descriptor, 1, &data);
	if (error && error != ERROR_NOT_ENOUGH_MEMORY)
		fail("EventWrite: error %u", (unsigned)error);
	if (error)
		store_release(&log->refused, load_relaxed(&log->refused) + 1);
	else
		store_release(&log->done, payload.number);
}

static void write_bursts(uint32_t writer, uint32_t bursts)
{
	for (uint32_t i = 0; i < bursts; i++) {
		for (int j = 0; j < BURST; j++)
			write_one(writer);
		usleep(PAUSE_US);
	}
}

/* As death_writer.c: told 1 it pauses, told 2 it ends. */
static void be_child(uint32_t writer)
{
	struct death_log *log = &writers[writer].log;
	uint32_t told;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((told = load_acquire(&log->is_told)) < 2) {
		store_release(&log->is_idle, told);
		if (told)
			usleep(PAUSE_US);
		else
			write_bursts(writer, 1);
	}
	_exit(0);
}

/* A process that dies with a place reserved: the session gives its buffer up with the whole set. */
static void leave_gap(uint32_t writer)
{
	const struct death_plan plan = {.point = "ring.reserve.claimed",
					.countdown = DEATH_AFTER,
					.signal = SIGKILL,
					.cpu = 0,
					.seed = writer};
	pid_t pid;
	int status;

	writers[writer].plan = plan;
	pid = start_program(writer_program, NULL, writers_fd, writer);
	if (waitpid(pid, &status, 0) != pid)
		fail("waitpid: %s", strerror(errno));
	if (!WIFSIGNALED(status) || !load_acquire(&writers[writer].log.has_acted))
		fail("a writer ended with status %#x", (unsigned)status);
}

/*
 * Who has a listener has the new rings. Where the child found no free buffer, because the host did not get a
 * processor, the old ones are there for a while yet, and full.
 */
static void await_new_rings(void)
{
	double end = seconds() + HANG_SECONDS;
	uint64_t refused;

	do {
		if (seconds() > end)
			fail("who was told of the new rings loses events");
		refused = load_relaxed(&writers[0].log.refused);
		write_bursts(0, BURSTS);
	} while (load_relaxed(&writers[0].log.refused) != refused);
}

static void replace_rings(uint32_t number)
{
	children[number] = fork();
	if (children[number] == 0)
		be_child(CHILD(number));
	if (children[number] < 0)
		fail("fork: %s", strerror(errno));
	await_more(&writers[CHILD(number)].log.done, 0, "a child does not write");
	leave_gap(DEAD(number));
	await_more(&writers[CHILD(number)].log.refused, 0, "the rings are not replaced");
	await_new_rings();
}

/* The logger thread is one of the host's, so a signal to it is one to the host. */
static void kill_host(void)
{
	ULONG lost;

	recording_control(&recording, EVENT_TRACE_CONTROL_QUERY);
	lost = recording.block.properties.EventsLost;
	if (kill((pid_t)(uintptr_t)recording.block.properties.LoggerThreadId, SIGKILL))
		fail("kill: %s", strerror(errno));
	write_bursts(0, BURSTS);
	for (uint32_t i = 0; i < REPLACEMENTS && children[i]; i++)
		await_more(&writers[CHILD(i)].log.refused,
			   load_relaxed(&writers[CHILD(i)].log.refused), "a child stands still");
	recording_control(&recording, EVENT_TRACE_CONTROL_QUERY);
	printf("%u events lost before the host was killed, %u by now\n", (unsigned)lost,
	       (unsigned)recording.block.properties.EventsLost);
	if (recording.block.properties.EventsLost <= lost)
		fail("the next host does not count on");
}

static void tell(uint32_t what)
{
	for (uint32_t i = 0; i < REPLACEMENTS; i++)
		store_release(&writers[CHILD(i)].log.is_told, what);
	for (uint32_t i = 0; i < REPLACEMENTS && what < 2; i++) {
		double end = seconds() + HANG_SECONDS;

		while (load_acquire(&writers[CHILD(i)].log.is_idle) != what) {
			if (seconds() > end)
				fail("a child does not hear");
			usleep(500);
		}
	}
}

static void WINAPI see_event(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	struct death_payload payload = {0};

	if (!IsEqualGUID(&record->EventHeader.ProviderId, &death_provider))
		return;
	memcpy(&payload, record->UserData, DEATH_PAYLOAD_FIXED);
	if (payload.writer >= WRITERS || payload.number <= seen->last[payload.writer])
		fail("writer %u: event %" PRIu64 " is not what comes next", payload.writer,
		     payload.number);
	seen->last[payload.writer] = payload.number;
	seen->count[payload.writer]++;
}

static void settle(const char *file)
{
	static struct seen seen;
	uint64_t done = 0, refused = 0, in_file = 0;
	ULONG lost = recording_read(file, see_event, &seen);

	(void)recording_check_order(file);
	if (lost != recording.block.properties.EventsLost)
		fail("the file says %u lost, the session %u", (unsigned)lost,
		     (unsigned)recording.block.properties.EventsLost);
	for (uint32_t i = 0; i < WRITERS; i++) {
		if (seen.last[i] > load_relaxed(&writers[i].log.done))
			fail("writer %u: an event is in the file that failed", i);
		done += load_relaxed(&writers[i].log.done);
		refused += load_relaxed(&writers[i].log.refused);
		in_file += seen.count[i];
	}
	printf("%" PRIu64 " succeeded, %" PRIu64 " were refused, %d died; %" PRIu64
	       " in the file, %u lost\n",
	       done, refused, REPLACEMENTS, in_file, (unsigned)lost);
	if (done + refused + REPLACEMENTS != in_file + lost)
		fail("the sum is off by %lld",
		     (long long)(done + refused + REPLACEMENTS - in_file - lost));
}

/* The session is over: nobody wants their events any more. */
static void check_afterwards(void)
{
	uint64_t done[REPLACEMENTS], refused[REPLACEMENTS];

	for (uint32_t i = 0; i < REPLACEMENTS; i++) {
		done[i] = load_relaxed(&writers[CHILD(i)].log.done);
		refused[i] = load_relaxed(&writers[CHILD(i)].log.refused);
	}
	tell(0);
	for (uint32_t i = 0; i < REPLACEMENTS; i++)
		await_more(&writers[CHILD(i)].log.done, done[i], "a child is refused for ever");
	tell(2);
	for (uint32_t i = 0; i < REPLACEMENTS; i++) {
		int status;

		if (waitpid(children[i], &status, 0) != children[i] || status)
			fail("a child ended with status %#x", (unsigned)status);
		if (load_relaxed(&writers[CHILD(i)].log.refused) != refused[i])
			fail("a child is refused when the session is over");
	}
}

int main(int argc, char **argv)
{
	struct recording_options options = {.name = "replaced",
					    .mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
					    .buffer_kib = 64,
					    .buffers = 128};
	char file[300];

	if (argc != 2)
		fail("usage: replaced WRITER");
	setvbuf(stdout, NULL, _IOLBF, 0);
	writer_program = argv[1];
	/* As much as the program maps. */
	writers = share_with_programs(sizeof(*writers) * DEATH_WRITERS_MAX, &writers_fd);
	snprintf(file, sizeof(file), "%s/replaced.etl", test_home());
	options.file = file;
	recording_start(&recording, &options);
	recording_enable(&recording, &death_provider);
	provider = recording_register(&death_provider, NULL, NULL);
	for (uint32_t i = 0; i < REPLACEMENTS; i++) {
		replace_rings(i);
		if (i % 2)
			kill_host();
	}
	tell(1);
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	settle(file);
	check_afterwards();
	EventUnregister(provider);
	return 0;
}
