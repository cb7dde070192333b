/* SPDX-License-Identifier: MIT */
/* Which events are wanted: by process, provider and kind. */
#ifndef ETW_TOOLS_ETW_FILTER_H
#define ETW_TOOLS_ETW_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/decode.h"
#include "tools/common/options.h"

#define FILTER_WORDS_MAX 64  /* of providers, of events */
#define FILTER_NAMES_MAX 512 /* providers that are remembered for suggestions */

struct filter {
	struct etw_words providers; /* names with wildcards, or GUIDs */
	struct etw_words events;    /* ids, or names with wildcards */
	struct etw_words pids;
	/* What the pass met so far: which words fitted, and the names that no word fitted. */
	uint64_t provider_hits, event_hits; /* a bit per word */
	bool has_process, has_provider;     /* events got as far as the next filter */
	const char *names[FILTER_NAMES_MAX];
	size_t name_count;
};

/* filter_done() - frees the lists of words; takes a zeroed filter. */
void filter_done(struct filter *filter);

/* filter_check() - whether every word is well-formed; tells what is wrong on standard error. */
bool filter_check(const struct filter *filter);

/* filter_wants_process() - the part that needs no schema. */
bool filter_wants_process(struct filter *filter, const EVENT_RECORD *record);

/*
 * filter_wants_kind() - the part that needs names.
 *
 * @schema, @provider_name: NULL when unknown
 */
bool filter_wants_kind(struct filter *filter, const EVENT_RECORD *record,
		       const struct etw_schema *schema, const char *provider_name);

/* filter_tell() - after a whole pass: names on standard error the words that fitted no event. */
void filter_tell(const struct filter *filter);

#endif
