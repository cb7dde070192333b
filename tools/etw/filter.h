/* SPDX-License-Identifier: MIT */
/* Which events are wanted: by process, provider and kind. */
#ifndef ETW_TOOLS_ETW_FILTER_H
#define ETW_TOOLS_ETW_FILTER_H

#include <stdbool.h>

#include "decode/decode.h"
#include "tools/common/options.h"

struct filter {
	struct etw_words providers; /* names with wildcards, or GUIDs */
	struct etw_words events;    /* ids, or names with wildcards */
	struct etw_words pids;
};

/* filter_done() - frees the lists of words; takes a zeroed filter. */
void filter_done(struct filter *filter);

/* filter_check() - whether every word is well-formed; tells what is wrong on standard error. */
bool filter_check(const struct filter *filter);

/* filter_wants_process() - the part that needs no schema. */
bool filter_wants_process(const struct filter *filter, const EVENT_RECORD *record);

/*
 * filter_wants_kind() - the part that needs names.
 *
 * @schema, @provider_name: NULL when unknown
 */
bool filter_wants_kind(const struct filter *filter, const EVENT_RECORD *record,
		       const struct etw_schema *schema, const char *provider_name);

#endif
