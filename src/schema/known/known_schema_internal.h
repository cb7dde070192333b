/* SPDX-License-Identifier: MIT */
/* How schemas are made of known events: the parts of known_schema.h. Private to src/schema/known. */
#ifndef ETW_SCHEMA_KNOWN_KNOWN_SCHEMA_INTERNAL_H
#define ETW_SCHEMA_KNOWN_KNOWN_SCHEMA_INTERNAL_H

#include "schema/known/known_internal.h"
#include "schema/known/known_schema.h"

/* Fields that one call makes: references of a damaged index may lead to the same items again and again. */
#define KNOWN_FIELDS_MAX 1000000u

/* What schemas are made with. */
struct known_maker {
	struct etw_known *known;
	struct etw_arena *arena;
	uint32_t field_count; /* made so far */
	const struct etw_known_provider *provider;
	/* As many as the provider has, by their number; NULL: none was made; one without a name: not yet. */
	struct etw_map *maps;
};

/* etw_known_make_event() - one layout of an event as a schema. Returns 0, -EBADMSG, or -ENOMEM. */
int etw_known_make_event(struct known_maker *maker, const struct etw_known_event *event,
			 const struct etw_known_layout *layout, struct etw_schema *ret);

/* etw_known_make_fields() - the fields of a template, as far as they are known. Returns as above. */
int etw_known_make_fields(struct known_maker *maker, uint32_t template, struct etw_schema *schema);

/* etw_known_make_map() - a map of the provider, made once. Returns as above. */
int etw_known_make_map(struct known_maker *maker, uint32_t index, const struct etw_map **ret);

/*
 * etw_known_complete_names() - names as a manifest needs them: ETW_KNOWN_COMPLETE_NAMES.
 *
 * Names whose numbers are not known are dropped, since a manifest has to give the number.
 * Returns 0 or -ENOMEM.
 */
int etw_known_complete_names(struct etw_arena *arena, struct etw_provider_schema *schema);

#endif
