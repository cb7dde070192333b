/* SPDX-License-Identifier: MIT */
#include "bench/write/writers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct writer {
	pthread_t thread;
	double ns;
	uint64_t refused;
} writers[WRITERS_MAX];

/* Under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const struct write_kind *kind; /* NULL: end */
static uint64_t batch_count;
static uint64_t batch; /* its number */
static unsigned wanted, running;

/* The calling thread's: what it pays is asked for, not what it waits for a processor. */
static double cpu_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *write_batches(void *context)
{
	struct writer *writer = context;
	const unsigned index = (unsigned)(writer - writers);
	uint64_t seen = 0;

	(void)pthread_mutex_lock(&lock);
	for (;;) {
		double before;

		while (batch == seen || (kind && index >= wanted))
			(void)pthread_cond_wait(&changed, &lock);
		seen = batch;
		if (!kind)
			break;
		(void)pthread_mutex_unlock(&lock);
		before = cpu_ns();
		writer->refused = write_kind_run(kind, batch_count);
		writer->ns = (cpu_ns() - before) / (double)batch_count;
		(void)pthread_mutex_lock(&lock);
		running--;
		(void)pthread_cond_broadcast(&changed);
	}
	(void)pthread_mutex_unlock(&lock);
	return NULL;
}

void writers_start(void)
{
	for (unsigned i = 0; i < WRITERS_MAX; i++) {
		if (pthread_create(&writers[i].thread, NULL, write_batches, &writers[i])) {
			fprintf(stderr, "write: no thread\n");
			exit(1);
		}
	}
}

/* Tells the threads of a batch, and waits until it is done. */
static void run(const struct write_kind *next, unsigned threads, uint64_t count)
{
	(void)pthread_mutex_lock(&lock);
	kind = next;
	batch_count = count;
	wanted = running = threads;
	batch++;
	(void)pthread_cond_broadcast(&changed);
	while (running)
		(void)pthread_cond_wait(&changed, &lock);
	(void)pthread_mutex_unlock(&lock);
}

void writers_stop(void)
{
	run(NULL, 0, 0);
	for (unsigned i = 0; i < WRITERS_MAX; i++)
		(void)pthread_join(writers[i].thread, NULL);
}

uint64_t writers_run(const struct write_kind *next, unsigned threads, uint64_t count,
		     bool is_warm_up, struct writers_time *time)
{
	uint64_t refused = 0;

	if (is_warm_up)
		run(next, threads, count / 8);
	run(next, threads, count);
	time->best_ns = 0;
	for (unsigned i = 0; i < threads; i++) {
		double *best = &time->thread_best_ns[i];

		if (*best == 0 || writers[i].ns < *best)
			*best = writers[i].ns;
		if (writers[i].ns > time->worst_ns)
			time->worst_ns = writers[i].ns;
		time->best_ns += *best / threads;
		refused += writers[i].refused;
	}
	return refused;
}
