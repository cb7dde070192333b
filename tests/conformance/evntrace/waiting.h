/* SPDX-License-Identifier: MIT */
/* A wait for what another thread or process does, which ends with a sentence when that does not happen. */
#ifndef ETW_TESTS_CONFORMANCE_EVNTRACE_WAITING_H
#define ETW_TESTS_CONFORMANCE_EVNTRACE_WAITING_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WAIT_SECONDS 240 /* a machine that is loaded, or stands still for a while, is no failure */
#define WAIT_STEP_US 1000

/* WAIT_UNTIL() - looks at the condition once a millisecond; ends the program after WAIT_SECONDS. */
#define WAIT_UNTIL(condition)                                                  \
	do {                                                                   \
		const time_t wait_begin = wait_seconds();                      \
                                                                               \
		while (!(condition))                                           \
			wait_step(wait_begin, #condition, __FILE__, __LINE__); \
	} while (0)

static inline time_t wait_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static inline void wait_step(time_t begin, const char *what, const char *file, int line)
{
	if (wait_seconds() - begin > WAIT_SECONDS) {
		(void)fprintf(stderr, "%s:%d: not so within %d s: %s\n", file, line, WAIT_SECONDS,
			      what);
		abort();
	}
	(void)usleep(WAIT_STEP_US);
}

#endif
