/* SPDX-License-Identifier: MIT */
/*
 * The host is killed at a scheduling point of the reader, under load, again and again. Each host goes on where
 * the last one's commit says; what it takes it appends to a log, which counts up to the committed length.
 * In the end the log holds every committed event once, each writer's in order, and all buffers are there.
 *
 * These hosts' time stands still, so that no gap is ever old enough to be passed.
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

#define ROUNDS         300
#define WRITERS        3
#define BUFFERS        6
#define BUFFER_BYTES   4096
#define LOG_EVENTS     (WRITERS * STRESS_EVENTS_MAX)
#define ROUND_LIMIT_NS UINT64_C(600000000000)
#define LAST_ROUNDS    64

static const char *const points[] = {
	"ring.reader.looked",   "ring.reader.finished", "ring.reader.taken",
	"ring.reader.cleared",  "ring.reader.assigned", "ring.reader.queued",
	"ring.reader.released", "ring.switch.ended",    "ring.switch.done",
	"ring.reader.stepped",
};

/* All that survives a host. Two records; an 8-byte store says which one holds. */
struct state {
	uint64_t current; /* atomic: records[current % 2] */
	struct record {
		struct etw_ring_position position;
		uint64_t length; /* of the log */
	} records[2];
	uint32_t is_over; /* atomic: the writers shall end */
	struct stress_log logs[WRITERS];
	struct stress_event log[LOG_EVENTS];
};

static struct state *state;

static _Noreturn void write_events(const struct stress_rings *rings, uint32_t writer)
{
	/* Often between reserve and commit, where a map that was not cleared would show. */
	const struct stress_plan yields = {.yields = 200};
	struct stress_log *log = &state->logs[writer];
	uint64_t random = stress.seed + writer + 1;

	stress_follow_plan(&yields, random);
	while (!load_relaxed(&state->is_over) && log->done < STRESS_EVENTS_MAX) {
		int result = stress_write(&rings->set, &rings->clock, log, writer, &random);

		if (result == -ENOBUFS || stress_random(&random) % 16 == 0)
			(void)sched_yield();
	}
	_exit(0);
}

/* One round of a host. Returns whether nothing was there. */
static bool run_host_round(const struct stress_rings *rings, struct etw_ring_reader *reader,
			   uint64_t *random)
{
	uint64_t current = load_acquire(&state->current);
	struct record record = state->records[current % 2];
	struct etw_ring_event event;
	bool is_idle = true;

	(void)rings;
	REQUIRE(etw_ring_reader_look(reader, (enum etw_ring_look)(stress_random(random) % 3), 0) ==
		0);
	while (etw_ring_reader_peek(reader, 1, &event) == 0 && record.length < LOG_EVENTS) {
		is_idle = false;
		stress_check_event(&event, &state->log[record.length++]);
		etw_ring_reader_take(reader, true);
	}
	record.position = etw_ring_reader_position(reader);
	state->records[(current + 1) % 2] = record;
	store_release(&state->current, current + 1);
	etw_ring_reader_release(reader);
	return is_idle;
}

static uint64_t refused_by_writers(void)
{
	uint64_t refused = 0;

	for (uint32_t i = 0; i < WRITERS; i++)
		refused += state->logs[i].refused;
	return refused;
}

/* Every buffer is in reach of the writers, not only in the host's notes. */
static void fill_all_buffers(const struct stress_rings *rings)
{
	struct etw_ring_span span;
	uint32_t filled = 0;

	while (etw_ring_reserve(&rings->set, &rings->clock, BUFFER_BYTES, &span) == 0)
		filled++;
	REQUIRE(filled >= BUFFERS - 1);
}

static _Noreturn void run_host(const struct stress_rings *rings, uint64_t seed, bool is_last)
{
	struct stress_plan plan = {.signal = SIGKILL, .yields = 20};
	struct record record = state->records[load_acquire(&state->current) % 2];
	struct etw_ring_reader *reader;
	uint64_t random = seed | 1;
	struct etw_ring_counts counts;

	if (!is_last) {
		plan.point = points[stress_random(&random) % ARRAY_SIZE(points)];
		plan.countdown = 1 + stress_random(&random) % 30;
	}
	stress_follow_plan(&plan, random);
	REQUIRE(etw_ring_reader_open(&rings->set, 0, rings->durables, record.position, &reader) ==
		0);
	for (int i = 0; !is_last || i < LAST_ROUNDS; i++) {
		if (run_host_round(rings, reader, &random) && !is_last)
			(void)sched_yield();
		/* A point that is not reached must not keep the round. */
		if (!is_last && i > 2000)
			(void)kill(getpid(), SIGKILL);
	}
	etw_ring_reader_counts(reader, &counts);
	REQUIRE(counts.quarantined == 0 && counts.lost_in_gaps == 0 && counts.rejected == 0);
	REQUIRE(counts.free_buffers + 1 == BUFFERS);
	REQUIRE(counts.lost_no_buffer == refused_by_writers());
	fill_all_buffers(rings);
	etw_ring_reader_close(reader);
	_exit(0);
}

static int wait_for(pid_t child)
{
	uint64_t limit_ns = stress_now_ns() + ROUND_LIMIT_NS;
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		REQUIRE(stress_now_ns() < limit_ns);
		(void)usleep(100);
	}
	return status;
}

static void check_log(void)
{
	const struct record *record = &state->records[state->current % 2];
	uint64_t last[WRITERS] = {0}, done = 0;

	for (uint64_t i = 0; i < record->length; i++) {
		const struct stress_event *event = &state->log[i];

		REQUIRE(event->writer < WRITERS);
		REQUIRE(event->number == last[event->writer] + 1);
		last[event->writer] = event->number;
	}
	for (uint32_t i = 0; i < WRITERS; i++) {
		REQUIRE(last[i] == state->logs[i].done);
		done += state->logs[i].done;
	}
	printf("  %" PRIu64 " commits, %" PRIu64 " events, %" PRIu64 " refused\n", state->current,
	       done, refused_by_writers());
}

int stress_host_death(void)
{
	const struct etw_ring_set_config config = {.cpu_count = 1,
						   .buffer_count = BUFFERS,
						   .buffer_bytes = BUFFER_BYTES,
						   .clock_type = ETW_CLOCK_QPC,
						   .flags = WIRE_RING_ONE_STREAM};
	uint32_t rounds = stress.rounds ? stress.rounds : ROUNDS;
	uint64_t random = stress.seed;
	struct stress_rings rings;
	pid_t writers[WRITERS];
	int status;

	state = stress_shared_memory(sizeof(*state));
	stress_rings_open(&rings, &config);
	for (uint32_t i = 0; i < WRITERS; i++) {
		writers[i] = stress_fork();
		if (writers[i] == 0)
			write_events(&rings, i);
	}
	for (uint32_t i = 0; i < rounds; i++) {
		uint64_t seed = (uint64_t)stress_random(&random) << 16;
		pid_t host;

		stress.round = i;
		host = stress_fork();
		if (host == 0)
			run_host(&rings, seed, false);
		status = wait_for(host);
		REQUIRE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	store_relaxed(&state->is_over, 1u);
	for (uint32_t i = 0; i < WRITERS; i++) {
		status = wait_for(writers[i]);
		REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	writers[0] = stress_fork();
	if (writers[0] == 0)
		run_host(&rings, random, true);
	status = wait_for(writers[0]);
	REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	printf("  %" PRIu32 " hosts died\n", rounds);
	check_log();
	stress_rings_close(&rings);
	(void)munmap(state, sizeof(*state));
	return 0;
}
