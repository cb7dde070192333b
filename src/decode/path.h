/* SPDX-License-Identifier: MIT */
/*
 * Paths of fields: "Outer.Inner[3].x", and where they lead in a schema and in an event. What was found out is kept
 * for the latest kinds of events.
 */
#ifndef ETW_DECODE_PATH_H
#define ETW_DECODE_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/decoding.h"
#include "schema/model.h"

#define ETW_PATH_BYTES_MAX 1000
#define ETW_PATH_PLANS     8 /* kinds of events that a memory holds */

struct etw_path_step {
	uint16_t field; /* index into schema->fields */
	bool has_index;
	uint32_t index;
};

/* Where a path leads in one schema. */
struct etw_path_plan {
	const struct etw_schema *schema; /* NULL: free */
	int error;                       /* 0, -ENOENT, -EINVAL */
	uint8_t count;
	struct etw_path_step steps[ETW_SCHEMA_DEPTH_MAX + 1];
};

/* Where one path leads in the kinds of events that were asked about last; zeroed at first. */
struct etw_path_cache {
	uint64_t serial; /* of those whom the schemas belong to */
	struct etw_path_plan plans[ETW_PATH_PLANS];
	unsigned latest; /* the plan used last */
	unsigned oldest; /* the one that gives way */
};

/*
 * etw_path_resolve_fields() - where a path leads in a schema; NULL and "" are no paths.
 *
 * Returns 0; -ENOENT: there is no such field; -EINVAL: it is no path. Also in @ret->error.
 */
int etw_path_resolve_fields(const char *path, const struct etw_schema *schema,
			    struct etw_path_plan *ret);

/*
 * etw_path_plan() - the same, kept in a cache that is for this one path; never NULL.
 *
 * @serial: of those whom @schema belongs to: schemas of others may lie where freed ones lay
 */
const struct etw_path_plan *etw_path_plan(struct etw_path_cache *cache, const char *path,
					  uint64_t serial, const struct etw_schema *schema);

/* etw_path_item() - the item that a plan without error leads to, or NULL: the payload does not have it. */
const struct etw_item *etw_path_item(const struct etw_path_plan *plan,
				     const struct etw_decoding *decoding);

/* Takes one of the items that a path leads to. Returns whether it is enough. */
typedef bool etw_path_visitor(void *context, const struct etw_item *item);

/*
 * etw_path_each() - every item that a plan without error leads to.
 *
 * An array of structs on the way of which no element is named stands for each of them; an array at the end is
 * handed out as a whole. Returns whether @visitor said that it is enough.
 */
bool etw_path_each(const struct etw_path_plan *plan, const struct etw_decoding *decoding,
		   etw_path_visitor *visitor, void *context);

#endif
