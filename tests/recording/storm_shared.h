/* SPDX-License-Identifier: MIT */
/*
 * What storm.c and its children share. A child is the same program with a role, or storm_writer; it finds the shared
 * memory by the number of its descriptor. A writer's place is one thread's, a consumer's one process's, and never another's
 * again, so that what a process that was killed has counted stays there.
 */
#ifndef ETW_TESTS_RECORDING_STORM_SHARED_H
#define ETW_TESTS_RECORDING_STORM_SHARED_H

#include <stdint.h>

#include <guiddef.h>

#define STORM_WRITERS_MAX   16384
#define STORM_CONSUMERS_MAX 8192
#define STORM_THREADS       2 /* of a writing process of the storm */
#define STORM_THREADS_MAX   8
#define STORM_SESSION       "storm"
#define STORM_OTHER         "storm other" /* the controllers' */

enum storm_order {
	STORM_RUN = 0,
	STORM_PAUSE = 1, /* writers: write nothing */
	STORM_END = 2,
};

/* Written by the writer alone, but for `order`. Atomics. */
struct storm_writer {
	uint64_t succeeded; /* calls of EventWrite that returned success */
	uint64_t refused;   /* that returned an error */
	uint32_t is_inside; /* a call has begun that is in neither count yet */
	uint32_t is_paused;
	uint32_t is_enabled;
	uint32_t order; /* enum storm_order */
};

/* Written by the consumer alone. Atomics. */
struct storm_consumer {
	uint64_t received; /* events of the writers */
	uint64_t progress; /* events of all kinds */
	uint64_t lost;     /* EventsLost, at its end */
	uint32_t is_open;
	uint32_t is_done;
	uint32_t error; /* of ProcessTrace */
	uint32_t fault; /* __LINE__ of a check that failed; 0: none */
};

struct storm_shared {
	struct storm_writer writers[STORM_WRITERS_MAX];
	struct storm_consumer consumers[STORM_CONSUMERS_MAX];
	/* Of the present session. Atomics. */
	uint32_t kind;         /* its index (recording/storm_kind.h) */
	uint32_t is_loose;     /* consumers may find no real-time session, and look again */
	uint32_t control_seed; /* of the next controller */
	uint32_t files;        /* names that were given out */
	uint32_t
		fault_error; /* what a controller's request should not have been answered; 0: none */
	uint32_t fault_request; /* enum storm_request */
	char folder[256];       /* of the files */
};

struct storm_payload {
	uint32_t writer;
	uint32_t reserved;
	uint64_t number; /* of the call, from 1 */
};

static const GUID storm_provider = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x0f}};

/*
 * storm_write() - a writing process's life: @threads of them from @place on, of another user if it is the second process,
 * the fourth ... Returns its exit status.
 */
int storm_write(struct storm_shared *shared, uint32_t place, uint32_t threads);

/* storm_child_main() - a child's life: ROLE FD PLACE. Returns its exit status. */
int storm_child_main(char **arguments, struct storm_shared *shared);

#endif
