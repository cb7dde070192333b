/* SPDX-License-Identifier: MIT */
/* Several layouts of one event: their order, and the next one where one does not fit. */
#include "schema/layout.h"
#include "schema/store/store.h"
#include "schema/store/store_internal.h"

/* Whether a layout that is in the list stays before a new one. */
static bool stays_before(const struct etw_schema *old, const struct etw_schema *schema)
{
	int richer = 0;

	if (old->origin != schema->origin)
		return old->origin > schema->origin;
	/* A WPP message has the GUID of its build: a file of the same build is as good, and may be mended. */
	if (schema->source != DecodingSourceWPP)
		richer = etw_layout_compare(old, schema);
	if (richer)
		return richer > 0;
	/* Of equals the later one counts, but of the recording machine the first word. */
	return schema->origin == ETW_SCHEMA_ORIGIN_TRACE || old->order > schema->order;
}

void etw_store_remove(struct stored_event *stored, struct etw_schema *schema)
{
	struct etw_schema **link = &stored->first;

	while (*link && *link != schema)
		link = &(*link)->next;
	if (*link) {
		*link = schema->next;
		schema->origin = ETW_SCHEMA_ORIGIN_NONE;
	}
}

void etw_store_insert(struct stored_event *stored, struct etw_schema *schema,
		      enum etw_schema_origin origin, uint32_t order)
{
	struct etw_schema **link = &stored->first;

	if (schema->origin != ETW_SCHEMA_ORIGIN_NONE)
		etw_store_remove(stored, schema);
	schema->origin = (uint8_t)origin;
	schema->order = order;
	while (*link && stays_before(*link, schema))
		link = &(*link)->next;
	schema->next = *link;
	*link = schema;
}

bool etw_store_has_place(struct stored_event *stored, const struct etw_schema *schema,
			 enum etw_schema_origin origin)
{
	struct etw_schema *last = NULL;
	unsigned count = 0;

	for (struct etw_schema *at = stored->first; at; at = at->next) {
		if (at->origin != origin)
			continue;
		if (etw_layout_equal(at, schema)) {
			if (origin == ETW_SCHEMA_ORIGIN_TRACE || etw_layout_compare(at, schema) > 0)
				return false;
			/* It is in no list any more; what was handed out of it stays valid. */
			etw_store_remove(stored, at);
			return true;
		}
		last = at;
		count++;
	}
	if (count < STORE_LAYOUTS_MAX)
		return true;
	if (etw_layout_compare(last, schema) > 0)
		return false;
	etw_store_remove(stored, last);
	return true;
}

/* Behind a layout of a higher origin: the registry may have some that go before what is in the list. */
static void ask_before(struct etw_schema_store *store, const struct store_key *key,
		       const struct etw_schema *after)
{
	const struct etw_schema *next = after->next;
	GUID guid;

	if (after->origin <= ETW_SCHEMA_ORIGIN_INSTALLED)
		return;
	if (next && next->origin > ETW_SCHEMA_ORIGIN_INSTALLED)
		return;
	memcpy(&guid, key->guid, sizeof(guid));
	/* For want of memory it is not asked now, and so will be for the next event. */
	(void)etw_store_ask_registry(store, &guid);
}

/* Behind the last layout of the lists, those of the table of known providers. */
static const struct etw_schema *next_of_table(struct etw_schema_store *store,
					      const struct store_key *key,
					      const struct etw_schema *after)
{
	const bool is_of_table = after->origin == ETW_SCHEMA_ORIGIN_KNOWN;

	/* For want of memory there is none now. */
	if (!is_of_table)
		(void)etw_store_ask_known(store, key);
	return etw_store_next_known(store, etw_store_find_event(store, key),
				    is_of_table ? after : NULL);
}

const struct etw_schema *etw_schema_store_next(struct etw_schema_store *store,
					       const EVENT_RECORD *record,
					       const struct etw_schema *after)
{
	const struct etw_schema *next;
	enum store_kind kind;
	struct store_key key;

	if (!etw_store_key_of_event(record, &key, &kind) || kind == STORE_STRING ||
	    kind == STORE_MESSAGE)
		return NULL;
	ask_before(store, &key, after);
	if (kind == STORE_CLASS && after->origin != ETW_SCHEMA_ORIGIN_KNOWN)
		next = etw_store_next_class(store, &key, &record->EventHeader, after);
	else
		next = after->next;
	if (next && next->origin != ETW_SCHEMA_ORIGIN_KNOWN)
		return next;
	return next_of_table(store, &key, after);
}
