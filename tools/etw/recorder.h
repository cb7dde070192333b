/* SPDX-License-Identifier: MIT */
/* The session of `etw record`: started where it belongs, and every refusal told in one sentence. */
#ifndef ETW_TOOLS_ETW_RECORDER_H
#define ETW_TOOLS_ETW_RECORDER_H

#include <stdbool.h>
#include <sys/stat.h>

#include "control/control.h"
#include "tools/etw/record_options.h"

struct recorder {
	struct etw_controller *controller; /* owned */
	uint64_t handle;
	bool is_running;
	char path[WIRE_MESSAGE_NAME_MAX + 1]; /* of the file, absolute */
	bool is_made;                         /* there was no such file before */
	struct stat made;                     /* which one was made then */
	struct wire_session_config config;
	struct wire_session_info info; /* as it was last heard */
};

/* recorder_done() - stops what still runs; takes a zeroed recorder. */
void recorder_done(struct recorder *recorder);

/*
 * recorder_start() - starts the session and enables everything in it.
 *
 * @arguments: the whole command line, for the sentence that says how to do it as root
 *
 * Makes the file first, under a name that nobody has, unless one was given; it is gone again when the session
 * does not start. Where nobody asked for the kernel and it is not allowed, goes on without, and says so.
 * Returns 0 or -1, told on standard error.
 */
int recorder_start(struct recorder *recorder, struct record_options *options,
		   char *const *arguments);

/* recorder_look() - brings `info` up to date. Returns 0 or a negative errno; -ENOENT: somebody stopped it. */
int recorder_look(struct recorder *recorder);

/* recorder_stop() - ends the session; `info` is its final account. Returns 0 or -1, told. */
int recorder_stop(struct recorder *recorder);

#endif
