/* SPDX-License-Identifier: MIT */
/* The two objects of the friendly layer: schemas and events. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_FRIENDLY_H
#define ETW_API_FRIENDLY_FRIENDLY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evntcons.h>

#include "base/arena.h"
#include "base/text.h"
#include "consumer/pin.h"
#include "decode/decode.h"
#include "process/processes.h"
#include "registry/registry.h"
#include "schema/known/known.h"
#include "schema/store/store.h"
#include "schema/tracepoint/machine.h"

/* Where something might be learnt that makes an event known. Returns whether it is worth another look. */
struct etw_more_schemas {
	void *context;
	bool (*learn)(void *context);
};

#define ETW_TROUBLE_BYTES 512

struct libetw_schemas {
	uint64_t refs; /* atomic */
	uint64_t
		serial; /* no other one of the process ever has it: schemas may lie where freed ones lay */
	/*
	 * Between learning, which may fill in the map of a field, and the text of events that other threads
	 * keep; and between those threads, for the scratch of such an event.
	 */
	pthread_mutex_t lock;
	struct etw_schema_store *store; /* owned */
	struct etw_decoder *decoder;    /* owned; of the thread that reads or builds */
	uint64_t runs;                  /* of the decoder: each ends what the one before gave */
	struct etw_registry
		*installed; /* the store's; NULL: nothing of what is installed is wanted */
	struct etw_schema_registry hooks; /* what the store asks, in front of it */
	struct etw_known *known;          /* the store's; NULL: none */
	int known_trouble;            /* why there is none; 0: none is wanted, or there is one */
	struct etw_fault known_fault; /* of that */
	bool has_loaded;              /* some of it is in the store */
	struct etw_tracepoint_machine
		*tracepoints; /* owned; NULL: nothing of what is installed is wanted */
	/*
	 * The files of the reader that runs, NULL when none does: what a trace says goes before what is
	 * installed, so they are searched before that is asked.
	 */
	const struct etw_more_schemas *files;
	char trouble[ETW_TROUBLE_BYTES]; /* what libetw_schemas_trouble() gave */
};

struct libetw_event {
	const EVENT_RECORD *record;
	struct libetw_schemas *schemas; /* kept events: a reference */
	struct etw_decoding decoding;   /* once decoded; see etw_event_has_decoding() */
	uint64_t run;                   /* of the decoder, that gave it */
	bool is_decoded;
	bool is_kept; /* has references of its own: retained, or built */
	bool has_scratch;
	uint64_t refs;                         /* atomic; of kept events */
	struct etw_arena scratch;              /* borrowed results; of kept events under the lock */
	struct etw_arena_mark empty;           /* of the scratch */
	struct etw_text text;                  /* texts are made here; likewise */
	const struct etw_more_schemas *more;   /* NULL: nowhere; of events in a callback */
	const struct etw_processes *processes; /* of events in a callback; NULL: nobody asks */
	struct etw_trace *trace;               /* that holds it; NULL for kept events */
	struct etw_pin_account *account;       /* whom pins are charged to; likewise */
	struct etw_pin *pin;                   /* of retained events: a reference, or NULL */
};

#endif
