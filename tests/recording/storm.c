/* SPDX-License-Identifier: MIT */
/*
 * storm --writer PROGRAM --etwd PROGRAM [--rounds N] [--seed N] [--kind NAME] - in each round one of host, keeper, standby, writer,
 * consumer and controller is killed or stopped, or some of them at once, at random or at a scheduling point.
 * Writers of two uids write all the time, into a file and to live consumers.
 *
 * A session of some rounds is settled at its end: what the writers tried = what is in the file + what the file says
 * is lost; and the same for a consumer that was there from the first event to the last. Each thread's events are there once
 * and in order, and no more of them than it has tried. A writer that is killed inside EventWrite may or may not
 * have written that one event: so much the sum may be larger, by one for each thread of it that was inside. Where keeper,
 * standby and host all die nobody can count: then the file up to there must be sound.
 *
 * Sessions are of several kinds (storm_kind.h), one by chance each, and their controllers have them changed as they run.
 * Where newer events take the place of older ones, what came since the oldest buffer that is there is.
 *
 * A session's chances have a seed of their own, which is printed: --seed with that number begins with the same session.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "recording/children.h"
#include "recording/storm_control.h"
#include "recording/storm_run.h"
#include "recording/storm_trouble.h"

#define ROUNDS            500
#define ROUNDS_OF_SESSION 20
#define ABSENCE_ROUNDS    250 /* one round in so many */
#define LOG_BYTES         8000L

/* Returns how many rounds it took. */
static uint32_t run_session(uint32_t first_round, uint32_t rounds, uint32_t only_kind)
{
	static struct storm_run run;
	uint32_t kind = storm_below(storm_kind_count());
	uint32_t done = 0;

	if (only_kind < storm_kind_count())
		kind = only_kind;
	printf("  a session: %s\n", storm_kind_at(kind)->name);
	storm_run_start(&run, kind);
	while (done < rounds && !run.is_host_final) {
		const uint32_t round = first_round + done++;

		printf("%u:", round);
		storm_sleep_ms(storm_below(40));
		if (round % ABSENCE_ROUNDS == ABSENCE_ROUNDS / 2)
			storm_trouble_absence(&run);
		else
			storm_trouble(&run);
		printf("\n");
	}
	storm_run_end(&run);
	if (!run.is_host_final)
		storm_check_leaks();
	return done;
}

static char log_path[300];
static bool is_good;

/* What the hosts said last, when something has failed. */
static void print_log(void)
{
	FILE *file = is_good ? NULL : fopen(log_path, "re");
	char line[400];

	if (file && fseek(file, -LOG_BYTES, SEEK_END))
		rewind(file);
	while (file && fgets(line, sizeof(line), file))
		fputs(line, stdout);
	if (file)
		(void)fclose(file);
}

static void be_parent(uint32_t rounds, unsigned seed, uint32_t only_kind)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/points", test_home());
	snprintf(log_path, sizeof(log_path), "%s/log", test_home());
	if (setenv("ETWD_LOG", log_path, 1) || atexit(print_log))
		exit(1);
	storm_trouble_init(points_make(path));
	for (uint32_t done = 0; done < rounds; seed++) {
		uint32_t left = rounds - done;

		printf("seed %u\n", seed);
		storm_seed(seed);
		done += run_session(done, left < ROUNDS_OF_SESSION ? left : ROUNDS_OF_SESSION,
				    only_kind);
	}
	storm_run_done();
	storm_trouble_print();
	printf("%u rounds: %" PRIu64 " tried, %" PRIu64 " in the files, %" PRIu64
	       " lost, up to %" PRIu64 " unknown\n",
	       rounds, storm_totals.tried, storm_totals.in_file, storm_totals.lost,
	       storm_totals.slack);
	is_good = true;
}

int main(int argc, char **argv)
{
	static const struct option names[] = {{"rounds", 1, NULL, 'r'}, {"seed", 1, NULL, 's'},
					      {"writer", 1, NULL, 'w'}, {"etwd", 1, NULL, 'e'},
					      {"kind", 1, NULL, 'k'},   {0}};
	unsigned seed = (unsigned)time(NULL) ^ (unsigned)getpid() << 12;
	const char *writer = NULL;
	uint32_t rounds = ROUNDS, kind = storm_kind_count();
	int option;

	if (argc == 4 && strcmp(argv[1], "controller") == 0)
		storm_control(map_shared(argv[2], sizeof(struct storm_shared)));
	if (argc == 4 && argv[1][0] != '-')
		return storm_child_main(argv + 1, map_shared(argv[2], sizeof(struct storm_shared)));
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		if (option == 'r')
			rounds = (uint32_t)strtoul(optarg, NULL, 0);
		else if (option == 's')
			seed = (unsigned)strtoul(optarg, NULL, 0);
		else if (option == 'k')
			kind = storm_kind_find(optarg);
		else if (option == 'w')
			writer = optarg;
		else if (option != 'e' || setenv("ETW_ETWD", optarg, 1))
			return 2;
	}
	if (!writer)
		return 2;
	storm_run_init(writer);
	be_parent(rounds, seed, kind);
	return 0;
}
