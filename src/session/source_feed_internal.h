/* SPDX-License-Identifier: MIT */
/*
 * What a session asked for of a source's events and does not get: a complaint for whoever asks the session, a note for
 * whoever reads the trace later, unless a host before this one has written it. Owner thread.
 */
#ifndef ETW_SESSION_SOURCE_FEED_INTERNAL_H
#define ETW_SESSION_SOURCE_FEED_INTERNAL_H

#include "session/source_feed.h"

#define ETW_SOURCE_SENTENCE_BYTES (WIRE_SESSION_NOTE_MESSAGE_MAX + 1)

/* etw_source_tell_missing() - says the sentence. @masks: which of the kernel's events it is about */
void etw_source_tell_missing(struct etw_source_feed *feed,
			     const uint32_t masks[WIRE_GROUP_MASKS_WORDS], bool is_adopted,
			     const char *sentence);

/* etw_source_select_events() - those of the events that are wanted which the source has, or has not. Returns whether there is one. */
bool etw_source_select_events(const struct etw_source_feed *feed, bool is_built,
			      uint32_t ret[WIRE_GROUP_MASKS_WORDS]);

/* etw_source_wants_events() - whether any of the kernel's events are wanted. */
bool etw_source_wants_events(const struct etw_source_feed *feed);

/* etw_source_tell_unbuilt() - names what is not built: nobody else says that its events are missing. */
void etw_source_tell_unbuilt(struct etw_source_feed *feed, bool is_adopted);

/* etw_source_tell_failed() - the source, or a part of it, does not work on this machine. */
void etw_source_tell_failed(struct etw_source_feed *feed, bool is_adopted, int error,
			    const struct etw_fault *fault);

/*
 * etw_source_tell_gap() - what passed since the last host's last events is missing, up to now.
 *
 * @marks: as that host left them; NULL: not known
 */
void etw_source_tell_gap(struct etw_source_feed *feed, const struct etw_source_mark *marks);

#endif
