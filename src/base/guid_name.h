/* SPDX-License-Identifier: MIT */
/* From a provider's name to its GUID, by the rule of EventSource and TraceLogging. */
#ifndef ETW_BASE_GUID_NAME_H
#define ETW_BASE_GUID_NAME_H

#include <guiddef.h>

/*
 * etw_guid_of_name() - the GUID that EventSource and TraceLogging make of a name.
 *
 * @name: UTF-8; letters of ASCII count in either case
 *
 * Returns 0, -EILSEQ for a name that is no UTF-8, or -ENOMEM.
 * Source: docs/format/tracelogging.md.
 */
int etw_guid_of_name(const char *name, GUID *ret);

#endif
