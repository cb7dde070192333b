/* SPDX-License-Identifier: MIT */
/* What is known of one provider, from the index or from what is installed, in one form. */
#ifndef ETW_TOOLS_ETW_FACTS_H
#define ETW_TOOLS_ETW_FACTS_H

#include "tools/etw/catalogue.h"

/* One layout that an event has. */
struct fact_layout {
	const struct etw_schema *schema; /* of incomplete ones the fields before the gap */
	const char *builds;              /* Windows builds that have it; "" nobody says */
	const char *source;              /* where it is from; "" those that know builds */
	uint32_t marks;                  /* enum wire_known_mark */
	uint32_t template;    /* of the index: WIRE_KNOWN_NONE: no more than the schema says */
	uint32_t field_count; /* of it, top-level */
};

struct fact_event {
	const struct fact_layout *layouts; /* the newest first */
	size_t layout_count;               /* 1 and more */
};

/* Which of two sources a provider is shown from. */
enum fact_source {
	FACTS_BEST, /* installed, else known */
	FACTS_INSTALLED,
	FACTS_KNOWN,
};

struct facts {
	const struct catalogue_entry *entry;
	struct etw_known *known; /* NULL: from what is installed */
	const char *sources;     /* of the index: names with a blank between them; "" */
	struct etw_arena arena;
	const struct etw_provider_schema
		*schema;           /* names and maps; NULL: nothing but a name is known */
	struct fact_event *events; /* manifest events, then classic ones */
	size_t event_count;
	size_t several_count; /* events with more than one layout */
	size_t incomplete_count, inferred_count, doubtful_count;
};

/*
 * facts_open() - reads what is known of a provider.
 *
 * @build: of a Windows, whose layouts are preferred in @schema; 0: the newest
 *
 * Returns 0; -ENOENT when that source has nothing of it; -EBADMSG when it is damaged, which the catalogue tells at its
 * end, or the store has told; -ENOMEM. facts_close() in every case.
 */
int facts_open(struct facts *facts, const struct catalogue *catalogue,
	       const struct catalogue_entry *entry, enum fact_source source, uint32_t build);

/* facts_close() - takes a zeroed one. */
void facts_close(struct facts *facts);

/* facts_is_classic() - whether an event is one of MOF. */
static inline bool facts_is_classic(const struct fact_event *event)
{
	return event->layouts[0].schema->source == DecodingSourceWbem;
}

#endif
