/* SPDX-License-Identifier: MIT */
/*
 * Writers that are forked and number their events, and what a consumer holds against the numbers: each event once and in
 * order. Errors end the program.
 */
#ifndef ETW_TESTS_RECORDING_NUMBERED_H
#define ETW_TESTS_RECORDING_NUMBERED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <evntcons.h>
#include <evntprov.h>

#define NUMBERED_WRITERS_MAX 4
#define NUMBERED_AT_ONCE     16 /* events, and then a pause */

struct numbered_payload {
	uint32_t writer;
	uint32_t reserved;
	uint64_t number; /* of the call, from 1 */
};

/* Shared with the writers; atomics. */
struct numbered_shared {
	uint32_t is_begun;  /* they may register */
	uint32_t is_enough; /* they are to end */
	struct {
		uint64_t succeeded, refused; /* calls of EventWrite */
		uint32_t is_enabled;         /* as of the last of them */
	} writers[NUMBERED_WRITERS_MAX];
};

/*
 * numbered_start() - a process that waits for `is_begun` and writes until `is_enough`. Started while this process has one
 * thread: else a lock of a sanitizer's allocator may stay held in it.
 */
pid_t numbered_start(const GUID *provider, struct numbered_shared *shared, uint32_t index,
		     uint32_t pause_us);

/* numbered_calls() - of one writer's, whether they succeeded or not. */
uint64_t numbered_calls(const struct numbered_shared *shared, uint32_t index);

/* numbered_finish() - tells @count writers that it is enough, and waits for their ends. */
void numbered_finish(struct numbered_shared *shared, const pid_t *writers, uint32_t count);

/*
 * numbered_take() - the payload of an event; false when it is another provider's.
 *
 * @last: of each writer; an event that does not follow is an error
 * @who:  whose they are, for the message
 */
bool numbered_take(const EVENT_RECORD *record, const GUID *provider, uint64_t *last,
		   const char *who, struct numbered_payload *ret);

/* live_open() - OpenTrace of a session in real time. */
TRACEHANDLE live_open(const char *session, PEVENT_RECORD_CALLBACK callback, void *context);

/* live_header() - of a trace that is being processed, or was. */
TRACE_LOGFILE_HEADER live_header(TRACEHANDLE trace);

/* is_lost_event() - one that ProcessTrace makes to say that something is missing. */
bool is_lost_event(const EVENT_RECORD *record);

#endif
