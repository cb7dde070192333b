/* SPDX-License-Identifier: MIT */
/* What the parts of the MOF writer share: mof_write.c (classes) and mof_write_field.c (properties). */
#ifndef ETW_SCHEMA_MOF_WRITE_H
#define ETW_SCHEMA_MOF_WRITE_H

#include "base/text.h"
#include "schema/model.h"

/* etw_mof_put_string() - appends a string literal. */
void etw_mof_put_string(struct etw_text *text, const char *string);

/*
 * etw_mof_put_field() - appends a field as a property.
 *
 * Returns NULL, or a static sentence when MOF cannot say it; part of the property may then be written.
 */
const char *etw_mof_put_field(struct etw_text *text, const struct etw_schema *schema,
			      uint16_t index);

#endif
