/* SPDX-License-Identifier: MIT */
/* The command line of `etw record`. */
#ifndef ETW_TOOLS_ETW_RECORD_OPTIONS_H
#define ETW_TOOLS_ETW_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/common/options.h"
#include "tools/etw/record_kernel.h"
#include "tools/etw/record_providers.h"

struct record_options {
	struct etw_shared_options shared;
	bool force;         /* whatever --output holds */
	const char *output; /* NULL: a name made of the time */
	struct record_kernel kernel;
	struct record_providers providers;
	uint64_t buffer_kib, buffers; /* 0: the host's choice */
	bool is_persistent;
	bool is_quiet;        /* no report: the file is not read again */
	uint64_t duration_ms; /* 0: until somebody ends it */
	char *const *command; /* NULL: none; ended by NULL */
};

extern const struct option record_options_table[];

/* record_options_done() - takes zeroed options. */
void record_options_done(struct record_options *options);

/*
 * record_options_parse() - @argv: with the verb in front.
 *
 * Without --kernel and without a provider what tells most of a machine is meant (record_kernel.h). Returns whether the command line
 * was understood; tells on standard error what was not.
 */
bool record_options_parse(struct record_options *options, int argc, char **argv);

#endif
