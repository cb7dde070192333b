/* SPDX-License-Identifier: MIT */
/*
 * writer_death WRITER [--rounds N] [--seed N] - in each round a provider process kills or stops itself inside
 * EventWrite: in reserve, in copy, in commit. The stopped ones go on or are killed later, some of them only
 * many rounds later. A sibling of the same uid writes all the time.
 *
 * At the end of a session: every event whose EventWrite returned success is in the file exactly once and in
 * the writer's order, or the losses that the session counted say exactly how many are not; nothing is there
 * that was never tried; and all buffers are free again, though a process that had them is dead and the
 * sibling still has them mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <errhandlingapi.h>
#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "recording/children.h"
#include "recording/death_shared.h"
#include "recording/numbered.h"
#include "recording/support.h"

#define ROUNDS            150
#define ROUNDS_OF_SESSION 50
#define HELD_MAX          3  /* stopped ones at a time */
#define HELD_ROUNDS       12 /* for so many at most */
#define EVENTS_MOST       1500
#define VISITS_LEAST      5 /* so that no two places of dead writers lie side by side */
#define SIBLING_BURST     4
#define SIBLING_PAUSE_US  1000
#define LATE_NS           UINT64_C(150000000)
#define SESSION_NAME      "writer death"
#define NS_PER_MS         UINT64_C(1000000)

/* Where a writer can die, and what it leaves there. */
static const struct point {
	const char *name;
	bool leaves_gap;   /* reserved, never committed */
	bool leaves_event; /* committed, not yet in its own log */
	uint32_t visits;   /* acts at one of so many */
} points[] = {
	{"ring.reserve.loaded", false, false, 400},    {"ring.reserve.claimed", true, false, 400},
	{"provider.event.reserved", true, false, 400}, {"provider.event.copied", true, false, 400},
	{"ring.commit.before", true, false, 400},      {"ring.commit.done", false, true, 400},
	{"ring.switch.ended", false, false, 4},        {"ring.switch.done", false, false, 4},
};

struct victim {
	pid_t pid; /* 0: none */
	uint32_t index;
	uint32_t release_round;
	const struct point *point;
};

/* One session of some rounds, with what came of it. */
struct run {
	struct recording recording;
	char file[300];
	uint32_t flush_ms;
	uint32_t first, next; /* indices of its writers */
	uint32_t sibling;
	pid_t sibling_pid;
	struct victim held[HELD_MAX];
	uint64_t dead_gaps;
	/* The consumer's. */
	TRACEHANDLE trace;
	pthread_t consumer;
	uint64_t delivered, worst_ns, late;
};

struct seen {
	const struct run *run;
	uint64_t last[DEATH_WRITERS_MAX];
	uint64_t count[DEATH_WRITERS_MAX];
};

static struct {
	uint32_t killed, stopped, unhurt, held;
	uint32_t by_point[ARRAY_SIZE(points)];
	uint64_t events, lost, missing, refused, dead_gaps;
} totals;

static const char *writer_program;
static struct death_writer *writers;
static int writers_fd;
static const struct point *point_of[DEATH_WRITERS_MAX]; /* of those that died there */
static uint64_t chance;
static uint32_t next_index;

static uint32_t below(uint32_t limit)
{
	return death_random(&chance) % limit;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void sleep_ms(uint32_t ms)
{
	usleep(ms * 1000);
}

static pid_t start_writer(uint32_t index, const struct death_plan *plan)
{
	memset(&writers[index].log, 0, sizeof(writers[index].log));
	writers[index].plan = *plan;
	return start_program(writer_program, NULL, writers_fd, index);
}

static void start_sibling(struct run *run)
{
	const struct death_plan plan = {.cpu = -1,
					.pause_us = SIBLING_PAUSE_US,
					.burst = SIBLING_BURST,
					.seed = death_random(&chance)};

	run->sibling_pid = start_writer(run->sibling, &plan);
	await_flag(&writers[run->sibling].log.is_ready, 1, "the sibling is not enabled");
}

/* Notes how a writer ended. @is_expected: it was to be killed. */
static void note_end(struct run *run, const struct victim *victim, int status)
{
	const struct death_log *log = &writers[victim->index].log;

	if (WIFEXITED(status)) {
		if (WEXITSTATUS(status) != 0)
			fail("writer %u ended with %d", victim->index, WEXITSTATUS(status));
		totals.unhurt += !load_acquire(&log->has_acted);
		return;
	}
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL || !load_acquire(&log->has_acted))
		fail("writer %u ended with status %#x", victim->index, (unsigned)status);
	point_of[victim->index] = victim->point;
	totals.killed++;
	run->dead_gaps += victim->point->leaves_gap;
}

/* Waits until the writer ends, or stops where @may_stop. Returns whether it stopped. */
static bool await_halt(struct run *run, const struct victim *victim, bool may_stop)
{
	double end = seconds() + HANG_SECONDS;
	int status;

	for (;;) {
		pid_t result = waitpid(victim->pid, &status, WNOHANG | (may_stop ? WUNTRACED : 0));

		if (result < 0)
			fail("waitpid: %s", strerror(errno));
		if (result > 0 && WIFSTOPPED(status))
			return true;
		if (result > 0) {
			note_end(run, victim, status);
			return false;
		}
		if (seconds() > end)
			fail("writer %u at %s neither ends nor stops", victim->index,
			     victim->point->name);
		usleep(200);
	}
}

static void release(struct run *run, struct victim *victim)
{
	if (kill(victim->pid, below(2) ? SIGKILL : SIGCONT))
		fail("kill: %s", strerror(errno));
	(void)await_halt(run, victim, false);
	victim->pid = 0;
}

static bool hold(struct run *run, const struct victim *victim, uint32_t round)
{
	for (int i = 0; i < HELD_MAX; i++) {
		if (run->held[i].pid)
			continue;
		run->held[i] = *victim;
		run->held[i].release_round = round + 1 + below(HELD_ROUNDS);
		totals.held++;
		return true;
	}
	return false;
}

static void run_round(struct run *run, uint32_t round)
{
	const struct point *point = &points[below(ARRAY_SIZE(points))];
	struct death_plan plan = {.countdown = VISITS_LEAST + below(point->visits),
				  .signal = below(2) ? SIGKILL : SIGSTOP,
				  .cpu = (int32_t)below((uint32_t)sysconf(_SC_NPROCESSORS_ONLN)),
				  .events = EVENTS_MOST,
				  .seed = death_random(&chance)};
	struct victim victim = {.index = run->next++, .point = point};

	if (point->visits < VISITS_LEAST) /* a switch of buffers, of which a writer sees few */
		plan.countdown = 1 + below(point->visits);
	if (below(2)) { /* not faster than the session is */
		plan.burst = 8 + below(32);
		plan.pause_us = 200;
	}
	snprintf(plan.point, sizeof(plan.point), "%s", point->name);
	victim.pid = start_writer(victim.index, &plan);
	if (await_halt(run, &victim, true)) {
		uint32_t kind = below(4);

		totals.stopped++;
		if (kind > 0 || !hold(run, &victim, round)) {
			sleep_ms(kind == 1   ? below(60)
				 : kind == 2 ? 60 + below(80)
					     : 150 + below(150));
			release(run, &victim);
		}
	}
	if (load_acquire(&writers[victim.index].log.has_acted))
		totals.by_point[point - points]++;
	for (int i = 0; i < HELD_MAX; i++) {
		if (run->held[i].pid && run->held[i].release_round <= round)
			release(run, &run->held[i]);
	}
}

static void WINAPI on_delivery(PEVENT_RECORD record)
{
	struct run *run = record->UserContext;
	struct death_payload payload = {0};
	uint64_t late_ns;

	if (!IsEqualGUID(&record->EventHeader.ProviderId, &death_provider) ||
	    record->UserDataLength < DEATH_PAYLOAD_FIXED)
		return;
	memcpy(&payload, record->UserData, DEATH_PAYLOAD_FIXED);
	if (payload.writer != run->sibling)
		return;
	late_ns = now_ns() - payload.sent_ns;
	add_relaxed(&run->delivered, 1);
	if (late_ns > run->worst_ns)
		run->worst_ns = late_ns;
	run->late += late_ns > run->flush_ms * NS_PER_MS + LATE_NS;
}

static void *consume(void *argument)
{
	struct run *run = argument;
	ULONG error = ProcessTrace(&run->trace, 1, NULL, NULL);

	if (error && error != ERROR_CANCELLED)
		fail("ProcessTrace: error %u", (unsigned)error);
	return NULL;
}

static void start_consumer(struct run *run)
{
	run->trace = live_open(SESSION_NAME, on_delivery, run);
	if (pthread_create(&run->consumer, NULL, consume, run))
		fail("no thread");
}

static void WINAPI see_event(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	struct death_payload payload;
	uint32_t bytes = record->UserDataLength;

	if (!IsEqualGUID(&record->EventHeader.ProviderId, &death_provider))
		return;
	if (bytes < DEATH_PAYLOAD_FIXED || bytes > sizeof(payload))
		fail("an event of %u bytes is not what a writer wrote", bytes);
	memcpy(&payload, record->UserData, bytes);
	if (payload.writer < seen->run->first || payload.writer >= seen->run->next ||
	    payload.filler_bytes != bytes - DEATH_PAYLOAD_FIXED)
		fail("an event of writer %u, which this session has not", payload.writer);
	for (uint32_t i = 0; i < payload.filler_bytes; i++) {
		if (payload.filler[i] != death_filler(payload.writer, payload.number))
			fail("writer %u: event %" PRIu64 " is not as it was written",
			     payload.writer, payload.number);
	}
	if (payload.number <= seen->last[payload.writer])
		fail("writer %u: event %" PRIu64 " comes after %" PRIu64, payload.writer,
		     payload.number, seen->last[payload.writer]);
	seen->last[payload.writer] = payload.number;
	seen->count[payload.writer]++;
}

/*
 * Returns events of a writer that were committed and are not in the file: a machine under load may keep a writer
 * from its processor between reserve and commit for longer than the session waits, and the sum has those.
 */
static uint64_t settle_writer(uint32_t index, const struct seen *seen)
{
	const struct death_log *log = &writers[index].log;
	uint64_t done = load_acquire(&log->done);
	uint64_t in_file = seen->count[index];

	if (point_of[index] && point_of[index]->leaves_event)
		done++;
	totals.events += in_file;
	totals.refused += load_acquire(&log->refused);
	if (seen->last[index] > done)
		fail("writer %u: event %" PRIu64 " is in the file, but it wrote %" PRIu64, index,
		     seen->last[index], done);
	return done - in_file;
}

static void settle(struct run *run)
{
	static struct seen seen;
	uint64_t missing = 0, refused = totals.refused;
	ULONG lost;

	seen = (struct seen){.run = run};
	lost = recording_read(run->file, see_event, &seen);
	if (lost != run->recording.block.properties.EventsLost)
		fail("the file says %u lost, the session %u", (unsigned)lost,
		     (unsigned)run->recording.block.properties.EventsLost);
	(void)recording_check_order(run->file);
	for (uint32_t i = run->first; i < run->next; i++)
		missing += settle_writer(i, &seen);
	refused = totals.refused - refused;
	printf("  %u lost = %" PRIu64 " refused + %" PRIu64 " too late + %" PRIu64
	       " that the dead left; sibling %" PRIu64 " in the file, %" PRIu64
	       " delivered, the slowest %" PRIu64 " ms after its write, %" PRIu64
	       " more than %u ms\n",
	       (unsigned)lost, refused, missing, run->dead_gaps, seen.count[run->sibling],
	       run->delivered, run->worst_ns / NS_PER_MS, run->late,
	       (unsigned)(run->flush_ms + LATE_NS / NS_PER_MS));
	if (lost != refused + missing + run->dead_gaps)
		fail("the sum is off by %lld",
		     (long long)(lost - refused - missing - run->dead_gaps));
	totals.lost += lost;
	totals.missing += missing;
	totals.dead_gaps += run->dead_gaps;
}

/* The sibling still has the rings. */
static void check_free_buffers(struct run *run)
{
	const EVENT_TRACE_PROPERTIES *properties = &run->recording.block.properties;
	double end = seconds() + HANG_SECONDS;

	store_release(&writers[run->sibling].log.is_told, 1u);
	await_flag(&writers[run->sibling].log.is_idle, 1, "the sibling does not pause");
	recording_control(&run->recording, EVENT_TRACE_CONTROL_FLUSH);
	for (;;) {
		recording_control(&run->recording, EVENT_TRACE_CONTROL_QUERY);
		if (properties->FreeBuffers == properties->NumberOfBuffers)
			break;
		if (seconds() > end)
			fail("%u of %u buffers are free", (unsigned)properties->FreeBuffers,
			     (unsigned)properties->NumberOfBuffers);
		usleep(10000);
	}
}

static void end_writers(struct run *run)
{
	int status;

	for (int i = 0; i < HELD_MAX; i++) {
		if (run->held[i].pid)
			release(run, &run->held[i]);
	}
	check_free_buffers(run);
	store_release(&writers[run->sibling].log.is_told, 2u);
	if (waitpid(run->sibling_pid, &status, 0) < 0 || status)
		fail("the sibling ended with status %#x", (unsigned)status);
}

static void run_session(uint32_t rounds)
{
	static struct run run;
	static const ULONG flush_ms[] = {20, 50, 250, 1000};
	struct recording_options options = {
		.name = SESSION_NAME,
		.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_REAL_TIME_MODE |
			EVENT_TRACE_USE_MS_FLUSH_TIMER,
		.buffer_kib = 16u << below(2),
		.buffers = 8 + below(24),
	};

	if (below(3) == 0)
		options.mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	memset(&run, 0, sizeof(run));
	snprintf(run.file, sizeof(run.file), "%s/death.etl", test_home());
	run.first = run.next = next_index;
	run.flush_ms = options.flush_timer = flush_ms[below(ARRAY_SIZE(flush_ms))];
	options.file = run.file;
	recording_start(&run.recording, &options);
	recording_enable(&run.recording, &death_provider);
	printf("%u rounds, %u buffers of %u KiB, flushed each %u ms\n", rounds,
	       (unsigned)run.recording.block.properties.NumberOfBuffers,
	       (unsigned)options.buffer_kib, (unsigned)run.flush_ms);
	run.sibling = run.next++; /* the consumer goes by it */
	start_consumer(&run);
	start_sibling(&run);
	for (uint32_t i = 0; i < rounds; i++)
		run_round(&run, i);
	end_writers(&run);
	recording_control(&run.recording, EVENT_TRACE_CONTROL_STOP);
	pthread_join(run.consumer, NULL);
	CloseTrace(run.trace);
	settle(&run);
	next_index = run.next;
	(void)unlink(run.file);
}

static void print_totals(uint32_t rounds)
{
	printf("%u rounds: %u killed, %u stopped (%u of them for rounds), %u came to no point; "
	       "%" PRIu64 " events in the files, %" PRIu64 " lost: %" PRIu64 " refused, %" PRIu64
	       " too late, %" PRIu64 " that the dead left\n",
	       rounds, totals.killed, totals.stopped, totals.held, totals.unhurt, totals.events,
	       totals.lost, totals.refused, totals.missing, totals.dead_gaps);
	for (size_t i = 0; i < ARRAY_SIZE(points); i++)
		printf("  %-24s %u times\n", points[i].name, totals.by_point[i]);
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{"rounds", 1, NULL, 'r'}, {"seed", 1, NULL, 's'}, {0}};
	uint32_t rounds = ROUNDS;
	int option;

	setvbuf(stdout, NULL, _IOLBF, 0);
	chance = now_ns() | 1;
	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		if (option == 'r')
			rounds = (uint32_t)strtoul(optarg, NULL, 0);
		else if (option == 's')
			chance = strtoull(optarg, NULL, 0) | 1;
		else
			return 2;
	}
	if (optind + 1 != argc || rounds > DEATH_WRITERS_MAX / 2)
		fail("usage: writer_death WRITER [--rounds N] [--seed N]");
	writer_program = argv[optind];
	printf("seed %" PRIu64 "\n", chance);
	(void)test_home();
	writers = share_with_programs(sizeof(*writers) * DEATH_WRITERS_MAX, &writers_fd);
	for (uint32_t done = 0; done < rounds; done += ROUNDS_OF_SESSION)
		run_session(rounds - done < ROUNDS_OF_SESSION ? rounds - done : ROUNDS_OF_SESSION);
	print_totals(rounds);
	return 0;
}
