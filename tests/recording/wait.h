/* SPDX-License-Identifier: MIT */
/* How recording tests wait and fail. For programs, too, that are linked with nothing but a provider's library. */
#ifndef ETW_TESTS_RECORDING_WAIT_H
#define ETW_TESTS_RECORDING_WAIT_H

#define WAIT_SECONDS 600 /* a loaded machine may need long for anything */

/* fail() - prints a sentence and exits with 1. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* seconds() - CLOCK_MONOTONIC. */
double seconds(void);

/* Waiting for something that is about to happen. */
struct wait {
	const char *what; /* does not happen: "a writer is not enabled" */
	double end;
};

/* wait_for() - before the loop: struct wait wait = wait_for("..."); while (!condition) wait_on(&wait); */
struct wait wait_for(const char *what);

/* wait_on() - sleeps for a millisecond; ends the program when the wait takes longer than WAIT_SECONDS. */
void wait_on(const struct wait *wait);

#endif
