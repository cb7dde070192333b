/* SPDX-License-Identifier: MIT */
/*
 * Which events are wanted: --filter with an expression, and its short forms --pid, --provider and --event. All of
 * them become one tree; the short forms keep apart which of their words ever fitted, for suggestions.
 */
#ifndef ETW_TOOLS_ETW_FILTER_OPTIONS_H
#define ETW_TOOLS_ETW_FILTER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter/filter.h"
#include "tools/common/options.h"

#define FILTER_WORDS_MAX 64  /* of each kind */
#define FILTER_NAMES_MAX 512 /* names that are remembered for suggestions */

/* The short forms. */
enum filter_kind {
	FILTER_PID,
	FILTER_PROVIDER, /* names with wildcards, or GUIDs */
	FILTER_EVENT,    /* ids, or names with wildcards */
	FILTER_KINDS,
};

struct filter {
	struct etw_words words[FILTER_KINDS];
	struct etw_words expressions;
	struct etw_filter *tree; /* owned; NULL: everything */
	struct etw_filter
		*leaves[FILTER_KINDS][FILTER_WORDS_MAX]; /* parts of the tree, a word each */
};

/* filter_done() - frees the lists of words and the tree; takes a zeroed filter. */
void filter_done(struct filter *filter);

/*
 * filter_prepare() - makes the tree of what the command line says; tells what is wrong on standard error.
 *
 * @has_names: events are decoded, so that they have names and fields
 */
bool filter_prepare(struct filter *filter, bool has_names);

/* filter_is_empty() - whether every event is wanted. */
static inline bool filter_is_empty(const struct filter *filter)
{
	return !filter->tree;
}

/* filter_wants() - whether an event is wanted. */
static inline bool filter_wants(struct filter *filter, struct etw_filter_subject *subject)
{
	return !filter->tree || etw_filter_matches(filter->tree, subject);
}

/* filter_is_satisfied() - whether every word has fitted something, and every field was there. */
bool filter_is_satisfied(const struct filter *filter);

/* Names that a user may have meant; they live as long as the schemas. */
struct filter_names {
	const char *at[FILTER_NAMES_MAX];
	size_t count;
};

/* Every word by itself, whatever the others say: to find out which one leaves nothing. */
struct filter_study {
	uint64_t pids;
	uint64_t providers[2]; /* a bit per word; by whether the event passes --pid */
	uint64_t events[4];    /* the same; and, plus 2, whether it passes --provider */
	struct filter_names provider_names, event_names, field_names;
};

/*
 * filter_study() - takes in one event.
 *
 * @decoding: of it; NULL when events are not decoded
 */
void filter_study(const struct filter *filter, struct filter_study *study,
		  struct etw_filter_subject *subject, const struct etw_decoding *decoding);

/*
 * filter_tell() - one sentence on standard error for each word that left nothing, and each field that no event has.
 *
 * @study: of all events that the filter saw
 * @where: "the trace", or the part of it that was read
 */
void filter_tell(const struct filter *filter, const struct filter_study *study, const char *where);

#endif
