/* SPDX-License-Identifier: MIT */
/*
 * Completion of a command line of `etw`, for the shells: what may stand at a place of it. The verbs' own tables of
 * options and their help texts are asked, so that what they know is offered.
 */
#ifndef ETW_TOOLS_ETW_COMPLETE_H
#define ETW_TOOLS_ETW_COMPLETE_H

#include <stddef.h>

#include "base/text.h"

/* What else the shell may offer. */
enum complete_more {
	COMPLETE_NOTHING,
	COMPLETE_FILES,
	COMPLETE_COMMANDS, /* programs, and behind one its files */
};

/*
 * complete_line() - what may stand in place of a word.
 *
 * @words: the command line, with the program in front
 * @at:    which word; @count for a new one at the end
 * @text:  gets a line for each candidate: the word, and behind a tab what it means
 *
 * Files on the command line are read, as far as complete_trace.h says. Returns what else may stand there.
 */
enum complete_more complete_line(char *const *words, size_t count, size_t at,
				 struct etw_text *text);

#endif
