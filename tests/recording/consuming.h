/* SPDX-License-Identifier: MIT */
/* A thread that consumes a session in real time, and counts one provider's events. Errors end the program. */
#ifndef ETW_TESTS_RECORDING_CONSUMING_H
#define ETW_TESTS_RECORDING_CONSUMING_H

#include <pthread.h>
#include <stdint.h>

#include <evntrace.h>

struct consuming {
	const GUID *provider;
	TRACEHANDLE trace;
	uint32_t events; /* atomic */
	ULONG error;     /* of ProcessTrace, when it has ended */
	pthread_t thread;
};

/* consuming_begin() - opens the session @name and processes it. */
void consuming_begin(struct consuming *consuming, const GUID *provider, const char *name);

/* consuming_await() - until it has seen @count events. */
void consuming_await(const struct consuming *consuming, uint32_t count);

/* consuming_finish() - when the session, or its real-time mode, ends. @expected: events that it has to have seen */
void consuming_finish(struct consuming *consuming, uint32_t expected);

#endif
