/* SPDX-License-Identifier: MIT */
/* What a schema is called. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_SCHEMA_H
#define ETW_API_FRIENDLY_SCHEMA_H

#include "base/text.h"
#include "schema/model.h"

/* etw_schema_title() - appends what libetw_schema_name() gives. */
void etw_schema_title(const struct etw_schema *schema, struct etw_text *text);

#endif
