/* SPDX-License-Identifier: MIT */
/*
 * Layouts of events whose manifests leave the last fields out, or all of them. What the runtimes write beyond their
 * manifests is in no file that Windows has: docs/format/dotnet-gc.md has the layouts, and what shows them.
 */
#ifndef ETW_SCHEMA_LEFT_OUT_H
#define ETW_SCHEMA_LEFT_OUT_H

#include "schema/model.h"

struct etw_left_out {
	GUID provider;
	uint16_t id;
	uint8_t version;
	uint16_t field_count, top_count;
	const struct etw_field *fields; /* the top-level ones first, as in etw_schema */
};

/*
 * etw_left_out_find() - a layout that goes on behind the fields that a schema has.
 *
 * @nth: 0 for the first; an event may have been written in several forms
 *
 * Returns a static layout, or NULL when there is none or its first fields are not those of the schema.
 */
const struct etw_left_out *etw_left_out_find(const struct etw_schema *schema, unsigned nth);

#endif
