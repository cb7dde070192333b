/* SPDX-License-Identifier: MIT */
/*
 * accounts [--events N] [--rate N] [--mib N] [--kernel] [--none-lost] [--kill-host N] - four processes of two uids write
 * into one session, at full speed or at --rate events a second in total. Every event whose EventWrite
 * succeeded is in the file exactly once and in order, or counted as lost; the sum is exact. With --kernel
 * the session also records processes, while some are made. With --kill-host the host is killed that often
 * meanwhile. With --none-lost and a rate nothing may be refused; writers then wait for a session that the machine
 * keeps from its work. Without root all writers have one uid.
 */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <evntprov.h>

#include "base/atomic.h"
#include "base/time.h"
#include "recording/children.h"
#include "recording/support.h"

#define WRITERS     4
#define OTHER_UID   65534
#define FORKS       200
#define AT_ONCE     128
#define EVENT_BYTES 128                  /* more than one takes in a buffer */
#define STALL_NS    (50 * ETW_NS_PER_MS) /* less than a session waits for an event that is begun */

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x01}};

struct options {
	uint64_t events; /* of each writer */
	uint64_t rate;   /* of all together; 0: as fast as it goes */
	ULONG mib;       /* of buffers, for each uid */
	int kills;       /* of the host */
	bool is_kernel;
	bool is_none_lost;
};

struct payload {
	uint32_t writer;
	uint32_t reserved;
	uint64_t number; /* from 1 */
};

/* What a writer tells at its end. */
struct result {
	uint64_t succeeded, refused;
	uint64_t
		stalled; /* calls that took so long that the session may have given their place up */
};

/* Shared with the writers. */
struct credit {
	uint64_t written; /* atomic */
	uint64_t allowed; /* atomic: so many events may be written */
	uint64_t waits;   /* the writer's, for that */
};

static struct credit *credits;

struct writer {
	pid_t pid;
	int go;      /* write end: a byte starts it */
	int results; /* read end */
};

struct seen {
	uint64_t last[WRITERS];
	uint64_t events[WRITERS];
	uint64_t forks;
	pid_t parent;
};

/* Waits until it is time for the next ones, and until they are allowed. */
static void pace(const struct options *options, uint32_t index, double *start, uint64_t written)
{
	struct credit *credit = &credits[index];
	double due = *start + (double)written * WRITERS / (double)options->rate;
	double now;

	store_release(&credit->written, written);
	while (load_acquire(&credit->allowed) < written + AT_ONCE) {
		credit->waits++;
		usleep(500);
	}
	while ((now = seconds()) < due)
		usleep(500);
	/* Who is late does not catch up: a burst is not what the rate promises. */
	*start += now - due;
}

static void write_events(const struct options *options, uint32_t index, REGHANDLE handle,
			 struct result *ret)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	struct payload payload = {.writer = index};
	EVENT_DATA_DESCRIPTOR data;
	double start = seconds();

	EventDataDescCreate(&data, &payload, sizeof(payload));
	for (uint64_t i = 1; i <= options->events; i++) {
		uint64_t start_ns = options->is_none_lost ? etw_monotonic_ns() : 0;

		payload.number = i;
		if (EventWrite(handle, &descriptor, 1, &data) == 0)
			ret->succeeded++;
		else
			ret->refused++;
		if (options->is_none_lost && etw_monotonic_ns() - start_ns >= STALL_NS)
			ret->stalled++;
		if (options->rate && i % AT_ONCE == 0)
			pace(options, index, &start, i);
	}
	store_release(&credits[index].written, options->events);
}

static void map_credits(void)
{
	credits = share_with_forks(sizeof(*credits) * WRITERS);
	for (int i = 0; i < WRITERS; i++)
		credits[i].allowed = UINT64_MAX;
}

static bool have_ended(const struct options *options)
{
	siginfo_t ended = {0};
	bool are_done = true;

	for (int i = 0; i < WRITERS; i++)
		are_done &= load_acquire(&credits[i].written) == options->events;
	/* A writer that failed is told of by who awaits its result. */
	return are_done || (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
			    ended.si_pid && ended.si_status);
}

/*
 * However slow the machine is, writers are never ahead of the session by more than half of its buffers: what was
 * written before a flush is in the file when it returns.
 */
static void grant(const struct options *options, struct recording *recording)
{
	const uint64_t of_one_uid = geteuid() == 0 ? WRITERS / 2 : WRITERS;
	const uint64_t room = (uint64_t)options->mib * 1024 * 1024 / 2 / of_one_uid / EVENT_BYTES;

	while (!have_ended(options)) {
		uint64_t written[WRITERS];
		bool is_due = false;

		for (int i = 0; i < WRITERS; i++) {
			written[i] = load_acquire(&credits[i].written);
			is_due |= load_relaxed(&credits[i].allowed) < written[i] + room / 2;
		}
		if (is_due) {
			recording_control(recording, EVENT_TRACE_CONTROL_FLUSH);
			for (int i = 0; i < WRITERS; i++)
				store_release(&credits[i].allowed, written[i] + room);
		}
		usleep(2000);
	}
}

static int be_writer(const struct options *options, uint32_t index, int go, int results)
{
	struct result result = {0};
	REGHANDLE handle;
	char byte;

	if (geteuid() == 0 && index >= WRITERS / 2 &&
	    (setgroups(0, NULL) || setgid(OTHER_UID) || setuid(OTHER_UID)))
		fail("cannot become uid %d: %s", OTHER_UID, strerror(errno));
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	handle = recording_register(&provider_guid, NULL, NULL);
	(void)!write(results, "r", 1);
	(void)!read(go, &byte, 1);
	write_events(options, index, handle, &result);
	EventUnregister(handle);
	return write(results, &result, sizeof(result)) == sizeof(result) ? 0 : 1;
}

static void start_writer(const struct options *options, uint32_t index, struct writer *writer)
{
	int go[2], results[2];

	if (pipe(go) || pipe(results))
		fail("pipe: %s", strerror(errno));
	writer->pid = fork();
	if (writer->pid == 0) {
		close(go[1]);
		close(results[0]);
		exit(be_writer(options, index, go[0], results[1]));
	}
	close(go[0]);
	close(results[1]);
	writer->go = go[1];
	writer->results = results[0];
}

static void await_ready(const struct writer *writers)
{
	char byte;

	for (int i = 0; i < WRITERS; i++)
		if (read(writers[i].results, &byte, 1) != 1)
			fail("writer %d did not get ready", i);
}

static void finish_writer(struct writer *writer, struct result *ret)
{
	int status;

	if (read(writer->results, ret, sizeof(*ret)) != sizeof(*ret))
		fail("writer %d gave no result", (int)writer->pid);
	if (waitpid(writer->pid, &status, 0) < 0 || status)
		fail("writer %d ended with status %d", (int)writer->pid, status);
}

static void make_processes(void)
{
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

/* The logger thread is one of the host's, so a signal to it is one to the host. */
static void kill_host(struct recording *recording, int round)
{
	usleep(20000 + (useconds_t)(random() % 60000));
	recording_control(recording, EVENT_TRACE_CONTROL_QUERY);
	if (kill((pid_t)(uintptr_t)recording->block.properties.LoggerThreadId, SIGKILL))
		fail("kill %d: %s", round, strerror(errno));
}

static void WINAPI see_event(PEVENT_RECORD record)
{
	static const GUID process_guid = {
		0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
	struct seen *seen = record->UserContext;
	struct payload payload;

	if (IsEqualGUID(&record->EventHeader.ProviderId, &process_guid)) {
		uint32_t parent;

		if (record->EventHeader.EventDescriptor.Opcode != 1 || record->UserDataLength < 16)
			return;
		memcpy(&parent, (const char *)record->UserData + 12, sizeof(parent));
		seen->forks += parent == (uint32_t)seen->parent;
		return;
	}
	if (!IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid))
		return;
	memcpy(&payload, record->UserData, sizeof(payload));
	if (record->UserDataLength != sizeof(payload) || payload.writer >= WRITERS)
		fail("an event of %u bytes is not what a writer wrote", record->UserDataLength);
	if (payload.number <= seen->last[payload.writer])
		fail("writer %u: event %llu comes after %llu", payload.writer,
		     (unsigned long long)payload.number,
		     (unsigned long long)seen->last[payload.writer]);
	seen->last[payload.writer] = payload.number;
	seen->events[payload.writer]++;
}

static int settle(const struct options *options, const struct result *results,
		  const struct seen *seen, uint64_t lost)
{
	uint64_t tried = 0, refused = 0, in_file = 0, stalled = 0, kernel_lost;

	for (int i = 0; i < WRITERS; i++) {
		printf("writer %d: %llu succeeded, %llu refused, %llu in the file; waited %llu "
		       "times for the session, %llu calls stalled\n",
		       i, (unsigned long long)results[i].succeeded,
		       (unsigned long long)results[i].refused, (unsigned long long)seen->events[i],
		       (unsigned long long)credits[i].waits,
		       (unsigned long long)results[i].stalled);
		if (seen->events[i] > results[i].succeeded)
			fail("writer %d: more events in the file than were written", i);
		stalled += results[i].stalled;
		tried += results[i].succeeded + results[i].refused;
		refused += results[i].refused;
		in_file += seen->events[i];
	}
	printf("%llu tried = %llu in the file + %llu lost (%llu refused)\n",
	       (unsigned long long)tried, (unsigned long long)in_file, (unsigned long long)lost,
	       (unsigned long long)refused);
	/* Of the kernel's own, which count too, a loaded machine may lose some. */
	kernel_lost = options->is_kernel && in_file + lost > tried ? in_file + lost - tried : 0;
	if (tried != in_file + lost - kernel_lost)
		fail("the sum is off by %lld", (long long)(tried - in_file - lost));
	/* A gap may take the events along that others have begun beside it. */
	if (options->is_none_lost && (refused || lost > stalled * WRITERS))
		fail("%llu events were lost", (unsigned long long)lost);
	if (options->is_kernel && seen->forks + kernel_lost < FORKS)
		fail("%llu of %d processes are in the file", (unsigned long long)seen->forks,
		     FORKS);
	return 0;
}

static int run(const struct options *options)
{
	struct recording_options session = {
		.name = "accounts",
		.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
		.buffer_kib = 64,
		.buffers = options->mib * 1024 / 64,
	};
	struct recording recording;
	struct writer writers[WRITERS];
	struct result results[WRITERS];
	struct seen seen = {.parent = getpid()};
	char file[300];
	double start, took;
	ULONG lost;

	snprintf(file, sizeof(file), "%s/accounts.etl", test_home());
	session.file = file;
	if (options->is_kernel) {
		session.mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
		session.kernel_flags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD;
	}
	map_credits();
	recording_start(&recording, &session);
	for (uint32_t i = 0; i < WRITERS; i++)
		start_writer(options, i, &writers[i]);
	recording_enable(&recording, &provider_guid);
	await_ready(writers);
	start = seconds();
	for (int i = 0; options->is_none_lost && i < WRITERS; i++)
		store_release(&credits[i].allowed, UINT64_C(0));
	for (int i = 0; i < WRITERS; i++)
		if (write(writers[i].go, "g", 1) != 1)
			fail("writer %d cannot be started", i);
	if (options->is_kernel)
		make_processes();
	for (int i = 0; i < options->kills; i++)
		kill_host(&recording, i);
	if (options->is_none_lost)
		grant(options, &recording);
	for (int i = 0; i < WRITERS; i++)
		finish_writer(&writers[i], &results[i]);
	took = seconds() - start;
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	lost = recording_read(file, see_event, &seen);
	if (lost != recording.block.properties.EventsLost)
		fail("the file says %u lost, the session %u", (unsigned)lost,
		     (unsigned)recording.block.properties.EventsLost);
	printf("%llu events in order of each processor; writing took %.2f s\n",
	       (unsigned long long)recording_check_order(file), took);
	return settle(options, results, &seen, lost);
}

int main(int argc, char **argv)
{
	static const struct option names[] = {{"events", 1, NULL, 'e'},
					      {"rate", 1, NULL, 'r'},
					      {"mib", 1, NULL, 'm'},
					      {"kernel", 0, NULL, 'k'},
					      {"none-lost", 0, NULL, 'n'},
					      {"kill-host", 1, NULL, 'h'},
					      {0}};
	struct options options = {.events = 1000000, .mib = 16};
	int option;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		switch (option) {
		case 'e':
			options.events = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			options.rate = strtoull(optarg, NULL, 0);
			break;
		case 'm':
			options.mib = (ULONG)strtoul(optarg, NULL, 0);
			break;
		case 'h':
			options.kills = atoi(optarg);
			break;
		case 'k':
			options.is_kernel = true;
			break;
		case 'n':
			options.is_none_lost = true;
			break;
		default:
			return 2;
		}
	}
	if (options.is_kernel && is_kernel_shut())
		return TEST_SKIPPED;
	return run(&options);
}
