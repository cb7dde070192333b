/* SPDX-License-Identifier: MIT */
/* Counts of events by provider and kind, and how much of them decodes. */
#ifndef ETW_TOOLS_ETW_TALLY_H
#define ETW_TOOLS_ETW_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "decode/decode.h"

#define TALLY_STATUSES (ETW_DECODE_NO_SCHEMA + 1)

struct tally_provider {
	GUID guid;
	bool is_classic;
	uint64_t count;
	uint64_t statuses[TALLY_STATUSES];
	uint64_t misses[ETW_SCHEMA_STRING_ONLY + 1]; /* of those without schema */
	uint64_t carriers; /* of those: events whose only business is to carry schemas */
	const char *name;  /* set by tally_sort(); NULL when unknown */
};

/* One kind of event: provider, id or opcode, version, schema. */
struct tally_kind {
	struct tally_provider *provider;
	EVENT_HEADER header; /* of the first one */
	const struct etw_schema *schema;
	const char *reason; /* why the first one that did not decode did not */
	uint64_t count;
	uint64_t bytes; /* of payload */
	uint64_t statuses[TALLY_STATUSES];
};

struct tally {
	struct etw_arena arena;
	struct etw_table providers, kinds; /* items in the arena */
	struct tally_provider **sorted_providers;
	struct tally_kind **sorted_kinds;
	uint64_t count;
	uint64_t complete;
	uint64_t carriers;      /* events whose only business is to carry schemas, not complete */
	uint64_t manifest_data; /* pieces of the manifests of EventSources; set by tally_sort() */
	uint64_t payload_bytes;
};

/* tally_done() - frees everything; takes a zeroed struct. */
void tally_done(struct tally *tally);

/* tally_add() - counts one event. Returns 0 or -ENOMEM. */
int tally_add(struct tally *tally, const struct etw_decoding *decoding);

/*
 * tally_sort() - fills the sorted lists: most events first, then by name.
 *
 * @store: for the names. Returns 0 or -ENOMEM.
 */
int tally_sort(struct tally *tally, const struct etw_schema_store *store);

/* tally_provider_write() - its name, or its GUID in braces; harmless to a terminal. */
void tally_provider_write(struct etw_text *text, const struct tally_provider *provider);

/* tally_kind_write() - the event's name as `etw dump` shows it. */
void tally_kind_write(struct etw_text *text, const struct tally_kind *kind);

/* tally_kind_name_write() - the same without its provider: "Task/Opcode", as --event takes it, or "#12". */
void tally_kind_name_write(struct etw_text *text, const struct tally_kind *kind);

#endif
