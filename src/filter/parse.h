/* SPDX-License-Identifier: MIT */
/* From an expression (docs/format/filter.md) to a tree (filter/filter.h), and where it is wrong. */
#ifndef ETW_FILTER_PARSE_H
#define ETW_FILTER_PARSE_H

#include <stddef.h>

#include "base/text.h"
#include "filter/filter.h"

#define ETW_FILTER_BYTES_MAX   ((size_t)64 * 1024) /* of an expression */
#define ETW_FILTER_VALUES_MAX  4096                /* in all of an expression */
#define ETW_FILTER_REGEXES_MAX 64                  /* likewise; each takes up to 50 kB */

/* Where an expression is wrong, and why. */
struct etw_filter_fault {
	size_t at, bytes; /* the place in the expression; no bytes: behind its end */
	char sentence[256];
};

/*
 * etw_filter_parse() - an expression as a tree.
 *
 * @text: @bytes of UTF-8; borrowed for the call
 *
 * Returns 0 with an owned tree, whose parts are in the order in which they are best asked; -EINVAL with @reterr;
 * -ENOMEM.
 */
int etw_filter_parse(const char *text, size_t bytes, struct etw_filter **ret,
		     struct etw_filter_fault *reterr);

/*
 * etw_filter_fault_write() - the sentence, and below it the line of the expression with the place marked.
 *
 * "pid wants a process id, not \"x\"\n  pid = x\n        ^". What is no printable character is shown as an escape or as
 * "?".
 */
void etw_filter_fault_write(const struct etw_filter_fault *fault, const char *text, size_t bytes,
			    struct etw_text *to);

#endif
