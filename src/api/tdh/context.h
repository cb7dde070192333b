/* SPDX-License-Identifier: MIT */
/* TDH_CONTEXT lists, as TdhGetEventInformation and its like take them. */
#ifndef ETW_API_TDH_CONTEXT_H
#define ETW_API_TDH_CONTEXT_H

#include <stdbool.h>

#include <tdh.h>

/* What a list says. Unset members are what applies without it. */
struct etw_tdh_context {
	const WCHAR *tmf_file; /* borrowed from the list; NULL: none */
	const WCHAR *tmf_search_path;
	unsigned pointer_bytes; /* of events whose header does not tell; 0: not said */
};

/*
 * etw_tdh_context_read() - checks a list and takes it apart.
 *
 * The last word on a type counts. WPP_GMT and PDB_PATH are for decoding handles; here they are checked, and
 * change nothing. Returns ERROR_SUCCESS, or ERROR_INVALID_PARAMETER for a list that is not there, an unknown
 * type, a pointer size other than 4 and 8, and a path that is NULL.
 */
ULONG etw_tdh_context_read(ULONG count, const TDH_CONTEXT *list, struct etw_tdh_context *ret);

/*
 * etw_tdh_context_apply() - the event as the context wants it decoded.
 *
 * @copy: room for a record; used when the context changes anything
 *
 * Returns @record or @copy.
 */
const EVENT_RECORD *etw_tdh_context_apply(const struct etw_tdh_context *context,
					  const EVENT_RECORD *record, EVENT_RECORD *copy);

#endif
