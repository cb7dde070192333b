/* SPDX-License-Identifier: MIT */
/* What is installed by what a user calls it. */
#ifndef ETW_TOOLS_WEVTUTIL_FIND_H
#define ETW_TOOLS_WEVTUTIL_FIND_H

#include "base/text.h"
#include "registry/registry.h"

/* A name, in any case, or a GUID. */
struct wevtutil_name {
	const char *word; /* borrowed */
	GUID guid;
	bool is_guid;
};

/* wevtutil_name_of() - what a word of the command line means. */
struct wevtutil_name wevtutil_name_of(const char *word);

/* wevtutil_is_listed() - whether `ep` has a line for a row: providers, and the modules of WPP messages. */
bool wevtutil_is_listed(const struct etw_registry_row *row);

/* wevtutil_is_called() - whether a row is listed, and by that name. */
bool wevtutil_is_called(const struct etw_registry_row *row, const struct wevtutil_name *name);

/*
 * wevtutil_find() - what is installed under a name, or under a GUID: providers before modules.
 *
 * @ret: the latest definition of it
 */
bool wevtutil_find(const struct etw_registry *registry, const char *word,
		   struct etw_registry_entry *ret);

/* wevtutil_find_hint() - appends what may help whoever asked for a name that is not installed, behind a semicolon. */
void wevtutil_find_hint(const struct etw_registry *registry, const char *word,
			struct etw_text *text);

#endif
