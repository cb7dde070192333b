/* SPDX-License-Identifier: MIT */
/* Paths of fields, and the handles that know where they lead in a schema. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_PATH_H
#define ETW_API_FRIENDLY_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/decode.h"
#include "schema/model.h"

#define ETW_PATH_BYTES_MAX 1000
#define ETW_PATH_PLANS     8 /* kinds of events that a handle remembers */

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

struct libetw_field {
	char *path;      /* owned */
	uint64_t serial; /* of the struct libetw_schemas that the plans are for */
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
 * etw_path_plan() - the same, remembered by the handle; never NULL.
 *
 * @serial: of the struct libetw_schemas that @schema belongs to
 */
const struct etw_path_plan *etw_path_plan(struct libetw_field *field, uint64_t serial,
					  const struct etw_schema *schema);

/* etw_path_item() - the item that a plan without error leads to, or NULL: the payload does not have it. */
const struct etw_item *etw_path_item(const struct etw_path_plan *plan,
				     const struct etw_decoding *decoding);

#endif
