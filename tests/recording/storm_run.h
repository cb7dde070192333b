/* SPDX-License-Identifier: MIT */
/* A session of the storm, from its start to its account, and the processes around it. Errors end the program. */
#ifndef ETW_TESTS_RECORDING_STORM_RUN_H
#define ETW_TESTS_RECORDING_STORM_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "recording/storm_kind.h"
#include "recording/storm_shared.h"
#include "recording/support.h"

#define STORM_WRITERS   3 /* processes */
#define STORM_CONSUMERS 2 /* the first of a session stays to its end unless it is killed */

enum storm_role {
	STORM_WRITER,
	STORM_CONSUMER,
	STORM_CONTROLLER,
	STORM_ROLES
};

struct storm_process {
	pid_t pid; /* 0: none */
	uint32_t place;
	enum storm_role role;
};

struct storm_run {
	struct recording recording;
	const struct storm_kind *kind;
	char file[1024];         /* the present one, or the last; empty: there is none any more */
	uint64_t slack;          /* calls of which nobody knows what they have done */
	uint32_t first_consumer; /* place of the one that was there from the start */
	bool is_first_alive;
	bool is_host_final; /* keeper and standby are dead: there will be no other */
	bool is_over;       /* so is the host */
};

struct storm_totals {
	uint64_t tried, in_file, lost, slack;
};

extern struct storm_totals storm_totals;
extern struct storm_shared *storm_shared;

/* storm_run_init() - @writer: program of the writing processes */
void storm_run_init(const char *writer);

/* storm_below() - by chance, the one that storm_seed() began. */
void storm_seed(unsigned seed);
uint32_t storm_below(uint32_t limit);

void storm_sleep_ms(uint32_t ms);

/*
 * storm_run_start() - a session with a first consumer, if its kind has any, a controller, and writers, which are enabled.
 *
 * @kind: index (recording/storm_kind.h)
 */
void storm_run_start(struct storm_run *run, uint32_t kind);

/* storm_run_end() - writers pause, the session ends, and what was tried is there or counted. */
void storm_run_end(struct storm_run *run);

/* storm_run_done() - ends all processes. */
void storm_run_done(void);

/* storm_run_processes() - as soon as keeper, standby and host are there, and the host knows the session. */
struct recording_processes storm_run_processes(struct storm_run *run);

/* storm_process() - one of a role, by chance. */
struct storm_process *storm_process(enum storm_role role);

/* storm_process_all() - the first of a role; they lie one behind the other. */
struct storm_process *storm_process_all(enum storm_role role);

/* storm_process_restart() - killed, and another one of its role in its place. */
void storm_process_restart(struct storm_process *process, struct storm_run *run);

/* storm_process_start() - of a consumer that is not there. */
void storm_process_start(struct storm_process *process);

const char *storm_role_name(enum storm_role role);

/* storm_check_leaks() - what host, keeper and standby hold when there is no session is no more than it was. */
void storm_check_leaks(void);

#endif
