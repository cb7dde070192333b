/* SPDX-License-Identifier: MIT */
/*
 * Schemas that are known to be wrong: what genuine manifests say of some events is not what the provider
 * writes. docs/format/decode-leftovers.md lists them, each with the genuine events that show it.
 */
#ifndef ETW_SCHEMA_MEND_H
#define ETW_SCHEMA_MEND_H

#include "schema/model.h"

/* A schema is put right in so many ways at most: an event may have been written in several forms. */
#define ETW_SCHEMA_MENDS_MAX 2

/*
 * etw_schema_mend() - a copy of a schema with its known error put right: a field of the wrong type, or fields that are
 * left out (schema/left_out.h).
 *
 * @schema: whatever reader it came from; borrowed, and the copy's strings and maps are still its own
 * @nth:    0 for the first way to put it right
 * @ret:    one piece of memory for free(); NULL when no error of this schema, or no further way, is known
 *
 * Only schemas that have the very error are mended, so one that a newer manifest corrects stays as it is.
 * Returns 0 or -ENOMEM.
 */
int etw_schema_mend(const struct etw_schema *schema, unsigned nth, struct etw_schema **ret);

#endif
