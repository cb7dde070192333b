/* SPDX-License-Identifier: MIT */
/* Output in large pieces, to standard output or a file, that ends quietly when nobody reads it. */
#ifndef ETW_TOOLS_COMMON_OUTPUT_H
#define ETW_TOOLS_COMMON_OUTPUT_H

#include <stdbool.h>

#include "base/text.h"

/* Returned by callbacks and writers: the reader went away, which is no error. */
#define ETW_OUTPUT_CLOSED 100

struct etw_output {
	struct etw_text text; /* not written yet */
	int fd;
	bool is_file;     /* closed by us */
	const char *path; /* borrowed; NULL for standard output */
	bool is_prompt;   /* written after each piece: somebody watches */
	int error;        /* that writing failed with; 0: none */
};

/*
 * etw_output_open() - @path: a file that is made or emptied; NULL for standard output.
 *
 * Ignores SIGPIPE from now on. Returns 0 or what making the file failed with.
 */
int etw_output_open(const char *path, struct etw_output *ret);

/* etw_output_flush() - writes all. Returns 0, ETW_OUTPUT_CLOSED, -ENOMEM or what writing failed with. */
int etw_output_flush(struct etw_output *output);

/* etw_output_continue() - writes when enough has come together; returns as etw_output_flush(). */
int etw_output_continue(struct etw_output *output);

/*
 * etw_output_tell() - the exit status of what was done into @output, which ended with @result.
 *
 * An error is told on standard error: of writing, or else of reading. A reader that went away is none.
 */
int etw_output_tell(const struct etw_output *output, int result);

/* etw_output_done() - closes without writing; takes a zeroed output. */
void etw_output_done(struct etw_output *output);

/* etw_output_clean() - appends a string of a file or of another program's, harmless to a terminal. */
void etw_output_clean(struct etw_text *text, const char *string);

#endif
