/* SPDX-License-Identifier: MIT */
/*
 * EVENT_TRACE_PROPERTIES of a caller: sizes, the offset rules of its two names, and both forms of it; W and
 * A differ in the units of the names alone.
 */
#ifndef ETW_API_CONTROL_PROPERTIES_H
#define ETW_API_CONTROL_PROPERTIES_H

#include <stdbool.h>
#include <stddef.h>

#include <evntrace.h>

#include "wire/message.h"

#define ETW_PROPERTIES_NAME_UNITS \
	1024 /* most of a session's or a file's name, by Microsoft's documents */

struct etw_properties {
	EVENT_TRACE_PROPERTIES *block; /* borrowed */
	size_t bytes;                  /* of the block, with what follows the structure */
	size_t struct_bytes;           /* of the structure: the second version is longer */
	size_t unit_bytes;             /* of a name's character: 2 or 1 */
};

/*
 * etw_properties_check() - everything that can be said of a block before anything is done.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER without a block, for a version that is none, and for an
 * offset within the structure or behind the block, or of both names at once; ERROR_BAD_LENGTH for a block smaller
 * than the structure.
 */
ULONG etw_properties_check(EVENT_TRACE_PROPERTIES *block, bool is_wide, struct etw_properties *ret);

/*
 * etw_properties_read() - the numbers of the block, and its file's name.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER for a name without end, that is no text, or that the session's name
 * would be written into;
 * ERROR_NOT_SUPPORTED for filters and flag blocks that this host does not know; codes of resolving the path.
 */
ULONG etw_properties_read(const struct etw_properties *properties, struct wire_session_config *ret);

/* etw_properties_has_room() - whether a name of @units characters fits at LoggerNameOffset. */
bool etw_properties_has_room(const struct etw_properties *properties, size_t units);

/*
 * etw_properties_fill() - writes what the host says, and the names to their offsets; 0 means not wanted.
 *
 * Returns ERROR_SUCCESS; ERROR_MORE_DATA when a name does not fit: everything else is there then;
 * ERROR_NOT_ENOUGH_MEMORY.
 */
ULONG etw_properties_fill(const struct etw_properties *properties,
			  const struct wire_session_info *info);

/*
 * etw_properties_set_name() - a caller's session name as UTF-8.
 *
 * @name: WCHAR or UTF-8, not NULL
 *
 * Returns ERROR_SUCCESS, ERROR_INVALID_PARAMETER when it is too long or no text, or
 * ERROR_NOT_ENOUGH_MEMORY.
 */
ULONG etw_properties_set_name(const void *name, bool is_wide, char to[WIRE_MESSAGE_NAME_MAX + 1]);

#endif
