/* SPDX-License-Identifier: MIT */
/*
 * The C header that mc makes of a manifest: constants, descriptors, and the macros and functions that write its
 * events. It has the names and the shape of those of Windows' kits from 10.0.19041 on, and compiles with gcc and
 * clang as C11 and as C++17.
 */
#ifndef ETW_COMPILE_HEADER_H
#define ETW_COMPILE_HEADER_H

#include <stdbool.h>

#include "base/fault.h"
#include "base/text.h"
#include "compile/model.h"

struct etw_compile_header_options {
	const char *prefix; /* of the macros that write events (-p); NULL: EventWrite */
	const char *strip; /* taken from the start of events' symbols in them (-P); NULL: nothing */
	bool is_kernel;    /* the macros have an activity as their first argument (-km) */
	bool has_callout;  /* MCGEN_CALLOUT is called after each write (-co) */
};

/*
 * etw_compile_header() - appends the header of a manifest.
 *
 * @manifest: without errors
 * @options:  NULL: the defaults, which are those of -um
 *
 * A symbol that several elements have belongs to the first of them; the later ones get the name that they would
 * have without a symbol, with a number where that is taken too.
 *
 * Returns 0; -EINVAL with @reterr when a prefix is no start of an identifier; -EFBIG with @reterr when a template
 * has more fields than can be written; -ENOMEM.
 */
int etw_compile_header(const struct mc_manifest *manifest,
		       const struct etw_compile_header_options *options, struct etw_text *out,
		       struct etw_fault *reterr);

#endif
