/* SPDX-License-Identifier: MIT */
/* The inside of a reader, shared by its files. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_READER_H
#define ETW_API_FRIENDLY_READER_H

#include <etw/reader.h>

#include "api/friendly/friendly.h"
#include "api/friendly/loss.h"
#include "base/table.h"
#include "consumer/trace.h"

struct source {
	struct etw_trace *trace; /* owned */
	struct etw_loss_source loss;
	uint64_t lost_before; /* of sessions: events lost when the reader came */
};

/* A session that libetw_reader_stop() wakes. What is in the list stays, so that any thread may walk it. */
struct woken {
	struct etw_trace *trace; /* of a source */
	struct woken *next;
};

struct handler {
	struct libetw_predicate *predicate; /* owned; NULL: for unknown events */
	libetw_event_callback callback;
	void *context;
};

/* What came from a provider. */
struct provider_count {
	GUID guid;
	uint64_t events, bytes;
	struct provider_count *next; /* in the order of their first events */
};

struct libetw_reader {
	struct libetw_schemas *schemas; /* a reference */
	struct etw_pin_account *pins;   /* a reference */
	struct source *sources;         /* owned; files before sessions */
	size_t source_count, file_count;
	struct woken *woken;      /* owned; its first is atomic */
	struct handler *handlers; /* owned */
	size_t handler_count;
	bool wants_unknown;   /* some handler does */
	bool wants_processes; /* some predicate asks for them */
	struct etw_processes
		*processes;        /* owned; what the pass that is going on has told of them */
	struct libetw_event event; /* the one of the callback */
	struct etw_more_schemas more;
	bool is_searched; /* the files, for schemas; anew when one is added */
	bool is_running;
	uint32_t stop; /* atomic */
	int64_t from_ft, to_ft;
	int verdict; /* of a callback; 0: none */
	int failure; /* of this layer itself */
	struct libetw_stats stats;
	struct etw_table providers;    /* struct provider_count, owned */
	struct provider_count *latest; /* of the event before; NULL at first */
	struct provider_count *first_provider, *last_provider;
	struct etw_loss *losses; /* owned; put in order also by who only looks */
	size_t first_source;     /* of the pass that is going on */
};

/*
 * etw_reader_search() - looks for schemas in all of a reader's files, once; in reader_run.c.
 *
 * @reader: a struct libetw_reader
 *
 * Returns whether something may have been learnt.
 */
bool etw_reader_search(void *reader);

#endif
