/* SPDX-License-Identifier: MIT */
/* What of the kernel's events `etw record` asks for: words of its command line, and what is meant without them. */
#ifndef ETW_TOOLS_ETW_RECORD_KERNEL_H
#define ETW_TOOLS_ETW_RECORD_KERNEL_H

#include <stdbool.h>

#include "control/control.h"

#define RECORD_PROFILE_HZ_MAX 8190 /* 122.1 us apart */

struct record_kernel {
	bool has_kinds;                     /* --kernel was given */
	bool has_stacks;                    /* --stacks was given */
	bool only_command;                  /* --only-command was given */
	bool is_asked;                      /* any of them, or another option of these events */
	bool is_wanted;                     /* they are to be recorded: asked for, or by default */
	struct wire_kernel_request request; /* but for only_pid */
	uint32_t built[WIRE_GROUP_MASKS_WORDS]; /* what the host says that it can collect */
};

/*
 * record_kernel_take_kinds() - what --kernel says: kinds, groups of them and numbers, with commas or plus signs.
 * record_kernel_take_stacks() - the events of --stacks, likewise.
 * record_kernel_take_unwind() - dwarf or frame-pointers.
 * record_kernel_take_hz()     - a number of samples a second.
 * record_kernel_take_sources() - sources of samples beside the clock, NAME or NAME:INTERVAL, with commas.
 *
 * Return whether it was understood; tell what was not.
 */
bool record_kernel_take_kinds(struct record_kernel *kernel, const char *words);
bool record_kernel_take_stacks(struct record_kernel *kernel, const char *words);
bool record_kernel_take_unwind(struct record_kernel *kernel, const char *word);
bool record_kernel_take_hz(struct record_kernel *kernel, const char *word);
bool record_kernel_take_sources(struct record_kernel *kernel, const char *words);

/*
 * record_kernel_settle() - when all options are there: what is meant without them, and whether they fit together.
 *
 * Without --kernel and without a provider, or with an option that is about the kernel's events: processes, threads, images,
 * samples and context switches, with stacks of the last two. Returns whether they fit; tells what does not.
 */
bool record_kernel_settle(struct record_kernel *kernel, bool has_providers, bool has_command);

/*
 * record_kernel_meet_host() - leaves out what is meant by default and no host of this version collects: nobody has asked
 * for it. A host that does not say what it collects leaves everything as it is.
 */
void record_kernel_meet_host(struct record_kernel *kernel, struct etw_controller *controller);

/* record_kernel_drop() - nothing of it is to be recorded. */
void record_kernel_drop(struct record_kernel *kernel);

#endif
