/* SPDX-License-Identifier: MIT */
/*
 * death_writer FD INDEX - a provider process of writer_death.c. It is linked with a library that has
 * scheduling points, and at the one that its plan names it kills or stops itself.
 */
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <evntprov.h>

#include "base/atomic.h"
#include "base/sched_point.h"
#include "recording/death_shared.h"
#include "recording/enabled.h"

#define MOVE_EVENTS 512 /* a writer without a CPU of its own goes to the next after so many */

static struct death_writer *self;
static uint32_t self_index;
static uint32_t visits_left; /* atomic: the listener passes points, too */

static void die(const char *what)
{
	fprintf(stderr, "writer %u: %s\n", self_index, what);
	_exit(1);
}

/* To the thread itself: a signal to the process might first reach the listener. */
static void visit_point(const char *name)
{
	if (load_relaxed(&visits_left) == 0 || strcmp(name, self->plan.point) != 0 ||
	    add_relaxed(&visits_left, UINT32_MAX) != 1)
		return;
	store_release(&self->log.has_acted, 1u);
	(void)syscall(SYS_tgkill, getpid(), gettid(), self->plan.signal);
}

static void go_to_cpu(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* A refused number is tried again: so the numbers that succeeded are 1 .. done. */
static void write_one(REGHANDLE provider, uint64_t *random)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	struct death_payload payload = {.writer = self_index};
	EVENT_DATA_DESCRIPTOR data;
	uint64_t number = load_relaxed(&self->log.done) + 1;

	payload.filler_bytes = death_random(random) % DEATH_FILLER_MOST;
	payload.number = number;
	memset(payload.filler, death_filler(self_index, number), payload.filler_bytes);
	payload.sent_ns = now_ns();
	EventDataDescCreate(&data, &payload, DEATH_PAYLOAD_FIXED + payload.filler_bytes);
	if (EventWrite(provider, &descriptor, 1, &data) == 0)
		store_release(&self->log.done, number);
	else
		store_release(&self->log.refused, load_relaxed(&self->log.refused) + 1);
}

static void write_events(REGHANDLE provider)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t random = self->plan.seed | 1;
	uint64_t tries = 0;
	uint32_t told;

	while ((told = load_acquire(&self->log.is_told)) < 2 &&
	       (self->plan.events == 0 || tries < self->plan.events)) {
		store_release(&self->log.is_idle, told);
		if (told) {
			usleep(1000);
			continue;
		}
		write_one(provider, &random);
		tries++;
		if (self->plan.cpu < 0 && tries % MOVE_EVENTS == 0)
			go_to_cpu((int)((long)(tries / MOVE_EVENTS) % cpus));
		if (self->plan.pause_us && tries % self->plan.burst == 0)
			usleep(self->plan.pause_us);
	}
}

int main(int argc, char **argv)
{
	struct death_writer *writers;
	REGHANDLE provider;

	if (argc != 3)
		return 2;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	self_index = (uint32_t)strtoul(argv[2], NULL, 0);
	writers = mmap(NULL, sizeof(*writers) * DEATH_WRITERS_MAX, PROT_READ | PROT_WRITE,
		       MAP_SHARED, atoi(argv[1]), 0);
	if (writers == MAP_FAILED || self_index >= DEATH_WRITERS_MAX)
		die("no shared memory");
	self = &writers[self_index];
	if (self->plan.cpu >= 0)
		go_to_cpu(self->plan.cpu);
	etw_sched_point_hook = visit_point; /* before there is a listener; no visit counts yet */
	if (EventRegister(&death_provider, NULL, NULL, &provider))
		die("EventRegister failed");
	if (!becomes_enabled(provider))
		die("not enabled");
	store_relaxed(&visits_left, self->plan.point[0] ? self->plan.countdown : 0u);
	store_release(&self->log.is_ready, 1u);
	write_events(provider);
	EventUnregister(provider);
	return 0;
}
