/* SPDX-License-Identifier: MIT */
/*
 * Decoded events in an output format. One file per format, one interface for all: begin, one call per
 * event, end. A format appends text; who calls it decides where the text goes. Formats keep no state,
 * so that one format can serve several outputs at once; what is worth remembering from event to event goes
 * into a cache that belongs to the output.
 */
#ifndef ETW_EXPORT_EXPORT_H
#define ETW_EXPORT_EXPORT_H

#include <stdint.h>

#include "base/text.h"
#include "consumer/trace.h"
#include "decode/decode.h"
#include "schema/store/store.h"

/*
 * What was written before and will be written again: the part of an event's text that is the same for all
 * of its kind, the names of its fields, the last second. Bounded; makes output faster and never different.
 *
 * Context: one owner thread; must not outlive the schemas of the events it saw.
 */
struct etw_export_cache;

/* etw_export_cache_create() - an empty one. Returns 0 or -ENOMEM. */
int etw_export_cache_create(struct etw_export_cache **ret);

/* etw_export_cache_free() - takes NULL. */
void etw_export_cache_free(struct etw_export_cache *cache);

/* Wishes; a format ignores those that do not concern it. */
enum etw_export_flag {
	ETW_EXPORT_FULL = 1,          /* text: payloads in full length */
	ETW_EXPORT_COLOUR = 2,        /* text: escape sequences of terminals */
	ETW_EXPORT_TIME_RELATIVE = 4, /* text: seconds since start_ft */
	ETW_EXPORT_TIME_RAW = 8,      /* text: raw_time */
	ETW_EXPORT_FILES = 16,        /* events come from several files: say which */
	ETW_EXPORT_GUESS = 32,        /* what does not decode: guess, and say that it is a guess */
	ETW_EXPORT_PROCESS = 64,      /* text: a column for the process' name */
	ETW_EXPORT_HAS_RAW = 128,     /* raw_time is set */
	ETW_EXPORT_TIME_LOCAL = 256,  /* text: in the zone of east_minutes */
};

/* The process and thread that an event is about, which need not be those of its header (process/subject.h). */
struct etw_export_subject {
	uint32_t pid, tid;        /* 0xFFFFFFFF: unknown */
	const char *process_name; /* as the trace has it; NULL: unknown */
	const char *thread_name;  /* the same */
};

/* One event on its way out; everything is borrowed for the call. */
struct etw_export_event {
	const EVENT_RECORD *record;               /* TimeStamp is FILETIME */
	const struct etw_decoding *decoding;      /* NULL: nobody tried to decode the event */
	const char *provider_name;                /* NULL when unknown */
	const struct etw_export_subject *subject; /* NULL: what the header says */
	struct etw_export_cache *cache;           /* of the output; NULL: none */
	struct etw_event_address address;
	size_t trace; /* index of the file, for output of several */
	uint32_t processor;
	uint32_t flags;       /* enum etw_export_flag */
	int64_t start_ft;     /* of the trace: what relative times count from */
	int32_t east_minutes; /* of Greenwich; see TIME_LOCAL */
	int64_t raw_time;     /* in the session clock's unit; see HAS_RAW */
};

struct etw_export_format {
	const char *name;     /* "text", "json" */
	const char *one_line; /* what it is, for help texts */
	void (*begin)(struct etw_text *text);
	void (*event)(const struct etw_export_event *event, struct etw_text *text);
	void (*end)(struct etw_text *text);
};

extern const struct etw_export_format etw_export_text; /* one line for people */
extern const struct etw_export_format etw_export_json; /* one object a line; docs/format/json.md */

/*
 * etw_export_event_name() - appends "Provider/Task/Opcode", as far as the names are known.
 *
 * Numbers stand for what has no name: "Provider/#12", "{guid}/op 36".
 */
void etw_export_event_name(const struct etw_export_event *event, struct etw_text *text);

/*
 * etw_export_clean() - makes the text from byte @from on harmless to a terminal.
 *
 * Control characters (C0, DEL, C1) and the marks that reverse the direction of writing become escapes
 * such as \n, \x1b and \u202e. Returns whether there were any.
 */
int etw_export_clean(struct etw_text *text, size_t from);

#endif
