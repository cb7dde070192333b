/* SPDX-License-Identifier: MIT */
/* While `etw record` records: the command, signals, the time limit, and the live counters. */
#ifndef ETW_TOOLS_ETW_RECORD_RUN_H
#define ETW_TOOLS_ETW_RECORD_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/etw/record_options.h"
#include "tools/etw/recorder.h"

/* What came of it. */
struct record_run {
	pid_t child;    /* 0: there was no command */
	bool has_ended; /* the command has, with `status` */
	int status;     /* as waitpid() gives it */
	int exec_error; /* errno: the command could not be run */
	int signal;     /* that ended the recording; 0: none did */
	bool is_sent;   /* by a process: the terminal's reach the command too */
	int signals;    /* a signalfd */
	int gate;       /* the child waits for a byte at its other end; -1: it need not */
	int failure;    /* what the child says when it cannot run the command; -1 */
	unsigned signal_count;
	unsigned stop_count; /* signals that there were when the session began to be stopped */
	bool is_stopping;
	bool is_host_silent; /* that was told, and it has not answered since */
	const struct record_options *options;
	uint64_t start_ms;
	uint64_t last_events; /* of the counters shown last */
	uint64_t last_ms;
	bool has_counters;
	sigset_t old_mask;
};

/*
 * record_run_init() - signals wait from now on: before the session is there, so that none leaves it behind.
 *
 * Returns 0 or a negative errno.
 */
int record_run_init(struct record_run *run);

/*
 * record_run_is_over() - for struct etw_control_waiting, @context: the run. Whether a call to a host that does
 * not answer is to end: a signal came, the command has ended, or the time is over; while the session is being
 * stopped, another signal.
 */
bool record_run_is_over(void *context);

/* record_run_stop() - from now on it is the end of the recording that waits for the host. */
void record_run_stop(struct record_run *run);

/*
 * record_command_check() - whether a command can be run, before anything is made or overwritten for it.
 *
 * @name: its first word: a path, or a name that is looked for in PATH
 *
 * Returns 0, -ENOENT, -EACCES or what looking failed with; running it has the last word.
 */
int record_command_check(const char *name);

/*
 * record_run_prepare() - makes the process that is to run the command: it waits until record_run() lets it, so that its
 * number can be told to the session before it does anything.
 *
 * Returns 0 or a negative errno. record_run_cancel() - ends it when the command is not to run.
 */
int record_run_prepare(struct record_run *run, char *const *command);
void record_run_cancel(struct record_run *run);

/*
 * record_run() - starts the command, if there is one, and waits until the recording is to end: the command
 * ended, a signal came, the time is over, the file ended early, or somebody stopped the session.
 *
 * Returns 0, or a negative errno; -ENOENT: the session is over, and recorder->end says how.
 */
int record_run(struct record_run *run, struct recorder *recorder,
	       const struct record_options *options);

/*
 * record_run_release() - signals end this program again, as they would any: the recording is in its file.
 *
 * A second one need not wait for the page, nor for a command that stays.
 */
void record_run_release(struct record_run *run);

/* record_run_finish() - waits for a command that goes on without the recording. */
void record_run_finish(struct record_run *run);

/* record_run_exit_status() - what `etw record` ends with when its own work went well. */
int record_run_exit_status(const struct record_run *run);

#endif
