/* SPDX-License-Identifier: MIT */
/*
 * end_to_end [OPTION]... [WHAT]...
 *
 * From EventWrite to the end of the line, through the public API and a host of its own: writers write events for
 * several providers into one session.
 *
 *	--seconds S      of writing (5)              --writers N    threads, or processes (one a processor)
 *	--mib N          of buffers (64)             --processes    writers are processes
 *	--buffer-kib N   of each buffer (64)         --bytes N      of payload (26, in three fields)
 *	--providers N    that take turns (9)         --rate N       events a second, together (full speed)
 *
 * WHAT is measured, one after the other; without any: live, file, both, wake.
 *
 *	live, file, both   events a second that are tried and recorded, delivered to one consumer thread, to a
 *	                   file on tmpfs, or both; with a file, beside plain writes right before and after
 *	sizes              these three for payloads of 16 bytes to 8 KiB
 *	writers            these three for 1 to 8 writer threads and processes
 *	curve              these three for loads of 1 to 16 million events a second
 *	latency            time from EventWrite to the callback at 10,000 events a second, by flush timer
 *	wake               the same of single events, when everybody sleeps
 *	memory             of a session, against its buffers times their size
 *	sessions           EventWrite's time on a processor, enabled in 0 to 8 sessions
 *	raw                plain writes of buffers to the same place
 *
 * "Recorded" counts what arrived, over the time until the session has ended and its consumer has got everything;
 * "lost" is what of the tried did not; "thread ns" the session's thread's time on a processor for each that did.
 * docs/performance.md says what the figures were.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <winerror.h>

#include "base/macros.h"
#include "bench/end_to_end/bench.h"

char bench_home[64];

uint64_t bench_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_check(ULONG error, const char *what)
{
	if (error) {
		fprintf(stderr, "end_to_end: %s: error %u\n", what, (unsigned)error);
		exit(1);
	}
}

static void run_live(const struct bench_options *options)
{
	bench_rates("live", options, EVENT_TRACE_REAL_TIME_MODE);
}

static void run_file(const struct bench_options *options)
{
	bench_rates("file", options, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
}

static void run_both(const struct bench_options *options)
{
	bench_rates("both", options, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_REAL_TIME_MODE);
}

static void run_raw(const struct bench_options *options)
{
	printf("plain writes: %.0f MB/s\n", bench_raw(options->buffer_kib * 1024) / 1e6);
}

static const struct {
	const char *name;
	void (*run)(const struct bench_options *options);
} measures[] = {
	{"live", run_live},
	{"file", run_file},
	{"both", run_both},
	{"sizes", bench_by_size},
	{"writers", bench_by_writers},
	{"curve", bench_curve},
	{"latency", bench_latency},
	{"wake", bench_wake},
	{"memory", bench_memory},
	{"sessions", bench_sessions},
	{"raw", run_raw},
};

static void run(const char *name, const struct bench_options *options)
{
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		if (strcmp(name, measures[i].name) == 0) {
			measures[i].run(options);
			return;
		}
	}
	fprintf(stderr, "end_to_end: what is %s?\n", name);
	exit(2);
}

static void make_home(void)
{
	char runtime[80];

	(void)snprintf(bench_home, sizeof(bench_home), "/dev/shm/etw-bench-XXXXXX");
	if (!mkdtemp(bench_home))
		bench_check(ERROR_PATH_NOT_FOUND, "mkdtemp in /dev/shm");
	(void)snprintf(runtime, sizeof(runtime), "%s/run", bench_home);
	setenv("ETW_RUNTIME_DIR", runtime, 1);
	setenv("ETWD_IDLE_MS", "500", 0);
}

static void remove_home(void)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", bench_home);
	if (system(command))
		fprintf(stderr, "end_to_end: %s is left behind\n", bench_home);
}

static uint32_t number_of(const char *text, uint32_t least, uint32_t most)
{
	unsigned long number = strtoul(text, NULL, 10);

	return number < least ? least : number > most ? most : (uint32_t)number;
}

static bool parse(int argc, char **argv, struct bench_options *ret)
{
	static const struct option names[] = {{"seconds", 1, NULL, 's'},
					      {"mib", 1, NULL, 'm'},
					      {"buffer-kib", 1, NULL, 'k'},
					      {"providers", 1, NULL, 'p'},
					      {"writers", 1, NULL, 'w'},
					      {"processes", 0, NULL, 'x'},
					      {"bytes", 1, NULL, 'b'},
					      {"rate", 1, NULL, 'r'},
					      {0}};
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		if (option == 's')
			ret->seconds = strtod(optarg, NULL);
		else if (option == 'm')
			ret->mib = number_of(optarg, 1, 4096);
		else if (option == 'k')
			ret->buffer_kib = number_of(optarg, 4, 16384);
		else if (option == 'p')
			ret->providers = number_of(optarg, 1, BENCH_PROVIDERS_MAX);
		else if (option == 'w')
			ret->writers = number_of(optarg, 1, BENCH_WRITERS_MAX);
		else if (option == 'x')
			ret->is_processes = true;
		else if (option == 'b')
			ret->bytes = number_of(optarg, BENCH_BYTES_LEAST, BENCH_BYTES_MAX);
		else if (option == 'r')
			ret->rate = strtod(optarg, NULL);
		else
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {"live", "file", "both", "wake"};
	struct bench_options options = {.seconds = 5,
					.mib = 64,
					.buffer_kib = 64,
					.providers = 9,
					.bytes = BENCH_THREE_FIELDS};

	if (argc == 4 && strcmp(argv[1], "--writer") == 0)
		return bench_be_writer(atoi(argv[2]), (uint32_t)atoi(argv[3]));
	options.writers = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (!parse(argc, argv, &options))
		return 2;
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	make_home();
	bench_register(options.providers);
	for (size_t i = 0; optind == argc && i < ARRAY_SIZE(usual); i++)
		run(usual[i], &options);
	for (int i = optind; i < argc; i++)
		run(argv[i], &options);
	bench_unregister(options.providers);
	remove_home();
	return 0;
}
