/* SPDX-License-Identifier: MIT */
/*
 * Notes: events that the host itself writes into a session's output when there is something to tell of the
 * session that a reader of the trace must know. They are TraceLogging events of the provider
 * "Libetw-Session", which describe themselves, so that every decoder of such events shows them. A trace
 * with nothing to tell has none.
 *
 * A note has up to five numbers, and a sentence in plain English, which the tools print as it is.
 * The provider's events never come from a ring: the check refuses them there (session/common/check.h).
 */
#ifndef ETW_WIRE_SESSION_NOTE_H
#define ETW_WIRE_SESSION_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#include "base/bytes.h"
#include "wire/group_masks.h"

/* "Libetw-Session" by the rule of names; tests/unit/schema/test_provider_id.c holds the two together. */
#define WIRE_SESSION_NOTE_PROVIDER_NAME "Libetw-Session"
#define WIRE_SESSION_NOTE_PROVIDER                                     \
	{                                                              \
		0x22b04f57, 0x003e, 0x56d5,                            \
		{                                                      \
			0x25, 0x2f, 0x24, 0x27, 0x8f, 0x86, 0x4c, 0xa0 \
		}                                                      \
	}

#define WIRE_SESSION_NOTE_NUMBERS     5
#define WIRE_SESSION_NOTE_MESSAGE_MAX 400 /* bytes, without the NUL; what is longer is cut */
#define WIRE_SESSION_NOTE_BYTES_MAX   1024

/* The names of the events and of their numbers are in session_note.c. */
enum wire_session_note_kind {
	WIRE_NOTE_CLAIMED_LOSS, /* Uid, Events, Disregarded: what a user's processes say they lost */
	/* Kernel events that were asked for and do not come: EnableFlags, and the group masks, two words in a number */
	WIRE_NOTE_NOT_COLLECTED,
	WIRE_NOTE_FILE_ENDED,   /* Status (an errno), Bytes: the file ended before the session */
	WIRE_NOTE_CANNOT_WRITE, /* Uid, ProcessId, Events: a user's processes that get no rings */
	WIRE_NOTE_NO_STACKS, /* Events: kinds of kernel events that were to have stacks and have none */
	WIRE_NOTE_NOT_AS_ASKED, /* Options: of how the kernel was to be recorded, such as does not hold */
	WIRE_NOTE_STACKS_BY_TABLES, /* no numbers: user stacks were followed by tables of unwinding */
	/*
	 * Cause, Class (base/loss.h), Processor (2^32 - 1: not known, or of several), Events: what was lost so far; and of what
	 * is there what lacks something
	 */
	WIRE_NOTE_LOST,
	WIRE_NOTE_INCOMPLETE,
	/* AsleepNs, TooEarlyNs, NoticedAt (FILETIME): the machine was suspended, and what later times lack of that */
	WIRE_NOTE_SUSPENDED,
	WIRE_NOTE_KINDS,
};

struct wire_session_note {
	uint32_t kind; /* enum wire_session_note_kind */
	uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS];
	char message[WIRE_SESSION_NOTE_MESSAGE_MAX + 1]; /* UTF-8, NUL-terminated */
};

/* Who writes a note, and when. */
struct wire_session_note_origin {
	int64_t time_raw;
	uint32_t process_id, thread_id;
};

/* wire_session_note_name() - the event's name: "ClaimedLoss" ...; static. @kind: a known one. */
const char *wire_session_note_name(uint32_t kind);

/* wire_session_note_number_name() - "Uid" ...; NULL: the kind has fewer numbers. */
const char *wire_session_note_number_name(uint32_t kind, unsigned number);

/* wire_session_note_set_masks(), _masks() - the numbers of WIRE_NOTE_NOT_COLLECTED, written and read. */
void wire_session_note_set_masks(uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS],
				 const uint32_t masks[WIRE_GROUP_MASKS_WORDS]);
void wire_session_note_masks(const struct wire_session_note *note,
			     uint32_t ret[WIRE_GROUP_MASKS_WORDS]);

/*
 * wire_session_note_encode() - the whole event, header included.
 *
 * @room: WIRE_SESSION_NOTE_BYTES_MAX bytes, all zeroed or written
 *
 * Returns its exact bytes, not padded.
 */
uint32_t wire_session_note_encode(const struct wire_session_note *note,
				  const struct wire_session_note_origin *origin, uint8_t *room);

/*
 * wire_session_note_decode() - reads the note back from an event of the provider.
 *
 * @schema:  the data of its item EVENT_SCHEMA_TL
 * @payload: its user data
 *
 * Returns false for an event that is no note that this version knows.
 */
bool wire_session_note_decode(struct etw_bytes schema, struct etw_bytes payload,
			      struct wire_session_note *ret);

#endif
