/* SPDX-License-Identifier: MIT */
/*
 * many_sessions [--sessions N] - one program that lives on while sessions come and go: each is started, enabled,
 * written to and stopped. What the program has of the system afterwards is what it had in the beginning.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "recording/children.h"
#include "recording/support.h"

#define WRITERS       3
#define WARM_UP       10 /* after so many the program has what it needs */
#define PAUSE_NS      20000
#define MAPPINGS_MORE 2    /* the C library's memory comes and goes */
#define KIB_MORE      4096 /* the same */

static const GUID provider_id = {0xC12, 0, 9, {1, 2, 3, 4, 5, 6, 7, 8}};

/* What the program counts, in memory that the controller sees. */
struct account {
	uint64_t written[WRITERS];
	uint32_t is_ready;
};

struct memory {
	unsigned long mappings, kib;
};

static struct account *account;
static REGHANDLE provider;

static void *write_on(void *context)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	uint64_t *written = context;
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, written, sizeof(*written));
	for (;;) {
		/* In bursts, so that a session often ends in the middle of one. */
		for (int i = 0; i < 100 && EventEnabled(provider, &descriptor); i++) {
			if (EventWrite(provider, &descriptor, 1, &data) == 0)
				store_relaxed(written, load_relaxed(written) + 1);
		}
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

static void run_program(void)
{
	pthread_t threads[WRITERS];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (EventRegister(&provider_id, NULL, NULL, &provider))
		_exit(1);
	for (int i = 0; i < WRITERS; i++) {
		if (pthread_create(&threads[i], NULL, write_on, &account->written[i]))
			_exit(1);
	}
	store_release(&account->is_ready, 1u);
	for (;;)
		(void)pause();
}

static struct memory measure(pid_t program)
{
	struct memory memory = {0};
	char path[64];
	char line[1024];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)program);
	file = fopen(path, "re");
	if (!file)
		fail("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file))
		memory.mappings++;
	fclose(file);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)program);
	file = fopen(path, "re");
	if (!file)
		fail("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file))
		(void)sscanf(line, "VmSize: %lu", &memory.kib);
	fclose(file);
	return memory;
}

/* Every writer writes on. */
static void wait_for_events(void)
{
	const double end = seconds() + HANG_SECONDS;
	uint64_t before[WRITERS];

	for (int i = 0; i < WRITERS; i++)
		before[i] = load_relaxed(&account->written[i]);
	for (int i = 0; i < WRITERS; i++) {
		while (load_relaxed(&account->written[i]) == before[i]) {
			if (seconds() > end)
				fail("writer %d is not enabled", i);
			(void)usleep(100);
		}
	}
}

static void run_sessions(unsigned count)
{
	const struct recording_options options = {
		.name = "many sessions",
		.mode = EVENT_TRACE_REAL_TIME_MODE,
		.buffer_kib = 16,
		.buffers = 4,
	};
	struct recording recording;

	for (unsigned i = 0; i < count; i++) {
		recording_start(&recording, &options);
		recording_enable(&recording, &provider_id);
		wait_for_events();
		recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	}
}

static void wait_until_at_most(pid_t program, struct memory most)
{
	const double end = seconds() + HANG_SECONDS;
	struct memory memory = measure(program);

	while (memory.mappings > most.mappings || memory.kib > most.kib) {
		if (seconds() > end)
			fail("%lu mappings and %lu KiB of address space, where %lu and %lu are "
			     "the most",
			     memory.mappings, memory.kib, most.mappings, most.kib);
		(void)usleep(10000);
		memory = measure(program);
	}
}

static void print(const char *when, struct memory memory)
{
	printf("%s: %lu mappings, %lu KiB of address space\n", when, memory.mappings, memory.kib);
	fflush(stdout);
}

static pid_t start_recorded(void)
{
	pid_t program;

	account = share_with_forks(sizeof(*account));
	program = fork();
	if (program == 0)
		run_program();
	while (!load_acquire(&account->is_ready)) {
		if (waitpid(program, NULL, WNOHANG) == program)
			fail("the program did not start");
		(void)usleep(1000);
	}
	return program;
}

int main(int argc, char **argv)
{
	const unsigned sessions = argc == 3 && strcmp(argv[1], "--sessions") == 0
					  ? (unsigned)atoi(argv[2])
					  : 100;
	struct memory before;
	int status;
	pid_t program;

	(void)test_home();
	program = start_recorded();
	run_sessions(WARM_UP);
	before = measure(program);
	print("after the first sessions", before);
	run_sessions(sessions);
	before.mappings += MAPPINGS_MORE;
	before.kib += KIB_MORE;
	wait_until_at_most(program, before);
	print("after the last one", measure(program));
	if (waitpid(program, &status, WNOHANG) == program)
		fail("the program has ended: %#x", (unsigned)status);
	(void)kill(program, SIGKILL);
	(void)waitpid(program, &status, 0);
	return 0;
}
