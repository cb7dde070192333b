/* SPDX-License-Identifier: MIT */
/* What the friendly layer's files share. Private to src/api/friendly. */
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

/*
 * etw_friendly_fail() - notes the sentence that libetw_error() gives.
 *
 * Returns @error.
 */
int etw_friendly_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* etw_schemas_ref() - one more reference; returns @schemas. */
struct libetw_schemas *etw_schemas_ref(struct libetw_schemas *schemas);

/* etw_schemas_learn() - takes in an event that carries schemas; 0 or -ENOMEM. */
int etw_schemas_learn(struct libetw_schemas *schemas, const EVENT_RECORD *record);

/* etw_schemas_decode() - etw_decoder_run() with their decoder; what it gave before is no good any more. */
int etw_schemas_decode(struct libetw_schemas *schemas, const EVENT_RECORD *record,
		       struct etw_decoding *ret);

/*
 * etw_event_has_decoding() - whether the places of its fields are there to be used.
 *
 * Those of an event in a callback lie in the decoder, which the callback may use meanwhile: it builds events, or
 * runs a reader that has the same schemas. Kept events have their own.
 */
static inline bool etw_event_has_decoding(const struct libetw_event *event)
{
	return event->is_decoded && (event->is_kept || event->run == event->schemas->runs);
}

/*
 * etw_event_decode() - decodes it, unless its decoding is there.
 *
 * Returns 0 also for an event without a schema; -ENOMEM.
 */
int etw_event_decode(struct libetw_event *event);

/* etw_event_is_unknown() - whether nobody has a schema for a decoded event. */
bool etw_event_is_unknown(const struct libetw_event *event);

/* etw_event_lock() / _unlock() - around scratch, text and maps of a kept event; nothing for others. */
void etw_event_lock(struct libetw_event *event);
void etw_event_unlock(struct libetw_event *event);

/* etw_event_scratch() - a copy of text in the event's scratch; NULL when memory ran out. Locked. */
const char *etw_event_scratch(struct libetw_event *event, const char *at, size_t bytes);

/* etw_event_title() - appends "Provider/Event v1" to a text. */
void etw_event_title(struct libetw_event *event, struct etw_text *text);

/* etw_schema_title() - appends what libetw_schema_name() gives. */
void etw_schema_title(const struct etw_schema *schema, struct etw_text *text);

/*
 * etw_event_copy() - a kept event of a record's own copy.
 *
 * @pin: taken; NULL to copy the payload and the items' data as well
 * @decoding: copied; NULL to decode the copy
 *
 * Returns 0 or -ENOMEM, with @pin given back.
 */
int etw_event_copy(struct libetw_schemas *schemas, const EVENT_RECORD *record, struct etw_pin *pin,
		   const struct etw_decoding *decoding, struct libetw_event **ret);

#endif
