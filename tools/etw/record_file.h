/* SPDX-License-Identifier: MIT */
/* The file that `etw record` records into: its name, and that it spares what is no trace. */
#ifndef ETW_TOOLS_ETW_RECORD_FILE_H
#define ETW_TOOLS_ETW_RECORD_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "wire/message.h"

struct record_file {
	char path[WIRE_MESSAGE_NAME_MAX + 1]; /* absolute */
	bool is_made;                         /* there was no such file before */
	struct stat made;                     /* which one was made then */
};

/*
 * record_file_choose() - makes the file, under a name that nobody has unless one is given.
 *
 * @file:   zeroed
 * @output: NULL: a name made of the time
 * @force:  one that is there may be anything
 *
 * Returns 0 or a negative errno, of which record_file_why_none() has the meaning.
 */
int record_file_choose(struct record_file *file, const char *output, bool force);

/* record_file_why_none() - in words. */
const char *record_file_why_none(int error);

/* record_file_drop() - removes what was made for a session that did not start, unless somebody has begun to use it. */
void record_file_drop(const struct record_file *file);

#endif
