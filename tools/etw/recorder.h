/* SPDX-License-Identifier: MIT */
/* The session of `etw record`: started where it belongs, and every refusal told in one sentence. */
#ifndef ETW_TOOLS_ETW_RECORDER_H
#define ETW_TOOLS_ETW_RECORDER_H

#include <stdbool.h>

#include "control/control.h"
#include "tools/etw/record_file.h"
#include "tools/etw/record_options.h"

/* How a session ended that this recorder did not stop. */
enum recorder_end {
	RECORDER_GOES_ON,
	RECORDER_STOPPED, /* its host is there, and has no such session any more: somebody stopped it */
	RECORDER_HOST_DIED, /* its host has gone, or is another one that does not have it */
};

struct recorder {
	struct etw_controller *controller;         /* owned */
	const struct etw_control_waiting *waiting; /* borrowed; how calls wait for the host */
	enum etw_instance instance;                /* of the host */
	uint64_t incarnation;                      /* of the host that answered last */
	int64_t seen_ft;                           /* when it did */
	enum recorder_end end;
	uint64_t handle;
	bool is_running;
	struct record_file file;
	uint32_t only_pid; /* whose tree alone is recorded, where that is asked for */
	struct wire_session_config config;
	struct wire_session_info info; /* as it was last heard */
	char told[sizeof(
		((struct wire_session_info *)0)->complaint)]; /* of its complaint, at the start */
};

/* recorder_done() - stops what still runs; takes a zeroed recorder. */
void recorder_done(struct recorder *recorder);

/*
 * recorder_start() - starts the session and enables everything in it.
 *
 * @arguments: the whole command line, for the sentence that says how to do it as root
 *
 * `waiting` is set by the caller.
 *
 * Makes the file first, under a name that nobody has, unless one was given; it is gone again when the session
 * does not start. Where nobody asked for the kernel and it is not allowed, goes on without, and says so.
 * Returns 0 or -1, told on standard error.
 */
int recorder_start(struct recorder *recorder, struct record_options *options,
		   char *const *arguments);

/*
 * recorder_look() - brings `info` up to date.
 *
 * Returns 0 or a negative errno; -ENOENT: the session is over, and `end` says how. -ETIMEDOUT, -ECANCELED: its
 * host does not answer.
 */
int recorder_look(struct recorder *recorder);

/*
 * recorder_stop() - ends the session; `info` is its final account.
 *
 * Returns 0, also when it was over already, of which `end` tells; or -1, told: then nobody knows how it ends.
 */
int recorder_stop(struct recorder *recorder);

/* recorder_tell_complaint() - what the session could not record as asked for, unless it was told at the start. */
void recorder_tell_complaint(const struct recorder *recorder);

/*
 * recorder_tell_end() - for one that somebody else stopped or whose host died: what is missing.
 *
 * @last_ft: of the last event in the file, 0 without one
 * @end_ft:  of the file's header, 0 when it was not closed
 */
void recorder_tell_end(const struct recorder *recorder, int64_t last_ft, int64_t end_ft);

#endif
