/* SPDX-License-Identifier: MIT */
/*
 * Processes and threads, and a signal handler in each process, write as fast as they can, while hosts come
 * and go without notice: every event arrives exactly once, each writer's in its order, time does not run
 * back, and what was refused is what the rings have counted.
 */
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stress/ring/shared.h"

#define PROCESSES     3
#define THREADS       2
#define WRITERS       (PROCESSES * (THREADS + 1)) /* the last of a process is its handler */
#define RUN_NS        UINT64_C(2500000000)
#define STAGE_EVENTS  65536
#define CRASH_ONE_OF  64
#define SLEEP_ONE_OF  8
#define HANDLER_US    500
#define RAN_BACK_MOST 2e-6 /* s */

struct writers {
	const struct etw_ring_set *set;
	const struct etw_clock_page *clock;
	struct stress_log *logs;
	uint32_t *is_over; /* atomic, shared */
};

static struct writers writers;
static struct stress_log *handler_log;
static uint32_t handler_writer;
static uint64_t handler_random;

static void write_in_handler(int number)
{
	int saved_errno = errno;

	(void)number;
	if (handler_log->done < STRESS_EVENTS_MAX)
		(void)stress_write(writers.set, writers.clock, handler_log, handler_writer,
				   &handler_random);
	errno = saved_errno;
}

static void *write_events(void *context)
{
	uint32_t writer = (uint32_t)(uintptr_t)context;
	struct stress_log *log = &writers.logs[writer];
	uint64_t random = stress.seed * 31 + writer + 1;

	while (!load_relaxed(writers.is_over) && log->done < STRESS_EVENTS_MAX) {
		if (stress_write(writers.set, writers.clock, log, writer, &random) == -ENOBUFS)
			(void)usleep(50);
	}
	return NULL;
}

static void mask_alarm(int how)
{
	sigset_t alarm;

	(void)sigemptyset(&alarm);
	(void)sigaddset(&alarm, SIGALRM);
	(void)pthread_sigmask(how, &alarm, NULL);
}

/* The first thread is the main one; only it takes the signal, so that the handler is one writer. */
static void run_process(uint32_t process)
{
	const struct stress_plan plan = {.yields = 2};
	const struct itimerval timer = {.it_interval.tv_usec = HANDLER_US,
					.it_value.tv_usec = HANDLER_US};
	const struct itimerval none = {.it_value.tv_usec = 0};
	const struct sigaction action = {.sa_handler = write_in_handler, .sa_flags = SA_RESTART};
	uint32_t first = process * (THREADS + 1);
	pthread_t threads[THREADS];

	stress_follow_plan(&plan, stress.seed + process);
	handler_writer = first + THREADS;
	handler_log = &writers.logs[handler_writer];
	handler_random = stress.seed * 37 + process + 1;
	mask_alarm(SIG_BLOCK);
	for (uint32_t i = 1; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, write_events,
				       (void *)(uintptr_t)(first + i)) == 0);
	(void)sigaction(SIGALRM, &action, NULL);
	mask_alarm(SIG_UNBLOCK);
	(void)setitimer(ITIMER_REAL, &timer, NULL);
	(void)write_events((void *)(uintptr_t)first);
	mask_alarm(SIG_BLOCK);
	(void)setitimer(ITIMER_REAL, &none, NULL);
	for (uint32_t i = 1; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	_exit(0);
}

/* The host: what it has staged counts only when it was committed together with the positions. */
struct host {
	struct stress_rings rings;
	struct stress_book book;
	struct etw_ring_position *positions; /* committed */
	struct stress_event *stage;
	uint32_t *stage_rings;
	uint32_t staged;
	uint64_t lost_in_gaps; /* of the readers that were, as of their last commit */
	uint64_t *lost_now;    /* of each reader */
	uint64_t random;
	uint64_t rounds, crashes, sleeps;
};

static void drain_ring(struct host *host, uint32_t ring, enum etw_ring_look look)
{
	struct etw_ring_reader *reader = host->rings.readers[ring];
	struct etw_ring_event event;

	REQUIRE(etw_ring_reader_look(reader, look,
				     etw_clock_now(&host->rings.clock, ETW_CLOCK_QPC)) == 0);
	while (host->staged < STAGE_EVENTS &&
	       etw_ring_reader_peek(reader, stress_now_ns(), &event) == 0) {
		stress_check_event(&event, &host->stage[host->staged]);
		host->stage_rings[host->staged++] = ring;
		etw_ring_reader_take(reader, true);
	}
}

static uint64_t lost_in_gaps(const struct etw_ring_reader *reader)
{
	struct etw_ring_counts counts;

	etw_ring_reader_counts(reader, &counts);
	REQUIRE(counts.rejected == 0);
	return counts.lost_in_gaps;
}

static void commit(struct host *host)
{
	for (uint32_t i = 0; i < host->staged; i++)
		stress_book_note(&host->book, host->stage_rings[i], &host->stage[i]);
	host->staged = 0;
	for (uint32_t i = 0; i < host->rings.set.cpu_count; i++) {
		struct etw_ring_reader *reader = host->rings.readers[i];

		host->positions[i] = etw_ring_reader_position(reader);
		etw_ring_reader_release(reader);
		host->lost_now[i] = lost_in_gaps(reader);
	}
}

static void crash(struct host *host)
{
	host->crashes++;
	host->staged = 0;
	for (uint32_t i = 0; i < host->rings.set.cpu_count; i++) {
		etw_ring_reader_close(host->rings.readers[i]);
		host->rings.readers[i] = NULL;
		host->lost_in_gaps += host->lost_now[i];
		REQUIRE(etw_ring_reader_open(&host->rings.set, i, &host->rings.durables[i],
					     host->positions[i], &host->rings.readers[i]) == 0);
		host->lost_now[i] = lost_in_gaps(host->rings.readers[i]);
	}
}

/* As the session's thread does, but for 5 ms at most. */
static void sleep_until_woken(struct host *host)
{
	const struct timespec most = {.tv_nsec = 5000000};
	uint32_t *asleep = &etw_ring_set_page(&host->rings.set)->asleep;

	store_seq_cst(asleep, 1u);
	for (uint32_t i = 0; i < host->rings.set.cpu_count; i++)
		drain_ring(host, i, ETW_RING_LOOK_CLOSED);
	if (!host->staged) {
		(void)syscall(SYS_futex, asleep, FUTEX_WAIT, 1, &most, NULL, 0);
		host->sleeps++;
	}
	store_seq_cst(asleep, 0u);
}

static void run_host_round(struct host *host)
{
	host->rounds++;
	for (uint32_t i = 0; i < host->rings.set.cpu_count; i++)
		drain_ring(host, i, (enum etw_ring_look)(stress_random(&host->random) % 3));
	if (stress_random(&host->random) % CRASH_ONE_OF == 0) {
		crash(host);
		return;
	}
	if (!host->staged || stress_random(&host->random) % SLEEP_ONE_OF == 0)
		sleep_until_woken(host);
	commit(host);
}

static double measure_tick_rate(void)
{
	uint64_t start_ns = stress_now_ns(), start = etw_cpu_counter();

	(void)usleep(20000);
	return (double)(etw_cpu_counter() - start) / (double)(stress_now_ns() - start_ns) * 1e9;
}

static void check_totals(struct host *host, double rate)
{
	uint64_t done = 0, taken = 0, refused = 0, counted = 0, lost = host->lost_in_gaps;

	for (uint32_t i = 0; i < WRITERS; i++) {
		int64_t last = 0;

		done += writers.logs[i].done;
		refused += writers.logs[i].refused;
		taken += host->book.count[i];
		for (uint64_t j = 1; j <= writers.logs[i].done; j++) {
			if (!host->book.has[i][j])
				continue;
			REQUIRE(host->book.times[i][j] >= last);
			last = host->book.times[i][j];
		}
	}
	for (uint32_t i = 0; i < host->rings.set.cpu_count; i++) {
		struct etw_ring_counts counts;

		etw_ring_reader_counts(host->rings.readers[i], &counts);
		counted += counts.lost_no_buffer;
		lost += host->lost_now[i];
		REQUIRE(counts.quarantined == 0);
		REQUIRE(counts.free_buffers + 1 == host->rings.set.buffer_count);
	}
	printf("  %" PRIu64 " written, %" PRIu64 " taken, %" PRIu64 " lost in gaps, %" PRIu64
	       " refused; %" PRIu64 " rounds, %" PRIu64 " crashes, %" PRIu64
	       " sleeps; time ran back %" PRIu64 " times, at most %.0f ns\n",
	       done, taken, lost, refused, host->rounds, host->crashes, host->sleeps,
	       host->book.ran_back, (double)host->book.ran_back_most / rate * 1e9);
	REQUIRE(done == taken + lost);
	REQUIRE(refused == counted);
	REQUIRE((double)host->book.ran_back_most <= RAN_BACK_MOST * rate);
}

static void run_traffic(const struct etw_ring_set_config *config, double rate)
{
	struct host host = {.random = stress.seed + stress.round + 1};
	pid_t children[PROCESSES];
	uint64_t end_ns;

	stress_rings_open(&host.rings, config);
	stress_book_open(&host.book, WRITERS, STRESS_EVENTS_MAX, true);
	host.positions = calloc(config->cpu_count, sizeof(*host.positions));
	host.lost_now = calloc(config->cpu_count, sizeof(*host.lost_now));
	host.stage = calloc(STAGE_EVENTS, sizeof(*host.stage));
	host.stage_rings = calloc(STAGE_EVENTS, sizeof(*host.stage_rings));
	REQUIRE(host.positions && host.lost_now && host.stage && host.stage_rings);
	writers.set = &host.rings.set;
	writers.clock = &host.rings.clock;
	writers.logs = stress_shared_memory(WRITERS * sizeof(*writers.logs));
	writers.is_over = stress_shared_memory(sizeof(*writers.is_over));
	for (uint32_t i = 0; i < PROCESSES; i++) {
		children[i] = stress_fork();
		if (children[i] == 0)
			run_process(i);
	}
	end_ns = stress_now_ns() + RUN_NS;
	while (stress_now_ns() < end_ns)
		run_host_round(&host);
	store_relaxed(writers.is_over, 1u);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		int status;

		REQUIRE(waitpid(children[i], &status, 0) == children[i]);
		REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	/* All have committed or abandoned what they had reserved: nothing stays open. */
	for (int i = 0; i < 64; i++) {
		for (uint32_t j = 0; j < host.rings.set.cpu_count; j++)
			drain_ring(&host, j, ETW_RING_LOOK_SWITCH);
		commit(&host);
	}
	check_totals(&host, rate);
	(void)munmap(writers.logs, WRITERS * sizeof(*writers.logs));
	(void)munmap(writers.is_over, sizeof(*writers.is_over));
	free(host.positions);
	free(host.lost_now);
	free(host.stage);
	free(host.stage_rings);
	stress_book_close(&host.book);
	stress_rings_close(&host.rings);
}

int stress_traffic(void)
{
	const uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	const struct {
		const char *name;
		struct etw_ring_set_config config;
	} cases[] = {
		{"a ring for each processor",
		 {.cpu_count = cpus, .buffer_count = 16, .buffer_bytes = 16384}},
		{"small buffers", {.cpu_count = cpus, .buffer_count = 5, .buffer_bytes = 640}},
		{"one stream",
		 {.cpu_count = 1,
		  .buffer_count = 64,
		  .buffer_bytes = 8192,
		  .flags = WIRE_RING_ONE_STREAM}},
		{"more processors than rings",
		 {.cpu_count = 1, .buffer_count = 32, .buffer_bytes = 4096}},
	};
	double rate = measure_tick_rate();

	for (uint32_t i = 0; i < (stress.rounds ? stress.rounds : 1); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(cases); j++) {
			struct etw_ring_set_config config = cases[j].config;

			config.clock_type = ETW_CLOCK_QPC;
			if (config.cpu_count > STRESS_RINGS_MAX)
				config.cpu_count = STRESS_RINGS_MAX;
			stress.round++;
			printf("%s:\n", cases[j].name);
			run_traffic(&config, rate);
		}
	}
	return 0;
}
