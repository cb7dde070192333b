/* SPDX-License-Identifier: MIT */
/*
 * reclaim_stress [CYCLES [SEED]] - sessions come and go as fast as they can while threads write: from signal
 * handlers that interrupt writes, and jump out of them; from threads that are cancelled inside; from children of
 * vfork() that are killed inside. Every step that others can see may yield or wait.
 *
 * Memory that is unmapped stays here as a range that nobody may touch: who does ends the program. In the end each
 * mapping has been given back.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <evntprov.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "base/time.h"
#include "fake_host/fake_host.h"
#include "provider/thread.h"

#if defined(__SANITIZE_THREAD__)
#define IS_THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_THREAD_SANITIZED 1
#endif
#endif
#ifndef IS_THREAD_SANITIZED
#define IS_THREAD_SANITIZED 0
#endif

#define CYCLES       400
#define WRITERS      3
#define BURST        200
#define BUFFER_BYTES 8192
#define BUFFER_COUNT 4
#define WAIT_MS      120000
#define SETS_MAX     2 /* at a time: one is the plain way of a write, two the other */

static const GUID provider_id = {0xC12, 0, 10, {1, 2, 3, 4, 5, 6, 7, 8}};
static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};

static struct fake_host host;
static struct fake_session sessions[SETS_MAX];
static REGHANDLE provider;
static uint64_t seed;
static uint32_t is_over;                      /* atomic */
static uint64_t set_bytes;                    /* atomic; each set is as large */
static uint64_t given_back;                   /* atomic; bytes */
static uint64_t mapped;                       /* bytes of all sets, once for each end */
static uint64_t jumps, cancellations, killed; /* by their threads alone */
static pthread_t writers[WRITERS];

static _Thread_local uint64_t thread_random;
static _Thread_local volatile sig_atomic_t is_armed; /* a handler may jump to way_out */
static _Thread_local sigjmp_buf way_out;
static _Thread_local volatile uint32_t
	dies_after; /* points; 0: does not; set in children of vfork() */

int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);

int __wrap_munmap(void *at, size_t bytes)
{
	if (bytes != load_relaxed(&set_bytes))
		return __real_munmap(at, bytes);
	(void)add_relaxed(&given_back, (uint64_t)bytes);
	return mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
		    -1, 0) == MAP_FAILED
		       ? -1
		       : 0;
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "FAILED: %s (errno %d), seed %" PRIu64 "\n", what, errno, seed);
	_exit(1);
}

/* Also in signal handlers, which may well take a number twice. */
static uint32_t next_random(void)
{
	uint64_t state = thread_random;

	if (state == 0)
		state = seed ^ (uint64_t)gettid() * UINT64_C(0x9E3779B97F4A7C15);
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	thread_random = state;
	return (uint32_t)(state >> 16);
}

static void visit_point(const char *name)
{
	const struct timespec pause = {.tv_nsec = 50000};
	const uint32_t random = next_random();

	(void)name;
	if (dies_after && --dies_after == 0)
		(void)kill(getpid(), SIGKILL);
	if (random % 4096 == 0)
		(void)nanosleep(&pause, NULL);
	else if (random % 256 == 0)
		(void)sched_yield();
}

static void write_event(void)
{
	uint64_t number = thread_random;
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, &number, sizeof(number));
	(void)EventWrite(provider, &descriptor, 1, &data);
}

static void on_signal(int signal)
{
	(void)signal;
	write_event();
	if (!IS_THREAD_SANITIZED && is_armed && next_random() % 8 == 0) {
		is_armed = 0;
		siglongjmp(way_out, 1);
	}
}

static void *write_on(void *unused)
{
	while (!load_relaxed(&is_over)) {
		if (sigsetjmp(way_out, 1) == 0) {
			is_armed = 1;
			for (int i = 0; i < BURST; i++)
				write_event();
			is_armed = 0;
		} else {
			(void)add_relaxed(&jumps, UINT64_C(1));
		}
	}
	return unused;
}

static void *send_signals(void *unused)
{
	const struct timespec pause = {.tv_nsec = 100000};

	while (!load_relaxed(&is_over)) {
		(void)pthread_kill(writers[next_random() % WRITERS], SIGUSR1);
		(void)nanosleep(&pause, NULL);
	}
	return unused;
}

static void *write_until_cancelled(void *unused)
{
	(void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		write_event();
	return unused;
}

static void *cancel_threads(void *unused)
{
	sigset_t signals;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGUSR1);
	(void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
	while (!load_relaxed(&is_over)) {
		const struct timespec pause = {.tv_nsec = next_random() % 1000000};
		pthread_t thread;

		if (pthread_create(&thread, NULL, write_until_cancelled, NULL))
			fail("pthread_create");
		(void)nanosleep(&pause, NULL);
		if (pthread_cancel(thread) || pthread_join(thread, NULL))
			fail("pthread_cancel");
		cancellations++;
	}
	return unused;
}

static void *kill_vfork_children(void *unused)
{
	/* A child that is killed in its thread's first write of all would hold everything up for good. */
	while (!load_relaxed(&etw_thread->owner) && !load_relaxed(&is_over))
		write_event();
	while (!load_relaxed(&is_over)) {
		const uint32_t after = 1 + next_random() % 16;
		volatile pid_t child;
		int status;

		child = vfork();
		if (child == 0) {
			dies_after = after;
			for (int i = 0; i < BURST;
			     i++) /* no point is met while nobody wants events */
				write_event();
			_exit(0);
		}
		dies_after = 0;
		if (child < 0 || waitpid(child, &status, 0) != child)
			fail("vfork");
		killed += WIFSIGNALED(status);
	}
	return unused;
}

static void open_sets(uint32_t number, unsigned count)
{
	const struct fake_wish wish = {.level = 5};

	for (unsigned i = 0; i < count; i++) {
		if (fake_session_open(&sessions[i], number * SETS_MAX + i + 1, BUFFER_COUNT,
				      BUFFER_BYTES, 0) < 0 ||
		    fake_host_enable(&host, &provider_id, &sessions[i], wish) < 0)
			fail("cannot enable");
		store_relaxed(&set_bytes, sessions[i].set.total_bytes);
		mapped += 2 * sessions[i].set.total_bytes;
	}
}

static void end_sets(unsigned count)
{
	/* Retired while slots still name it. The tests' host forgets all sets that it has given then. */
	const bool is_abrupt = count == 1 && next_random() % 2;

	for (unsigned i = 0; i < count; i++) {
		if (is_abrupt && fake_host_retire(&host, &sessions[i]) < 0)
			fail("cannot retire");
		if (fake_host_disable(&host, &provider_id, &sessions[i]) < 0 ||
		    fake_host_retire(&host, &sessions[i]) < 0)
			fail("cannot retire");
		fake_session_close(&sessions[i]);
	}
}

static void run_cycles(uint32_t cycles)
{
	for (uint32_t i = 0; i < cycles; i++) {
		const unsigned count = 1 + next_random() % SETS_MAX;
		const struct timespec pause = {.tv_nsec = next_random() % 500000};

		open_sets(i, count);
		(void)nanosleep(&pause, NULL);
		end_sets(count);
	}
}

/* Also what was not over when it was retired: the listener looks again. */
static void wait_until_all_is_given_back(void)
{
	for (int i = 0; load_relaxed(&given_back) < mapped; i++) {
		if (i == WAIT_MS)
			fail("mappings were not given back");
		(void)usleep(1000);
	}
	if (load_relaxed(&given_back) > mapped)
		fail("more was given back than there was");
}

static void start(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	if (sigaction(SIGUSR1, &action, NULL) < 0 || fake_host_init(&host) < 0 ||
	    fake_host_start(&host) < 0)
		fail("no host");
	if (EventRegister(&provider_id, NULL, NULL, &provider))
		fail("EventRegister");
	if (fake_host_wait_registered(&host, 1) < 0)
		fail("the provider is not registered");
}

static void run_threads(uint32_t cycles)
{
	void *(*const others[])(void *) = {send_signals, cancel_threads, kill_vfork_children};
	const size_t other_count = IS_THREAD_SANITIZED ? 1 : ARRAY_SIZE(others);
	pthread_t other_threads[ARRAY_SIZE(others)];

	for (int i = 0; i < WRITERS; i++) {
		if (pthread_create(&writers[i], NULL, write_on, NULL))
			fail("pthread_create");
	}
	for (size_t i = 0; i < other_count; i++) {
		if (pthread_create(&other_threads[i], NULL, others[i], NULL))
			fail("pthread_create");
	}
	run_cycles(cycles);
	store_relaxed(&is_over, 1u);
	for (size_t i = 0; i < other_count; i++)
		(void)pthread_join(other_threads[i], NULL);
	for (int i = 0; i < WRITERS; i++)
		(void)pthread_join(writers[i], NULL);
}

int main(int argc, char **argv)
{
	const uint32_t cycles = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : CYCLES;

	seed = argc > 2 ? strtoull(argv[2], NULL, 0)
			: etw_monotonic_ns() ^ (uint64_t)getpid() << 32;
	printf("reclaim: seed %" PRIu64 "\n", seed);
	fflush(stdout);
	etw_sched_point_hook = visit_point;
	start();
	run_threads(cycles);
	wait_until_all_is_given_back();
	printf("%" PRIu32 " cycles, %" PRIu64 " jumps out of handlers, %" PRIu64
	       " cancellations, %" PRIu64 " children killed\n",
	       cycles, load_relaxed(&jumps), cancellations, killed);
	(void)EventUnregister(provider);
	fake_host_leave(&host);
	fake_host_done(&host);
	return 0;
}
