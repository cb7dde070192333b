/* SPDX-License-Identifier: MIT */
/*
 * What a trace is told of the kernel's own code: its images at both rundowns, and at the end the symbols of those addresses
 * that the session's events name, so that it can be read on another machine.
 *
 * What comes and goes in between is own_live.h; what that missed is noticed at the next rundown. Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_TRACKER_OWN_H
#define ETW_SOURCE_KERNEL_TRACKER_OWN_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/code/kernel_images.h"
#include "source/kernel/code/seen.h"
#include "source/kernel/out/out.h"

struct etw_kernel_own {
	const char *root; /* "", or where a made-up machine is; borrowed; NULL: nothing is told */
	struct etw_kernel_own_images images; /* as they were told last */
	struct etw_kernel_seen seen;         /* addresses that events name */
	bool is_told;
	bool is_prepared; /* the images are those of now */
};

/* Which of the descriptions etw_kernel_own_describe() gives. */
enum etw_kernel_own_kind {
	ETW_KERNEL_OWN_LEARN, /* none: only remembers what is there */
	ETW_KERNEL_OWN_START, /* DCStart */
	ETW_KERNEL_OWN_COPY,  /* DCEnd and symbols, for a copy of the session so far */
	ETW_KERNEL_OWN_END,   /* what came and went, DCEnd and symbols */
};

/* etw_kernel_own_done() - frees everything; takes what was zeroed. */
void etw_kernel_own_done(struct etw_kernel_own *own);

/* etw_kernel_own_is_hidden() - whether the kernel does not show its addresses to this process. */
bool etw_kernel_own_is_hidden(const struct etw_kernel_own *own);

/*
 * etw_kernel_own_prepare() - reads what the next description at a start tells. It takes a while, in which records would
 * come already if it were read then. What cannot be read is left to the description.
 */
void etw_kernel_own_prepare(struct etw_kernel_own *own);

/*
 * etw_kernel_own_describe() - writes what the kernel consists of, at the moment that etw_kernel_out_begin() set.
 *
 * What cannot be read is left out. Returns 0 or -ENOMEM.
 */
int etw_kernel_own_describe(struct etw_kernel_own *own, struct etw_kernel_out *out,
			    enum etw_kernel_own_kind kind);

#endif
