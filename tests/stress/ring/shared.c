/* SPDX-License-Identifier: MIT */
#include "stress/ring/shared.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/sched_point.h"
#include "wire/etl_event.h"

#define ABANDON_ONE_OF 16
#define FILLER_MOST    200

struct stress stress;

static struct stress_plan plan;
static _Thread_local uint64_t plan_random;
static uint64_t plan_seed;

void stress_fail(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: does not hold: %s (seed %" PRIu64 ", round %" PRIu64 ")\n", file,
		line, condition, stress.seed, stress.round);
	exit(1);
}

void *stress_shared_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	REQUIRE(memory != MAP_FAILED);
	return memory;
}

uint64_t stress_now_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

pid_t stress_fork(void)
{
	pid_t parent = getpid(), child;

	(void)fflush(NULL);
	child = fork();
	REQUIRE(child >= 0);
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return child;
}

/* Runs in whatever thread or handler comes by; async-signal-safe. */
static void visit_point(const char *name)
{
	if (plan.point && strcmp(name, plan.point) == 0 &&
	    __atomic_sub_fetch(&plan.countdown, 1, __ATOMIC_RELAXED) == 0)
		(void)kill(getpid(), plan.signal);
	if (!plan.yields)
		return;
	if (!plan_random)
		plan_random = plan_seed ^ (uint64_t)(uintptr_t)&plan_random ^ (uint64_t)getpid();
	if (stress_random(&plan_random) % 1024 < plan.yields)
		(void)sched_yield();
}

void stress_follow_plan(const struct stress_plan *new_plan, uint64_t seed)
{
	plan = *new_plan;
	plan_seed = seed | 1;
	etw_sched_point_hook = visit_point;
}

static uint8_t filler_of(uint32_t writer, uint64_t number)
{
	return (uint8_t)(number * 7 + writer);
}

int stress_write(const struct etw_ring_set *set, const struct etw_clock_page *clock,
		 struct stress_log *log, uint32_t writer, uint64_t *random)
{
	const uint32_t fixed = (uint32_t)sizeof(struct wire_event_header) + 8;
	uint32_t bytes = fixed + stress_random(random) % FILLER_MOST;
	uint64_t number = log->done + 1;
	struct wire_event_header header = {.header_type = WIRE_HEADER_EVENT64,
					   .header_flag = WIRE_EVENT_FLAG_TRACE};
	struct etw_ring_span span;
	int result = etw_ring_reserve(set, clock, bytes, &span);

	if (result == -ENOBUFS)
		store_relaxed(&log->refused, log->refused + 1);
	if (result)
		return result;
	header.bytes = le16_of((uint16_t)bytes);
	header.thread_id = le32_of(writer);
	header.time_raw = le64_of((uint64_t)span.time_raw);
	if (stress_random(random) % ABANDON_ONE_OF == 0) {
		memcpy(span.at, &header, 8);
		etw_ring_abandon(&span);
		store_relaxed(&log->abandoned, log->abandoned + 1);
		return 1;
	}
	memcpy(span.at, &header, sizeof(header));
	etw_store64(span.at + sizeof(header), number);
	memset(span.at + fixed, filler_of(writer, number), bytes - fixed);
	etw_ring_commit(&span);
	store_release(&log->done, number);
	return 0;
}

void stress_check_event(const struct etw_ring_event *event, struct stress_event *ret)
{
	const uint32_t fixed = (uint32_t)sizeof(struct wire_event_header) + 8;
	struct wire_event_header header;
	uint8_t filler;

	REQUIRE(event->bytes >= fixed && event->bytes < fixed + FILLER_MOST);
	memcpy(&header, event->at, sizeof(header));
	REQUIRE(le16_get(header.bytes) == event->bytes);
	REQUIRE(header.header_type == WIRE_HEADER_EVENT64);
	ret->writer = le32_get(header.thread_id);
	ret->number = etw_load64(event->at + sizeof(header));
	ret->time_raw = (int64_t)le64_get(header.time_raw);
	REQUIRE(ret->time_raw == event->time_raw);
	REQUIRE(ret->writer < STRESS_WRITERS_MAX);
	filler = filler_of(ret->writer, ret->number);
	for (uint32_t i = fixed; i < event->bytes; i++)
		REQUIRE(event->at[i] == filler);
}

void stress_book_open(struct stress_book *book, uint32_t writers, uint64_t events, bool has_times)
{
	memset(book, 0, sizeof(*book));
	for (uint32_t i = 0; i < writers; i++) {
		book->has[i] = calloc(events + 2, 1);
		REQUIRE(book->has[i]);
		if (has_times)
			book->times[i] = calloc(events + 2, sizeof(int64_t));
		REQUIRE(!has_times || book->times[i]);
	}
}

void stress_book_close(struct stress_book *book)
{
	for (uint32_t i = 0; i < STRESS_WRITERS_MAX; i++) {
		free(book->has[i]);
		free(book->times[i]);
	}
}

void stress_book_note(struct stress_book *book, uint32_t ring, const struct stress_event *event)
{
	int64_t back = book->last_time[ring] - event->time_raw;

	REQUIRE(event->number >= 1 && event->number <= STRESS_EVENTS_MAX + 1);
	REQUIRE(book->has[event->writer]);
	REQUIRE(!book->has[event->writer][event->number]);
	REQUIRE(event->number > book->last[ring][event->writer]);
	book->has[event->writer][event->number] = 1;
	book->last[ring][event->writer] = event->number;
	book->count[event->writer]++;
	if (book->times[event->writer])
		book->times[event->writer][event->number] = event->time_raw;
	if (book->last_time[ring] && back > 0) {
		book->ran_back++;
		if (back > book->ran_back_most)
			book->ran_back_most = back;
	}
	book->last_time[ring] = event->time_raw;
}

void stress_rings_open(struct stress_rings *rings, const struct etw_ring_set_config *config)
{
	*rings = (struct stress_rings){.page = {.kind = WIRE_CLOCK_TSC, .frequency = 1}};
	rings->clock.page = &rings->page;
	REQUIRE(config->cpu_count <= STRESS_RINGS_MAX);
	REQUIRE(etw_ring_set_create(config, &rings->fds) == 0);
	REQUIRE(etw_ring_set_map(&rings->fds, &rings->set) == 0);
	rings->durables = stress_shared_memory(config->cpu_count * sizeof(*rings->durables));
	rings->readers = calloc(config->cpu_count, sizeof(struct etw_ring_reader *));
	REQUIRE(rings->readers);
	for (uint32_t i = 0; i < config->cpu_count; i++)
		REQUIRE(etw_ring_reader_open(&rings->set, i, &rings->durables[i],
					     (struct etw_ring_position){0},
					     &rings->readers[i]) == 0);
}

void stress_rings_close(struct stress_rings *rings)
{
	for (uint32_t i = 0; i < rings->set.cpu_count; i++)
		etw_ring_reader_close(rings->readers[i]);
	free((void *)rings->readers);
	(void)munmap(rings->durables, rings->set.cpu_count * sizeof(*rings->durables));
	etw_ring_set_unmap(&rings->set);
	etw_ring_set_close(&rings->fds);
}
