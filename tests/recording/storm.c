/* SPDX-License-Identifier: MIT */
/*
 * storm [--rounds N] [--seed N] - in each round one of host, keeper, writer, consumer and controller is killed or
 * stopped at random. One round in twenty leaves the session without a host for seconds. Writers of two uids
 * write all the time, into a file and to live consumers.
 *
 * A session of some rounds is settled at its end: what the writers tried = what is in the file + what the file says
 * is lost; and the same for a consumer that was there from the first event to the last. A writer that is killed
 * inside EventWrite may or may not have written that one event: so much the sum may be larger, by one for each
 * such death. Where keeper and host die both, nobody can count: then the file up to there must be sound.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "recording/children.h"
#include "recording/storm.h"
#include "recording/support.h"

#define ROUNDS            100
#define ROUNDS_OF_SESSION 20
#define WRITERS           3
#define CONSUMERS         2  /* the first of a session stays to its end unless it is killed */
#define ABSENCE_ROUNDS    20 /* one round in so many */
#define ABSENCE_MS_LEAST  5000
#define ABSENCE_MS_MOST   20000
#define PAUSE_MS_MOST     300

enum role {
	ROLE_WRITER,
	ROLE_CONSUMER,
	ROLE_CONTROLLER
};

static const char *const role_names[] = {"writer", "consumer", "controller"};

struct child {
	pid_t pid; /* 0: none */
	uint32_t place;
	enum role role;
};

/* One session, from its start to its account. */
struct run {
	struct recording recording;
	char file[300];
	uint64_t before[STORM_WRITERS_MAX]; /* calls that earlier sessions have settled */
	uint64_t slack;                     /* calls of which nobody knows what they have done */
	uint32_t first_consumer;            /* place of the one that was there from the start */
	bool is_first_alive;
	bool is_host_final; /* its keeper is dead: there will be no other */
	bool is_over;       /* keeper and host are dead */
};

struct seen {
	uint64_t last[STORM_WRITERS_MAX];
	uint64_t count;
};

static struct storm_shared *shared;
static int shared_fd;
static struct child children[WRITERS + CONSUMERS + 1];
static uint32_t next_place[3];
static unsigned chance;
static uint64_t totals_tried, totals_in_file, totals_lost, totals_slack;
static unsigned counts[16];

static uint32_t below(uint32_t limit)
{
	return (uint32_t)rand_r(&chance) % limit;
}

static void sleep_ms(uint32_t ms)
{
	struct timespec rest = {ms / 1000, (long)(ms % 1000) * 1000000};

	while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
		;
}

static void start_child(struct child *child, enum role role)
{
	child->role = role;
	child->place = next_place[role]++;
	if ((role == ROLE_WRITER && child->place >= STORM_WRITERS_MAX) ||
	    (role == ROLE_CONSUMER && child->place >= STORM_CONSUMERS_MAX))
		fail("too many children");
	child->pid = start_program(NULL, role_names[role], shared_fd, child->place);
}

static void end_child(struct child *child, struct run *run)
{
	int status;

	if (!child->pid)
		return;
	(void)kill(child->pid, SIGKILL);
	(void)kill(child->pid, SIGCONT);
	if (waitpid(child->pid, &status, 0) != child->pid)
		fail("waitpid: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status))
		fail("a %s ended with %d", role_names[child->role], WEXITSTATUS(status));
	if (run && child->role == ROLE_WRITER)
		run->slack += load_acquire(&shared->writers[child->place].is_inside);
	if (run && child->role == ROLE_CONSUMER && child->place == run->first_consumer)
		run->is_first_alive = false;
	child->pid = 0;
}

/* @name: NULL: the run's own session */
static ULONG try_control(struct run *run, const char *name, ULONG code)
{
	EVENT_TRACE_PROPERTIES *properties = &run->recording.block.properties;

	memset(properties, 0, sizeof(run->recording.block));
	properties->Wnode.BufferSize = sizeof(run->recording.block);
	properties->LoggerNameOffset = offsetof(__typeof__(run->recording.block), name);
	properties->LogFileNameOffset = offsetof(__typeof__(run->recording.block), file);
	return ControlTraceA(name ? 0 : run->recording.handle, name, properties, code);
}

/* A host that is stopped or dead for a moment is asked again. */
static ULONG control(struct run *run, const char *name, ULONG code)
{
	const double end = seconds() + HANG_SECONDS;
	ULONG error;

	while ((error = try_control(run, name, code)) == ERROR_TIMEOUT || error == ERROR_BUSY) {
		if (seconds() > end)
			fail("ControlTrace %u: error %u for %d s", (unsigned)code, (unsigned)error,
			     HANG_SECONDS);
		sleep_ms(50);
	}
	return error;
}

static void find_host(struct run *run, pid_t *ret_host, pid_t *ret_keeper)
{
	const double end = seconds() + HANG_SECONDS;

	for (;;) {
		ULONG error = control(run, NULL, EVENT_TRACE_CONTROL_QUERY);

		if (error)
			fail("the session is not there: error %u", (unsigned)error);
		*ret_host = recording_host(&run->recording);
		*ret_keeper = *ret_host ? process_status(*ret_host, "PPid:") : 0;
		if (*ret_host && (*ret_keeper > 1 || run->is_host_final))
			return;
		if (seconds() > end)
			fail("there is no host");
		sleep_ms(5);
	}
}

static void start_consumer(struct child *child)
{
	start_child(child, ROLE_CONSUMER);
	await_flag(&shared->consumers[child->place].is_open, 1, "a consumer does not open");
}

static void order_writers(uint32_t order)
{
	for (int i = 0; i < WRITERS; i++) {
		if (children[i].pid)
			store_release(&shared->writers[children[i].place].order, order);
	}
}

static void start_writer(struct child *child)
{
	start_child(child, ROLE_WRITER);
	await_flag(&shared->writers[child->place].is_enabled, 1, "a writer is not enabled");
}

static void start_run(struct run *run)
{
	const struct recording_options options = {
		.name = STORM_SESSION,
		.file = run->file,
		.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_REAL_TIME_MODE |
			EVENT_TRACE_USE_MS_FLUSH_TIMER,
		.buffer_kib = 64,
		.buffers = 16 + below(48),
		.flush_timer = 10 + below(100),
	};

	recording_start(&run->recording, &options);
	start_consumer(&children[WRITERS]);
	run->first_consumer = children[WRITERS].place;
	run->is_first_alive = true;
	recording_enable(&run->recording, &storm_provider);
	start_child(&children[WRITERS + CONSUMERS], ROLE_CONTROLLER);
	for (int i = 0; i < WRITERS; i++) {
		struct storm_writer *writer;

		if (!children[i].pid) {
			start_writer(&children[i]);
			continue;
		}
		writer = &shared->writers[children[i].place];
		await_flag(&writer->is_enabled, 1, "a writer is not enabled again");
		store_release(&writer->order, (uint32_t)STORM_RUN);
	}
}

static void stop_for_a_while(pid_t pid, uint32_t ms)
{
	printf(" stopped %u ms", ms);
	if (kill(pid, SIGSTOP))
		return; /* it has just died, as it may */
	sleep_ms(ms);
	(void)kill(pid, SIGCONT);
}

/* The host dies while its keeper stands still: until that goes on there is none. */
static void be_absent(struct run *run, uint32_t ms)
{
	pid_t host, keeper;

	printf(" no host for %u ms", ms);
	find_host(run, &host, &keeper);
	(void)kill(keeper, SIGSTOP);
	(void)kill(host, SIGKILL);
	sleep_ms(ms);
	(void)kill(keeper, SIGCONT);
}

static struct child *choose(enum role role)
{
	switch (role) {
	case ROLE_WRITER:
		return &children[below(WRITERS)];
	case ROLE_CONSUMER:
		return &children[WRITERS + below(CONSUMERS)];
	default:
		return &children[WRITERS + CONSUMERS];
	}
}

static void restart(struct child *child, struct run *run)
{
	enum role role = child->role;

	printf(" killed");
	end_child(child, run);
	if (role == ROLE_WRITER)
		start_writer(child);
	else if (role == ROLE_CONSUMER)
		start_consumer(child);
	else
		start_child(child, role);
}

static void trouble_child(struct run *run, enum role role)
{
	struct child *child = choose(role);

	printf(" %s %u", role_names[role], child->place);
	if (!child->pid) {
		printf(" started");
		start_consumer(child);
		return;
	}
	if (below(2)) {
		stop_for_a_while(child->pid, below(PAUSE_MS_MOST));
		if (below(2))
			return;
	}
	/* The first consumer is the one whose sum is exact: it seldom dies. */
	if (role == ROLE_CONSUMER && child->place == run->first_consumer && below(4))
		return;
	restart(child, run);
}

static void trouble_host(struct run *run)
{
	pid_t host, keeper;

	find_host(run, &host, &keeper);
	if (below(2)) {
		printf(" host killed");
		(void)kill(host, SIGKILL);
		return;
	}
	printf(" host");
	stop_for_a_while(host, below(PAUSE_MS_MOST));
}

/* The keeper dies; the host with it, or some time later, when nothing goes on any more. */
static void end_keeper(struct run *run, bool with_host)
{
	pid_t host, keeper;

	printf(with_host ? " keeper and host killed" : " keeper killed");
	find_host(run, &host, &keeper);
	run->is_host_final = true;
	run->is_over = with_host;
	if (with_host) {
		recording_kill_all();
		return;
	}
	(void)recording_await_standby();
	(void)kill(keeper, SIGSTOP);
	(void)kill(recording_processes().standby, SIGKILL);
	(void)kill(keeper, SIGKILL);
}

static void run_round(struct run *run, uint32_t round)
{
	const uint32_t kind = below(16);

	counts[kind]++;
	sleep_ms(below(60));
	if (round % ABSENCE_ROUNDS == ABSENCE_ROUNDS / 2) {
		be_absent(run, ABSENCE_MS_LEAST + below(ABSENCE_MS_MOST - ABSENCE_MS_LEAST));
		return;
	}
	if (kind < 5)
		trouble_host(run);
	else if (kind < 8)
		trouble_child(run, ROLE_WRITER);
	else if (kind < 10)
		trouble_child(run, ROLE_CONSUMER);
	else if (kind < 12)
		trouble_child(run, ROLE_CONTROLLER);
	else if (kind < 15)
		be_absent(run, below(PAUSE_MS_MOST));
	else
		end_keeper(run, below(2) == 0);
}

static void WINAPI see_event(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	struct storm_payload payload;

	if (!IsEqualGUID(&record->EventHeader.ProviderId, &storm_provider))
		return;
	if (record->UserDataLength != sizeof(payload))
		fail("an event of %u bytes", record->UserDataLength);
	memcpy(&payload, record->UserData, sizeof(payload));
	if (payload.writer >= next_place[ROLE_WRITER])
		fail("an event of writer %u, which there is not", payload.writer);
	if (payload.number <= seen->last[payload.writer])
		fail("writer %u: event %" PRIu64 " comes after %" PRIu64, payload.writer,
		     payload.number, seen->last[payload.writer]);
	seen->last[payload.writer] = payload.number;
	seen->count++;
}

static uint64_t calls(uint32_t place)
{
	return load_acquire(&shared->writers[place].succeeded) +
	       load_acquire(&shared->writers[place].refused);
}

static void check_sum(const char *what, uint64_t tried, uint64_t got, uint64_t lost, uint64_t slack)
{
	printf("  %s: %" PRIu64 " tried, %" PRIu64 " there, %" PRIu64 " lost, up to %" PRIu64
	       " unknown\n",
	       what, tried, got, lost, slack);
	if (got + lost < tried || got + lost > tried + slack)
		fail("%s: the sum is off by %lld", what, (long long)(got + lost - tried));
}

static void settle_consumers(struct run *run, uint64_t tried)
{
	for (int i = 0; i < CONSUMERS; i++) {
		struct child *child = &children[WRITERS + i];
		const struct storm_consumer *consumer = &shared->consumers[child->place];

		if (!child->pid)
			continue;
		await_flag(&consumer->is_done, 1, "a consumer does not end");
		await_end(child->pid, "a consumer");
		child->pid = 0;
		if (consumer->fault)
			fail("a consumer got an event twice or out of order (line %u)",
			     consumer->fault);
		/* One that has just come may find that the session is over already. */
		if (consumer->error && !run->is_over &&
		    (child->place == run->first_consumer ||
		     consumer->error != ERROR_WMI_INSTANCE_NOT_FOUND))
			fail("the %s consumer ended with error %u",
			     child->place == run->first_consumer ? "first" : "second",
			     consumer->error);
		if (!run->is_over && run->is_first_alive && child->place == run->first_consumer)
			check_sum("first consumer", tried, consumer->received, consumer->lost,
				  run->slack);
	}
}

static void pause_writers(void)
{
	order_writers(STORM_PAUSE);
	for (int i = 0; i < WRITERS; i++)
		await_flag(&shared->writers[children[i].place].is_paused, 1,
			   "a writer does not pause");
}

/* The next session is to have a host with a keeper; this one stays as long as a controller is connected. */
static void end_host(pid_t host)
{
	const double end = seconds() + HANG_SECONDS;

	while (kill(host, SIGKILL) == 0) {
		if (seconds() > end)
			fail("a host without a keeper does not die");
		sleep_ms(5);
	}
}

static void end_run(struct run *run)
{
	static struct seen seen;
	pid_t host = 0, keeper;
	uint64_t tried = 0;
	ULONG error, lost;

	pause_writers();
	end_child(&children[WRITERS + CONSUMERS], run);
	if (run->is_host_final && !run->is_over)
		find_host(run, &host, &keeper);
	(void)control(run, STORM_OTHER,
		      EVENT_TRACE_CONTROL_STOP); /* a controller may have left it */
	error = control(run, NULL, EVENT_TRACE_CONTROL_STOP);
	if (error && !(run->is_over && error == ERROR_WMI_INSTANCE_NOT_FOUND))
		fail("the session cannot be stopped: error %u", (unsigned)error);
	for (uint32_t i = 0; i < next_place[ROLE_WRITER]; i++) {
		tried += calls(i) - run->before[i];
		run->before[i] = calls(i);
	}
	settle_consumers(run, tried);
	seen = (struct seen){0};
	lost = recording_read(run->file, see_event, &seen);
	(void)recording_check_order(run->file);
	if (run->is_over) {
		printf("  keeper and host are dead: %" PRIu64 " of %" PRIu64 " are there\n",
		       seen.count, tried);
		/* These writers have rings that nobody reads any more. */
		for (int i = 0; i < WRITERS; i++)
			end_child(&children[i], NULL);
	} else {
		check_sum("file", tried, seen.count, lost, run->slack);
		totals_tried += tried;
		totals_in_file += seen.count;
		totals_lost += lost;
		totals_slack += run->slack;
	}
	if (host)
		end_host(host);
	(void)unlink(run->file);
}

/* Returns how many rounds it took. */
static uint32_t run_session(uint32_t first_round, uint32_t rounds)
{
	static struct run run;
	uint32_t done = 0;

	run.slack = 0;
	run.is_host_final = run.is_over = false;
	snprintf(run.file, sizeof(run.file), "%s/storm.etl", test_home());
	start_run(&run);
	while (done < rounds && !run.is_host_final) {
		printf("%u:", first_round + done);
		run_round(&run, first_round + done++);
		printf("\n");
	}
	end_run(&run);
	return done;
}

static int be_parent(uint32_t rounds)
{
	printf("seed %u\n", chance);
	(void)test_home();
	for (uint32_t done = 0; done < rounds;) {
		uint32_t left = rounds - done;

		done += run_session(done, left < ROUNDS_OF_SESSION ? left : ROUNDS_OF_SESSION);
	}
	for (size_t i = 0; i < ARRAY_SIZE(children); i++)
		end_child(&children[i], NULL);
	printf("%u rounds: %" PRIu64 " tried, %" PRIu64 " in the files, %" PRIu64
	       " lost, up to %" PRIu64 " unknown\n",
	       rounds, totals_tried, totals_in_file, totals_lost, totals_slack);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{"rounds", 1, NULL, 'r'}, {"seed", 1, NULL, 's'}, {0}};
	uint32_t rounds = ROUNDS;
	int option;

	if (argc == 4 && argv[1][0] != '-') {
		shared = map_shared(argv[2], sizeof(*shared));
		return storm_child_main(argv + 1, shared);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	chance = (unsigned)time(NULL) ^ (unsigned)getpid();
	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		if (option == 'r')
			rounds = (uint32_t)strtoul(optarg, NULL, 0);
		else if (option == 's')
			chance = (unsigned)strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	shared = share_with_programs(sizeof(*shared), &shared_fd);
	return be_parent(rounds);
}
