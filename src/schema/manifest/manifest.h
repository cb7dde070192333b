/* SPDX-License-Identifier: MIT */
/*
 * Instrumentation manifests (XML) as schemas. What does not matter for decoding is read leniently or
 * ignored; what does, is refused with the line and a reason. Rules: docs/design/schema-store.md.
 */
#ifndef ETW_SCHEMA_MANIFEST_H
#define ETW_SCHEMA_MANIFEST_H

#include "base/arena.h"
#include "base/fault.h"
#include "schema/manifest/manifest_limits.h"
#include "schema/provider_schema.h"

/*
 * etw_manifest_parse() - reads a manifest.
 *
 * @text: UTF-8 or UTF-16; borrowed for the call
 * @ret:  lives in @arena; the `index` of the schemas is left to the caller
 *
 * Strings are those of the fallback culture, else of en-US, else of the first table. Rules that are broken
 * without harm to decoding become complaints of the definition.
 * Returns 0; -EBADMSG with @reterr, whose offset is a line number from 1; -ENOMEM.
 */
int etw_manifest_parse(struct etw_arena *arena, const char *text, size_t bytes,
		       struct etw_definition **ret, struct etw_fault *reterr);

#endif
