/* SPDX-License-Identifier: MIT */
/*
 * Which events are wanted: one small language (docs/format/filter.md) for the tools and the friendly layer, and the
 * tree that it becomes (filter/parse.h). The options of `etw dump` and the functions of etw/predicate.h make the same trees without
 * a text, so that there is one evaluator.
 *
 * A comparison is true or false, never anything between: false where the event lacks what is compared. What costs
 * nothing is asked first, and nothing is asked that cannot change the answer.
 *
 * Context: one owner thread per tree; asking it uses memory of it.
 */
#ifndef ETW_FILTER_FILTER_H
#define ETW_FILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evntcons.h>

#include "base/text.h"
#include "decode/decode.h"
#include "filter/operand.h"
#include "filter/value.h"
#include "process/processes.h"

#define ETW_FILTER_DEPTH_MAX 200 /* of a tree; asking it uses the stack */

struct etw_filter;

/* What a node asks of an operand or field. */
enum etw_filter_ask {
	ETW_FILTER_COMPARE, /* whether it is one of the values */
	ETW_FILTER_HAS,     /* whether it is there */
	ETW_FILTER_COUNT,   /* whether its number of elements is one of the values */
};

/* etw_filter_free() - takes NULL. */
void etw_filter_free(struct etw_filter *filter);
void etw_filter_freep(struct etw_filter **filter);

/* etw_filter_any() - every event. Returns NULL when memory ran out; so do the next ones. */
struct etw_filter *etw_filter_any(void);

/* etw_filter_not() and its like - take what they combine, in every case. 0, -ENOMEM, or -E2BIG: nested too deep. */
int etw_filter_not(struct etw_filter *filter, struct etw_filter **ret);
int etw_filter_and(struct etw_filter *left, struct etw_filter *right, struct etw_filter **ret);
int etw_filter_or(struct etw_filter *left, struct etw_filter *right, struct etw_filter **ret);

/*
 * etw_filter_of_operand() - a comparison of what a header or schema says, with no values yet.
 *
 * Where an event has no such thing the number counts as the header has it, as in etw/predicate.h.
 */
struct etw_filter *etw_filter_of_operand(enum etw_filter_operand_id id);

/*
 * etw_filter_of_field() - a comparison of a field, with no values yet.
 *
 * @path: as etw_path_resolve_fields() takes them; copied
 *
 * Only a single value is compared, and only by a reading that its type has.
 */
struct etw_filter *etw_filter_of_field(const char *path, enum etw_filter_ask ask);

/* etw_filter_add_value() - one more value that it may have; takes it, also when it fails with -ENOMEM. */
int etw_filter_add_value(struct etw_filter *filter, struct etw_filter_value *value);

/*
 * etw_filter_of_function() - whatever a function says.
 *
 * @function: gets @context, and that of the subject
 * @done:     called with @context when the tree is freed; NULL: it is borrowed
 */
struct etw_filter *etw_filter_of_function(bool (*function)(void *context, void *subject),
					  void *context, void (*done)(void *context));

/*
 * etw_filter_watch() - from now on each part of an "or" is asked until it was true once.
 *
 * etw_filter_was_true() then says of each of them whether it ever was, which short cuts would hide. The parts must
 * not be combined further; they live as long as the tree.
 */
void etw_filter_watch(struct etw_filter *filter);
bool etw_filter_was_true(const struct etw_filter *filter);

/* etw_filter_sort() - puts the parts of "and" and "or" into the order of their costs, unless a function is asked. */
void etw_filter_sort(struct etw_filter *filter);

/* etw_filter_needs_decoding() - whether a part can only be answered with schemas; @ret_at: its place. */
bool etw_filter_needs_decoding(const struct etw_filter *filter, size_t *ret_at);

/* etw_filter_asks_process() - whether a part asks which process or thread an event is about, or its name. */
bool etw_filter_asks_process(const struct etw_filter *filter);

/* How an event is got at: what costs is asked for when it is needed. */
struct etw_filter_source {
	/*
	 * The event's decoding, with or without a schema, valid until the event is over. NULL: events are not decoded,
	 * or memory ran out, which the caller has noted.
	 */
	const struct etw_decoding *(*decode)(void *context);
	/* The best known name of a provider, or NULL. */
	const char *(*provider_name)(void *context, const GUID *provider);
	/* Around what other threads must not do meanwhile: making texts of fields; may be NULL. */
	void (*lock)(void *context);
	void (*unlock)(void *context);
};

/* An event that a tree is asked about. */
struct etw_filter_subject {
	const EVENT_RECORD *record;
	const struct etw_filter_source *source;
	void *context;                         /* of the source */
	const struct etw_processes *processes; /* of the event's machine; NULL: not known */
	int64_t time_ft;                       /* of the event */
	int64_t start_ft;                      /* of the trace */
	uint64_t serial; /* of those whom the schemas belong to; trees remember by it */
};

/* etw_filter_matches() - whether an event is meant. */
bool etw_filter_matches(struct etw_filter *filter, struct etw_filter_subject *subject);

/*
 * etw_filter_learn_fields() - takes note of the fields that a kind of event has, though nothing is asked about it.
 *
 * @schema: NULL when unknown
 */
void etw_filter_learn_fields(struct etw_filter *filter, const struct etw_schema *schema,
			     uint64_t serial);

/* etw_filter_each_unknown() - the paths of fields that were compared and that no event had so far. */
void etw_filter_each_unknown(const struct etw_filter *filter,
			     void (*take)(void *context, const char *path), void *context);

#endif
