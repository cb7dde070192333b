/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions without backtracking: a text is read once, and all ways through the expression are followed
 * side by side, so that no expression and no text takes more than bytes of text times steps of the expression.
 * What can be written is in docs/format/filter.md; there are no captures and no references to them.
 *
 * Context: one owner thread per expression; matching uses memory of it.
 */
#ifndef ETW_FILTER_REGEX_H
#define ETW_FILTER_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#define ETW_REGEX_STEPS_MAX 1000 /* after counts such as {3,5} were written out */
#define ETW_REGEX_DEPTH_MAX 50   /* of groups within groups */

struct etw_regex;

/* Why an expression was refused, and where. */
struct etw_regex_fault {
	size_t at;            /* byte of the expression */
	const char *sentence; /* static, without a full stop */
};

/*
 * etw_regex_compile() - reads an expression.
 *
 * @text:         @bytes of UTF-8; borrowed for the call
 * @ignores_case: letters of ASCII count in either case
 *
 * Returns 0 with an owned expression; -EINVAL with @reterr; -ENOMEM.
 */
int etw_regex_compile(const char *text, size_t bytes, bool ignores_case, struct etw_regex **ret,
		      struct etw_regex_fault *reterr);

/* etw_regex_free() - takes NULL. */
void etw_regex_free(struct etw_regex *regex);

/* etw_regex_matches() - whether the expression fits anywhere in @bytes of UTF-8; malformed ones are U+FFFD. */
bool etw_regex_matches(struct etw_regex *regex, const char *text, size_t bytes);

#endif
