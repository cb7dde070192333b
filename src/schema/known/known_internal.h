/* SPDX-License-Identifier: MIT */
/* The open index, and checked access to its items, for the sources of this folder. */
#ifndef ETW_SCHEMA_KNOWN_KNOWN_INTERNAL_H
#define ETW_SCHEMA_KNOWN_KNOWN_INTERNAL_H

#include <limits.h>
#include <pthread.h>

#include "base/arena.h"
#include "schema/known/known.h"
#include "schema/model.h"
#include "schema/provider_schema.h"

struct etw_known {
	struct etw_bytes bytes;
	bool is_mapped;
	struct {
		const uint8_t *at; /* NULL only where there are no items */
		uint32_t count;
	} parts[WIRE_KNOWN_PARTS];
	pthread_mutex_t lock; /* of what follows */
	bool is_damaged;
	struct etw_fault damage; /* the first one */
	char path[];             /* "" in memory */
};

/* etw_known_damaged() - remembers the damage if it is the first. Returns -EBADMSG. */
int etw_known_damaged(struct etw_known *known, const void *at, const char *structure,
		      const char *field, const char *sentence);

/*
 * etw_known_item() - the item with this number; NULL: there is none, which is damage, and is remembered.
 *
 * @from: where the reference stands, for saying so
 */
const void *etw_known_item(struct etw_known *known, enum wire_known_part_id id, uint32_t number,
			   const void *from);

/* etw_known_string() - a string of the pool. Returns 0, or -EBADMSG. */
int etw_known_string(struct etw_known *known, le32 offset, const void *from, const char **ret);

/* etw_known_count() - items of a part. */
static inline uint32_t etw_known_count(const struct etw_known *known, enum wire_known_part_id id)
{
	return known->parts[id].count;
}

/*
 * etw_known_find_index() - where this program or library finds the index without being told: known_find.c.
 *
 * Returns whether there is one; @ret is then its path.
 */
bool etw_known_find_index(char ret[PATH_MAX]);

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
