/* SPDX-License-Identifier: MIT */
/* The MOF writer: mof_write.c (classes) and mof_write_field.c (properties), and what the two share. */
#ifndef ETW_SCHEMA_MOF_WRITE_H
#define ETW_SCHEMA_MOF_WRITE_H

#include "base/fault.h"
#include "base/text.h"
#include "schema/provider_schema.h"

/*
 * etw_mof_write() - appends classes that etw_mof_parse() reads as the same definition. For tests and fuzz targets.
 *
 * Returns 0; -EOPNOTSUPP with @reterr when MOF has no words for a part of it (structs, types of
 * manifests, names that are no identifiers); -ENOMEM. The text is cut back to what it was on failure.
 */
int etw_mof_write(const struct etw_definition *definition, struct etw_text *text,
		  struct etw_fault *reterr);

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
