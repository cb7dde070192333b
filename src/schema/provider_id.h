/* SPDX-License-Identifier: MIT */
/* From a provider's name to its GUID: the rule of EventSource and TraceLogging, and Windows' own names. */
#ifndef ETW_SCHEMA_PROVIDER_ID_H
#define ETW_SCHEMA_PROVIDER_ID_H

#include <guiddef.h>

/*
 * etw_provider_id_hash() - the GUID that EventSource and TraceLogging make of a name.
 *
 * @name: UTF-8; letters of ASCII count in either case
 *
 * Returns 0, -EILSEQ for a name that is no UTF-8, or -ENOMEM.
 * Source: docs/format/tracelogging.md.
 */
int etw_provider_id_hash(const char *name, GUID *ret);

/*
 * etw_provider_id_find() - what a user means by a provider.
 *
 * @text: a GUID with or without braces; the name of one of Windows' providers, in any case; any other name,
 *        which is hashed; "*Name" is always hashed
 *
 * Returns 0; -EINVAL for an empty name and for braces around what is no GUID; otherwise as etw_provider_id_hash().
 */
int etw_provider_id_find(const char *text, GUID *ret);

#endif
