/* SPDX-License-Identifier: MIT */
/* From a provider's GUID to the system of tracepoints that it is. Any thread. */
#ifndef ETW_SOURCE_TRACEPOINTS_SYSTEMS_H
#define ETW_SOURCE_TRACEPOINTS_SYSTEMS_H

#include <stdbool.h>

#include <guiddef.h>

#include "schema/tracepoint/format.h"

/*
 * etw_tracepoint_system_find() - the system of a provider. What is not known is looked for in tracefs, unless that was done 20
 * times within a second; what was found there once stays known until then.
 *
 * @ret: NULL: not wanted
 *
 * Returns false where this machine has none.
 */
bool etw_tracepoint_system_find(const GUID *provider, char ret[ETW_TRACEPOINT_NAME_BYTES_MAX + 1]);

#endif
