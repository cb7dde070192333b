/* SPDX-License-Identifier: MIT */
/*
 * A writer is killed or stopped at a scheduling point, beside one that goes on. Every committed event is taken
 * once, or counted as lost in a gap; the reader stands still for 100 ms at most; and the buffers come back,
 * but for the one in which a dead writer left its gap: that one comes back with the next set.
 *
 * The reader's time is made here: it passes when the reader stands at a gap, so that a round takes no longer
 * than its work.
 */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress/ring/shared.h"

#define ROUNDS          300
#define WRITERS         2 /* the victim, the bystander */
#define VICTIM          0
#define EVENTS_MOST     400
#define STEP_NS         UINT64_C(20000000)
#define ROUND_LIMIT_NS  UINT64_C(600000000000)
#define SETTLE_LOOKS    64
#define BUFFERS_OF_RING 8

/* Where a writer can die, and what is left there. */
static const struct point {
	const char *name;
	bool leaves_gap;   /* reserved, never committed */
	bool leaves_event; /* committed, not yet in its own log */
	uint32_t visits;   /* acts at one of so many */
} points[] = {
	{"ring.reserve.loaded", false, false, 300}, {"ring.reserve.claimed", true, false, 300},
	{"ring.commit.before", true, false, 300},   {"ring.commit.done", false, true, 300},
	{"ring.switch.ended", false, false, 20},    {"ring.switch.done", false, false, 20},
};

struct round {
	struct stress_rings rings;
	struct stress_book book;
	struct stress_log *logs;
	const struct point *point;
	int signal;
	uint64_t random;
	uint64_t now_ns; /* made up */
	uint64_t stood_since_ns[STRESS_RINGS_MAX];
	struct etw_ring_position stood_at[STRESS_RINGS_MAX];
	uint64_t stood_most_ns;
	bool has_acted, has_victim_ended;
};

struct totals {
	uint64_t killed, stopped, events, lost_in_gaps, quarantined, stood_most_ns;
	uint32_t by_point[ARRAY_SIZE(points)];
};

static void write_events(struct round *round, uint32_t writer, const struct stress_plan *plan)
{
	uint64_t random = (round->random + writer) | 1;
	uint64_t events = 1 + stress_random(&random) % EVENTS_MOST;
	struct stress_log *log = &round->logs[writer];

	stress_follow_plan(plan, random);
	while (log->done < events) {
		if (stress_write(&round->rings.set, &round->rings.clock, log, writer, &random) ==
		    -ENOBUFS)
			(void)sched_yield();
	}
	_exit(0);
}

/* How long the reader has stood at one place, in its own time. */
static void note_standing(struct round *round, uint32_t ring, int status)
{
	struct etw_ring_position at = etw_ring_reader_position(round->rings.readers[ring]);

	if (status != -EAGAIN || at.slots != round->stood_at[ring].slots ||
	    at.offset != round->stood_at[ring].offset || !round->stood_since_ns[ring]) {
		round->stood_since_ns[ring] = status == -EAGAIN ? round->now_ns : 0;
		round->stood_at[ring] = at;
		return;
	}
	if (round->now_ns - round->stood_since_ns[ring] > round->stood_most_ns)
		round->stood_most_ns = round->now_ns - round->stood_since_ns[ring];
}

static void drain(struct round *round, bool is_settling)
{
	bool is_standing = false;

	for (uint32_t i = 0; i < round->rings.set.cpu_count; i++) {
		struct etw_ring_reader *reader = round->rings.readers[i];
		enum etw_ring_look look = is_settling || stress_random(&round->random) % 2
						  ? ETW_RING_LOOK_BUMP
						  : ETW_RING_LOOK_SWITCH;
		struct etw_ring_event event;
		int status;

		REQUIRE(etw_ring_reader_look(reader, look, 0) == 0);
		while ((status = etw_ring_reader_peek(reader, round->now_ns, &event)) == 0) {
			struct stress_event taken;

			stress_check_event(&event, &taken);
			stress_book_note(&round->book, i, &taken);
			etw_ring_reader_take(reader, true);
		}
		note_standing(round, i, status);
		is_standing |= status == -EAGAIN;
		etw_ring_reader_release(reader);
	}
	if (is_standing)
		round->now_ns += STEP_NS;
}

/* Waits for a child without blocking. Returns whether it has ended or, for the victim, stopped. */
static bool has_halted(struct round *round, pid_t child, bool is_victim)
{
	int status;
	pid_t result = waitpid(child, &status, WNOHANG | (is_victim ? WUNTRACED : 0));

	REQUIRE(result >= 0);
	if (result == 0)
		return false;
	if (is_victim && WIFSTOPPED(status)) {
		round->has_acted = true;
		return true;
	}
	if (is_victim && WIFSIGNALED(status)) {
		REQUIRE(WTERMSIG(status) == SIGKILL && round->signal == SIGKILL);
		round->has_acted = true;
	} else {
		REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	if (is_victim)
		round->has_victim_ended = true;
	return true;
}

static void wait_for_child(struct round *round, pid_t child, bool is_victim)
{
	uint64_t limit_ns = stress_now_ns() + ROUND_LIMIT_NS;

	while (!has_halted(round, child, is_victim)) {
		drain(round, false);
		(void)sched_yield();
		REQUIRE(stress_now_ns() < limit_ns);
	}
}

static void settle(struct round *round)
{
	for (int i = 0; i < SETTLE_LOOKS; i++)
		drain(round, true);
	for (uint32_t i = 0; i < round->rings.set.cpu_count; i++)
		REQUIRE(etw_ring_reader_oldest_gap_ns(round->rings.readers[i]) == 0);
}

/* While the victim is stopped: everything that the bystander committed has come through. */
static void check_while_stopped(struct round *round)
{
	struct etw_ring_counts counts;
	uint64_t lost = 0;

	for (uint32_t i = 0; i < round->rings.set.cpu_count; i++) {
		etw_ring_reader_counts(round->rings.readers[i], &counts);
		lost += counts.lost_in_gaps;
	}
	REQUIRE(round->book.count[1] <= round->logs[1].done);
	REQUIRE(round->book.count[1] + lost >= round->logs[1].done);
}

static void check_account(struct round *round, struct totals *totals)
{
	uint64_t done = 0, taken = 0, refused = 0, lost = 0, counted = 0, quarantined = 0;
	bool is_dead = round->has_acted && round->signal == SIGKILL;
	uint64_t gaps = is_dead && round->point->leaves_gap;
	uint64_t unlogged = is_dead && round->point->leaves_event;
	struct etw_ring_counts counts;

	/* The last word on gaps that a dead writer's gap keeps in quarantine. */
	store_release(&etw_ring_set_page(&round->rings.set)->is_retired, 1u);
	for (uint32_t i = 0; i < round->rings.set.cpu_count; i++) {
		etw_ring_reader_release(round->rings.readers[i]);
		etw_ring_reader_counts(round->rings.readers[i], &counts);
		lost += counts.lost_in_gaps;
		counted += counts.lost_no_buffer;
		quarantined += counts.quarantined;
		REQUIRE(counts.rejected == 0);
		REQUIRE(counts.free_buffers + counts.quarantined + 1 == BUFFERS_OF_RING);
	}
	for (uint32_t i = 0; i < WRITERS; i++) {
		done += round->logs[i].done;
		refused += round->logs[i].refused;
		taken += round->book.count[i];
	}
	REQUIRE(done + unlogged == taken + lost - gaps);
	REQUIRE(refused == counted);
	REQUIRE(quarantined == gaps);
	/* A reader goes on at the look after the 100 ms; where the buffer is open, that look closes it. */
	REQUIRE(round->stood_most_ns <= STRESS_GAP_NS + STEP_NS);
	totals->events += done;
	totals->lost_in_gaps += lost;
	totals->quarantined += quarantined;
	if (round->stood_most_ns > totals->stood_most_ns)
		totals->stood_most_ns = round->stood_most_ns;
	if (!round->has_acted)
		return;
	totals->by_point[round->point - points]++;
	totals->killed += is_dead;
	totals->stopped += !is_dead;
}

static void run_round(struct round *round, struct totals *totals)
{
	const struct stress_plan yields = {.yields = 50};
	struct stress_plan plan = yields;
	pid_t victim, bystander;

	plan.point = round->point->name;
	plan.signal = round->signal;
	plan.countdown = 1 + stress_random(&round->random) % round->point->visits;
	victim = stress_fork();
	if (victim == 0)
		write_events(round, VICTIM, &plan);
	bystander = stress_fork();
	if (bystander == 0)
		write_events(round, 1, &yields);
	wait_for_child(round, victim, true);
	wait_for_child(round, bystander, false);
	settle(round);
	if (!round->has_victim_ended) {
		check_while_stopped(round);
		REQUIRE(kill(victim, SIGCONT) == 0);
		wait_for_child(round, victim, true);
		settle(round);
	}
	check_account(round, totals);
}

int stress_writer_death(void)
{
	const uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	uint32_t rounds = stress.rounds ? stress.rounds : ROUNDS;
	struct stress_log *logs = stress_shared_memory(WRITERS * sizeof(*logs));
	struct totals totals = {0};
	uint64_t random = stress.seed;

	for (uint32_t i = 0; i < rounds; i++) {
		struct etw_ring_set_config config = {.cpu_count = 1,
						     .buffer_count = BUFFERS_OF_RING,
						     .buffer_bytes = 2048,
						     .clock_type = ETW_CLOCK_QPC};
		struct round round = {.logs = logs, .now_ns = 1};

		stress.round = i;
		if (stress_random(&random) % 2)
			config.flags = WIRE_RING_ONE_STREAM;
		else if (cpus <= STRESS_RINGS_MAX)
			config.cpu_count = cpus;
		round.point = &points[stress_random(&random) % ARRAY_SIZE(points)];
		round.signal = stress_random(&random) % 2 ? SIGKILL : SIGSTOP;
		round.random = (uint64_t)stress_random(&random) << 1 | 1;
		memset(logs, 0, WRITERS * sizeof(*logs));
		stress_rings_open(&round.rings, &config);
		stress_book_open(&round.book, WRITERS, EVENTS_MOST + 1, false);
		run_round(&round, &totals);
		stress_book_close(&round.book);
		stress_rings_close(&round.rings);
	}
	printf("  %" PRIu32 " rounds: %" PRIu64 " killed, %" PRIu64 " stopped; %" PRIu64
	       " events, %" PRIu64 " lost in gaps, %" PRIu64 " buffers kept by the dead; the "
	       "reader stood %" PRIu64 " ms at most\n",
	       rounds, totals.killed, totals.stopped, totals.events, totals.lost_in_gaps,
	       totals.quarantined, totals.stood_most_ns / 1000000);
	for (size_t i = 0; i < ARRAY_SIZE(points); i++)
		printf("  %-22s %" PRIu32 " times\n", points[i].name, totals.by_point[i]);
	(void)munmap(logs, WRITERS * sizeof(*logs));
	return 0;
}
