/* SPDX-License-Identifier: MIT */
/* An event that is decoded when something asks for it, and once: filters may do without. */
#ifndef ETW_TOOLS_ETW_LAZY_H
#define ETW_TOOLS_ETW_LAZY_H

#include "decode/decode.h"
#include "filter/filter.h"
#include "schema/store/store.h"

struct lazy {
	struct etw_decoder *decoder;          /* borrowed; NULL: events are not decoded */
	const struct etw_schema_store *store; /* borrowed */
	const EVENT_RECORD *record;
	struct etw_decoding decoding;
	bool is_decoded; /* the record is */
	int error;       /* 0, or -ENOMEM: the first time that decoding failed */
};

/* lazy_set() - from now on it is this event. */
static inline void lazy_set(struct lazy *lazy, const EVENT_RECORD *record)
{
	lazy->record = record;
	lazy->is_decoded = false;
}

/* lazy_decode() - the event's decoding; NULL when events are not decoded, or with an error. */
const struct etw_decoding *lazy_decode(struct lazy *lazy);

/* lazy_source - how filters get at it; the context is the struct lazy. */
extern const struct etw_filter_source lazy_source;

#endif
