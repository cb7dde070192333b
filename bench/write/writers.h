/* SPDX-License-Identifier: MIT */
/*
 * The threads that bench/write measures. They stay from batch to batch, so that a thread's first event, which costs
 * more, is in none of the figures.
 */
#ifndef ETW_BENCH_WRITE_WRITERS_H
#define ETW_BENCH_WRITE_WRITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/write_kinds/write_kinds.h"

#define WRITERS_MAX 8

/* ns an event, of the CPU time of the threads: the mean of their bests, the worst of all. */
struct writers_time {
	double best_ns, worst_ns;
	double thread_best_ns[WRITERS_MAX];
};

void writers_start(void);
void writers_stop(void);

/*
 * writers_run() - a batch of @count events by each of @threads at once.
 *
 * @is_warm_up: a batch that is not counted goes before
 * @time:       added to
 *
 * Returns how many events were refused.
 */
uint64_t writers_run(const struct write_kind *kind, unsigned threads, uint64_t count,
		     bool is_warm_up, struct writers_time *time);

#endif
