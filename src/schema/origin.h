/* SPDX-License-Identifier: MIT */
/* What tools call the origin of a schema, and what is doubtful about it (schema/model.h). */
#ifndef ETW_SCHEMA_ORIGIN_H
#define ETW_SCHEMA_ORIGIN_H

#include "base/text.h"
#include "schema/model.h"

/* etw_schema_origin_name() - "trace", "known" ...; NULL for a schema of no store. Static. */
const char *etw_schema_origin_name(enum etw_schema_origin origin);

#define ETW_SCHEMA_MARKS 4

/* etw_schema_mark_name() - of the @index-th bit of the marks, "incomplete" for the first. Static. */
const char *etw_schema_mark_name(unsigned index);

/* etw_schema_marks_text() - "incomplete, inferred"; NULL without marks. Static. */
const char *etw_schema_marks_text(unsigned marks);

/* etw_schema_origin_write() - "known, inferred, incomplete"; nothing for a schema of no store, or NULL. */
void etw_schema_origin_write(const struct etw_schema *schema, struct etw_text *text);

#endif
