/* SPDX-License-Identifier: MIT */
/* Names with wildcards. */
#ifndef ETW_BASE_PATTERN_H
#define ETW_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * etw_pattern_matches() - whether a name fits a pattern.
 *
 * @pattern: `*` stands for any characters; upper and lower case of ASCII are the same
 * @bytes:   of @name
 */
bool etw_pattern_matches(const char *pattern, const char *name, size_t bytes);

#endif
