/* SPDX-License-Identifier: MIT */
/*
 * MOF text as schemas: classes derived from EventTrace, as Windows keeps them for classic providers, and
 * the files that tracepdb makes of WPP providers. What does not matter for decoding is ignored; what the
 * language forbids is refused with the line; a class that cannot be decoded is left out with a complaint,
 * the rest is read. Rules: docs/design/mof.md.
 */
#ifndef ETW_SCHEMA_MOF_H
#define ETW_SCHEMA_MOF_H

#include "base/arena.h"
#include "base/fault.h"
#include "base/text.h"
#include "schema/provider_schema.h"

#define ETW_MOF_BYTES_MAX      ((size_t)64 << 20)
#define ETW_MOF_CLASSES_MAX    ((size_t)1 << 16)
#define ETW_MOF_ANCESTORS_MAX  64
#define ETW_MOF_NAME_BYTES_MAX 255
#define ETW_MOF_QUALIFIERS_MAX 64 /* of one class, property or other declaration */

/*
 * etw_mof_parse() - reads MOF text.
 *
 * @text: UTF-8 or UTF-16, else taken as Windows-1252; borrowed for the call
 * @ret:  lives in @arena; the `index` of the schemas is left to the caller
 *
 * Complaints are about classes that were left out, or parts of them, and name the class. A file without
 * event classes gives an empty definition.
 * Returns 0; -EBADMSG with @reterr, whose offset is a line number from 1; -ENOMEM.
 */
int etw_mof_parse(struct etw_arena *arena, const char *text, size_t bytes,
		  struct etw_definition **ret, struct etw_fault *reterr);

#endif
