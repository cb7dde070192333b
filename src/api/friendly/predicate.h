/* SPDX-License-Identifier: MIT */
/* Predicates as trees: a node asks the header, the schema or a field, or combines others. Private. */
#ifndef ETW_API_FRIENDLY_PREDICATE_H
#define ETW_API_FRIENDLY_PREDICATE_H

#include <etw/predicate.h>

#include "api/friendly/value.h"
#include "base/text.h"
#include "schema/model.h"

enum etw_predicate_kind {
	ETW_PREDICATE_ANY,
	ETW_PREDICATE_AND,
	ETW_PREDICATE_OR,
	ETW_PREDICATE_NOT,
	ETW_PREDICATE_PROVIDER,
	ETW_PREDICATE_ID,
	ETW_PREDICATE_VERSION,
	ETW_PREDICATE_OPCODE,
	ETW_PREDICATE_TASK,
	ETW_PREDICATE_PID,
	ETW_PREDICATE_TID,
	ETW_PREDICATE_LEVEL,
	ETW_PREDICATE_KEYWORD_ANY,
	ETW_PREDICATE_KEYWORD_ALL,
	ETW_PREDICATE_EVENT_NAME,
	ETW_PREDICATE_FUNCTION,
	/* What compares a field: the first is HAS_FIELD. */
	ETW_PREDICATE_HAS_FIELD,
	ETW_PREDICATE_UNSIGNED,
	ETW_PREDICATE_SIGNED,
	ETW_PREDICATE_BOOL,
	ETW_PREDICATE_DOUBLE,
	ETW_PREDICATE_FILETIME,
	ETW_PREDICATE_TIME_NS,
	ETW_PREDICATE_COUNT,
	ETW_PREDICATE_GUID,
	ETW_PREDICATE_SID,
	ETW_PREDICATE_TEXT,
	ETW_PREDICATE_BYTES,
};

struct libetw_predicate {
	enum etw_predicate_kind kind;
	int how;                               /* TEXT */
	unsigned depth;                        /* of the tree from here */
	struct libetw_predicate *left, *right; /* owned */
	struct etw_where where;                /* its handle is owned */
	uint64_t from, to; /* numbers and masks (from), ranges; signed ones too */
	double from_double, to_double;
	GUID guid;
	char *text; /* owned; a name, a text, or bytes; of TEXT in any case in small letters */
	size_t text_bytes;              /* without the NUL behind it */
	const struct etw_schema *asked; /* EVENT_NAME: the latest, and what came out */
	uint64_t asked_serial;          /* whose schema that is */
	bool was_meant;
	bool is_number;       /* EVENT_NAME: the header knows */
	struct etw_text room; /* TEXT and SID: a field's text is made here */
	int (*function)(void *context, struct libetw_event *event);
	void *context;
};

/* etw_predicate_create() - a node without children; NULL, told, when memory ran out. */
struct libetw_predicate *etw_predicate_create(enum etw_predicate_kind kind);

/*
 * etw_predicate_with_text() - gives a node a copy of @bytes; takes the node, which may be NULL.
 *
 * Returns it, or NULL, told, when memory ran out.
 */
struct libetw_predicate *etw_predicate_with_text(struct libetw_predicate *predicate,
						 const void *text, size_t bytes);

/* etw_predicate_matches() - whether an event of the calling thread is meant; no sentence is ever made. */
bool etw_predicate_matches(struct libetw_predicate *predicate, struct libetw_event *event);

/* etw_predicate_field_matches() - the same for the kinds that compare a field. */
bool etw_predicate_field_matches(struct libetw_predicate *predicate, struct libetw_event *event);

#endif
