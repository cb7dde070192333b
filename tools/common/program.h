/* SPDX-License-Identifier: MIT */
/* Manners that all tools share: exit statuses, and messages to the user. */
#ifndef ETW_TOOLS_COMMON_PROGRAM_H
#define ETW_TOOLS_COMMON_PROGRAM_H

#include <stddef.h>

enum etw_exit {
	ETW_EXIT_OK = 0,
	ETW_EXIT_FAILED =
		1, /* the work could not be done; one sentence on standard error says why */
	ETW_EXIT_USAGE = 2, /* the command line was not understood */
	ETW_EXIT_DAMAGED =
		3, /* done, but parts of the input could not be read; the output says which */
};

/*
 * etw_program_begin() - what each main() does first.
 *
 * Where the caller closed a standard stream, no file that is opened takes its number: else a message would go into
 * it, or it would be read as standard input.
 */
void etw_program_begin(void);

/*
 * etw_program_end() - what each main() returns.
 *
 * What was written to stdout may have failed to get out. Returns @status, or ETW_EXIT_FAILED in place of ETW_EXIT_OK
 * when that is so, which is told.
 */
int etw_program_end(int status);

/*
 * etw_program_message() - "program: sentence" on standard error, harmless to a terminal: errors, warnings, and what a
 * command did where standard output is for its result.
 */
void etw_program_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * etw_program_nearest() - which of @words the user may have meant.
 *
 * @words: @count of them, NULL entries are skipped
 *
 * Returns the word with the fewest typing errors, or NULL when none is near.
 */
const char *etw_program_nearest(const char *typed, const char *const *words, size_t count);

#endif
