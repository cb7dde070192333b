/* SPDX-License-Identifier: MIT */
/*
 * Definitions as instrumentation manifests: UTF-8, one culture, escaped. Reading what was written gives
 * the same model again, as far as a manifest can say it: docs/design/schema-store.md. For tests and fuzz targets.
 */
#ifndef ETW_SCHEMA_MANIFEST_WRITE_H
#define ETW_SCHEMA_MANIFEST_WRITE_H

#include "base/text.h"
#include "schema/provider_schema.h"

/*
 * etw_manifest_write() - appends a whole document.
 *
 * Templates with the same fields become one. What is nowhere in the model is made up: ids of templates
 * and strings, and the XML of UserData.
 * Returns 0; -EOPNOTSUPP when a provider is not of manifest events, or a field has a type that manifests
 * do not have; -ENOMEM. On failure the text ends somewhere.
 */
int etw_manifest_write(const struct etw_definition *definition, struct etw_text *text);

#endif
