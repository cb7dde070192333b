/* SPDX-License-Identifier: MIT */
/* Which events are wanted: by process, provider and kind. */
#ifndef ETW_TOOLS_ETW_FILTER_H
#define ETW_TOOLS_ETW_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/decode.h"
#include "tools/common/options.h"

#define FILTER_WORDS_MAX 64  /* of each kind */
#define FILTER_NAMES_MAX 512 /* names that are remembered for suggestions */

/* In the order in which they are asked. */
enum filter_kind {
	FILTER_PID,
	FILTER_PROVIDER, /* names with wildcards, or GUIDs */
	FILTER_EVENT,    /* ids, or names with wildcards */
	FILTER_KINDS,
};

struct filter {
	struct etw_words words[FILTER_KINDS];
	uint64_t hits[FILTER_KINDS]; /* a bit per word: it fitted what the kinds before had left */
};

/* filter_done() - frees the lists of words; takes a zeroed filter. */
void filter_done(struct filter *filter);

/*
 * filter_check() - whether every word is well-formed; tells what is wrong on standard error.
 *
 * @has_names: events are decoded, so that they have names
 */
bool filter_check(const struct filter *filter, bool has_names);

/* filter_wants_process() - the part that needs no schema. @pid: that the event is about (process/subject.h) */
bool filter_wants_process(struct filter *filter, uint32_t pid);

/*
 * filter_wants_kind() - the part that needs names.
 *
 * @schema, @provider_name: NULL when unknown
 */
bool filter_wants_kind(struct filter *filter, const EVENT_RECORD *record,
		       const struct etw_schema *schema, const char *provider_name);

/* filter_is_satisfied() - whether every word has fitted something. */
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
	struct filter_names provider_names, event_names;
};

/* filter_study() - takes in one event. */
void filter_study(const struct filter *filter, struct filter_study *study,
		  const EVENT_RECORD *record, uint32_t pid, const struct etw_schema *schema,
		  const char *provider_name);

/*
 * filter_tell() - one sentence on standard error for each word that left nothing.
 *
 * @study: of all events that the filter saw
 * @where: "the trace", or the part of it that was read
 */
void filter_tell(const struct filter *filter, const struct filter_study *study, const char *where);

#endif
