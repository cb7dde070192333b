/* SPDX-License-Identifier: MIT */
/* Events: event.c (decoding), keep.c (those that outlive their callback). Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_EVENT_H
#define ETW_API_FRIENDLY_EVENT_H

#include "api/friendly/friendly.h"

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
