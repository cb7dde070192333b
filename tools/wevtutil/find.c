/* SPDX-License-Identifier: MIT */
#include "tools/wevtutil/find.h"

#include <string.h>

#include "base/guid.h"

bool wevtutil_find(const struct etw_registry *registry, const char *word, GUID *ret)
{
	bool is_guid = etw_guid_parse(word, ret) == 0;

	for (size_t i = 0; i < etw_registry_count(registry); i++) {
		const struct etw_registry_entry entry = etw_registry_entry(registry, i);

		if (entry.row.role != WIRE_REGISTRY_PROVIDER)
			continue;
		if (is_guid ? etw_guid_equal(&entry.row.guid, ret)
			    : entry.row.name && !strcasecmp(entry.row.name, word)) {
			*ret = entry.row.guid;
			return true;
		}
	}
	return false;
}
