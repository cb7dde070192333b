/* SPDX-License-Identifier: MIT */
/*
 * One tracepoint of a session: its schema, what is wanted of it, and its perf events, one a processor.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_TRACEPOINTS_POINT_H
#define ETW_SOURCE_TRACEPOINTS_POINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "schema/tracepoint/tracefs.h"
#include "wire/event_filter.h"

struct etw_tracepoint_point {
	struct etw_tracepoint_point *next;
	const char *system, *name; /* in the arena */
	GUID provider;
	uint16_t id;
	uint8_t version;
	uint16_t type; /* the kernel's number */
	bool is_stale; /* it went, or is another one now: no more than what was recorded of it */
	struct etw_tracefs_event event;
	struct etw_arena arena; /* owned: all of it */
	/* What is wanted now; borrowed from the provider's request. NULL: nothing. */
	const struct wire_event_filter *filter;
	bool is_chosen; /* by the wishes that etw_tracepoint_recorder_want() is reading */
	bool has_stack;
	char *kernel_filter; /* owned: as the kernel has it; NULL: none */
	int *fds;            /* owned; cpu_count; -1: not open there */
	uint32_t cpu_count;
};

/*
 * etw_tracepoint_point_new() - reads a tracepoint. No event of it is open.
 *
 * @version: as that of struct etw_tracepoint_identity
 * @ret: owned
 *
 * Returns 0; what etw_tracefs_read_event() returns.
 */
int etw_tracepoint_point_new(int events_fd, const char *system, const char *name, uint16_t id,
			     uint8_t version, uint32_t cpu_count, struct etw_tracepoint_point **ret,
			     struct etw_fault *reterr);

/*
 * etw_tracepoint_point_is_same() - whether the machine describes it as it did when it was read: it may have gone with its
 * module, and come back as another one. One that is open cannot.
 */
bool etw_tracepoint_point_is_same(int events_fd, const struct etw_tracepoint_point *point);

/* etw_tracepoint_point_free() - closes all; takes NULL. */
void etw_tracepoint_point_free(struct etw_tracepoint_point *point);

/*
 * etw_tracepoint_point_open() - opens the event of a processor; it records from now on.
 *
 * @only_pid: this thread alone, and all that descend from it from now on; 0: all
 * @ring_fd:  of the event whose ring takes its records; of the same processor
 *
 * Returns 0, also where it is open; -EINVAL where the kernel does not take the filter; -ESRCH: the thread is gone; what the
 * kernel says.
 */
int etw_tracepoint_point_open(struct etw_tracepoint_point *point, uint32_t cpu, uint32_t only_pid,
			      int ring_fd);

/* etw_tracepoint_point_is_open() - on any processor. */
bool etw_tracepoint_point_is_open(const struct etw_tracepoint_point *point);

/* etw_tracepoint_point_pause() - records no more; what is counted can still be read. */
void etw_tracepoint_point_pause(struct etw_tracepoint_point *point);

/*
 * etw_tracepoint_point_lost() - records that the ring had no room for, of a processor, since it was opened there; 0: it is not
 * open, or the kernel does not tell (before Linux 6.0).
 */
uint64_t etw_tracepoint_point_lost(const struct etw_tracepoint_point *point, uint32_t cpu);

/* etw_tracepoint_point_close() - on one processor. */
void etw_tracepoint_point_close(struct etw_tracepoint_point *point, uint32_t cpu);

#endif
