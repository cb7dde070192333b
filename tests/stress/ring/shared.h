/* SPDX-License-Identifier: MIT */
/*
 * What the stress programs share: events that say who wrote them and which one they are, a log that
 * writers keep outside of the ring, a book that the reader keeps, and the scheduling points at which a
 * process yields, stops or dies.
 */
#ifndef ETW_TESTS_STRESS_RING_SHARED_H
#define ETW_TESTS_STRESS_RING_SHARED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/macros.h"
#include "ring/reader.h"
#include "ring/writer.h"

#define STRESS_WRITERS_MAX 64
#define STRESS_EVENTS_MAX  400000 /* of a writer */
#define STRESS_RINGS_MAX   256
#define STRESS_GAP_NS      UINT64_C(100000000)

/* Ends the program, with the place and the seed, when a condition does not hold. */
#define REQUIRE(condition)                                           \
	do {                                                         \
		if (UNLIKELY(!(condition)))                          \
			stress_fail(__FILE__, __LINE__, #condition); \
	} while (0)

_Noreturn void stress_fail(const char *file, int line, const char *condition);

/* What the whole program goes by. */
struct stress {
	uint64_t seed;
	uint64_t round;
	uint32_t rounds; /* 0: as many as the part does by itself */
};
extern struct stress stress;

/* A small generator; each thread has its own state. */
static inline uint32_t stress_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 16);
}

/* One writer's log, in memory that all processes share. Written by it alone; atomic. */
struct stress_log {
	uint64_t done;      /* events whose commit has returned: 1 .. done */
	uint64_t refused;   /* -ENOBUFS */
	uint64_t abandoned; /* given up on purpose */
	uint64_t reserved_pad[5];
};

/* Zeroed memory that children share. */
void *stress_shared_memory(size_t bytes);

/*
 * stress_write() - writes the next event of a writer, or abandons a place, as chance decides.
 *
 * Returns 0 when an event was written, else what etw_ring_reserve() did, or 1 for an abandoned place.
 */
int stress_write(const struct etw_ring_set *set, const struct etw_clock_page *clock,
		 struct stress_log *log, uint32_t writer, uint64_t *random);

/* The rings of a set, their readers, and what was read. */
struct stress_rings {
	struct wire_clock_page page;
	struct etw_clock_page clock;
	struct etw_ring_set set;
	struct etw_ring_durable *durables;
	struct etw_ring_reader **readers;
	struct etw_ring_set_fds fds;
};

void stress_rings_open(struct stress_rings *rings, const struct etw_ring_set_config *config);
void stress_rings_close(struct stress_rings *rings);

/* The reader's book. */
struct stress_book {
	uint8_t *has[STRESS_WRITERS_MAX];                    /* by number: 1 when it was read */
	int64_t *times[STRESS_WRITERS_MAX];                  /* by number; NULL: not asked for */
	uint64_t count[STRESS_WRITERS_MAX];                  /* different events */
	uint64_t last[STRESS_RINGS_MAX][STRESS_WRITERS_MAX]; /* number last read in that ring */
	int64_t last_time[STRESS_RINGS_MAX];
	int64_t ran_back_most; /* ticks */
	uint64_t ran_back;     /* times that time ran back in a ring */
};

void stress_book_open(struct stress_book *book, uint32_t writers, uint64_t events, bool has_times);
void stress_book_close(struct stress_book *book);

/* stress_check_event() - an event's own account of itself: size, filler, numbers. */
struct stress_event {
	uint32_t writer;
	uint64_t number;
	int64_t time_raw;
};
void stress_check_event(const struct etw_ring_event *event, struct stress_event *ret);

/* stress_book_note() - enters an event: not there yet, in the writer's order within its ring. */
void stress_book_note(struct stress_book *book, uint32_t ring, const struct stress_event *event);

/* What a process does at the scheduling points. */
struct stress_plan {
	const char *point;  /* NULL: nothing but yielding */
	uint32_t countdown; /* acts when it gets to 0 there */
	int signal;         /* SIGKILL, SIGSTOP */
	uint32_t yields;    /* of 1024 visits so many yield */
};
void stress_follow_plan(const struct stress_plan *plan, uint64_t seed);

/* stress_fork() - a child that dies with its parent. */
pid_t stress_fork(void);

uint64_t stress_now_ns(void);

int stress_traffic(void);
int stress_writer_death(void);
int stress_host_death(void);

#endif
