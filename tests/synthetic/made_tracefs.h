/* SPDX-License-Identifier: MIT */
/* A folder that looks like `events` of tracefs: one system, `made`, with the tracepoints `begin` and `finish`. */
#ifndef ETW_TESTS_SYNTHETIC_MADE_TRACEFS_H
#define ETW_TESTS_SYNTHETIC_MADE_TRACEFS_H

/*
 * made_tracefs_begin() - makes it, in a folder of its own, and lets ETW_TRACEFS name it.
 *
 * Returns 0 or -1.
 */
int made_tracefs_begin(void);

/* made_tracefs_add() - one more tracepoint, with the same fields as `begin`. Returns 0 or -1. */
int made_tracefs_add(const char *name);

/* made_tracefs_end() - takes it away; from then on there is no tracefs. Returns 0 or -1. */
int made_tracefs_end(void);

#endif
