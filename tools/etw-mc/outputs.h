/* SPDX-License-Identifier: MIT */
/*
 * The files of one run. They are kept in memory until all have been made, then written beside their
 * places and renamed there: a run that fails leaves what was there before.
 */
#ifndef ETW_TOOLS_ETW_MC_OUTPUTS_H
#define ETW_TOOLS_ETW_MC_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct mc_output {
	char *path;      /* owned */
	char *temporary; /* owned; NULL: not written yet, or renamed already */
	struct etw_text bytes;
};

struct mc_outputs {
	struct mc_output *at; /* owned */
	size_t count;
	const char *const *inputs; /* borrowed: none of them is written over */
	size_t input_count;
};

/*
 * mc_outputs_add() - a further file.
 *
 * @folder: NULL: the current one
 * @bytes:  taken over; empty afterwards
 *
 * What is wrong is told on standard error: a name that another output or an input has. Returns whether it was added.
 */
bool mc_outputs_add(struct mc_outputs *outputs, const char *folder, const char *name,
		    struct etw_text *bytes);

/* mc_outputs_write() - all of them; tells what is wrong. Returns whether all are in their places. */
bool mc_outputs_write(struct mc_outputs *outputs, bool is_verbose);

/* mc_outputs_done() - gives back memory, and removes what was not renamed; takes a zeroed struct. */
void mc_outputs_done(struct mc_outputs *outputs);

#endif
