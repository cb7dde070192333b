/* SPDX-License-Identifier: MIT */
/* A provider as `wevtutil gp` shows it. */
#ifndef ETW_TOOLS_WEVTUTIL_PUBLISHER_H
#define ETW_TOOLS_WEVTUTIL_PUBLISHER_H

#include "base/text.h"
#include "registry/registry.h"

struct wevtutil_publisher {
	const struct etw_registry_entry *entry;
	const struct etw_provider_schema *schema; /* NULL: only the index knows it */
	bool has_events;
	bool has_messages;
};

/* wevtutil_publisher_write() - appends the tree, as XML or with one key a line. */
void wevtutil_publisher_write(const struct wevtutil_publisher *publisher, bool is_xml,
			      struct etw_text *text);

#endif
