/* SPDX-License-Identifier: MIT */
/* The table is generated and sorted by GUID, member by member. */
#include "schema/provider_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

static const struct etw_provider_name provider_names[] = {
#include "schema/provider_names.inc"
};

static int compare(const void *key, const void *item)
{
	const GUID *left = key;
	const GUID *right = &((const struct etw_provider_name *)item)->guid;

	if (left->Data1 != right->Data1)
		return left->Data1 < right->Data1 ? -1 : 1;
	if (left->Data2 != right->Data2)
		return left->Data2 < right->Data2 ? -1 : 1;
	if (left->Data3 != right->Data3)
		return left->Data3 < right->Data3 ? -1 : 1;
	return memcmp(left->Data4, right->Data4, sizeof(left->Data4));
}

const char *etw_provider_name_find(const GUID *provider)
{
	const struct etw_provider_name *found = bsearch(provider, provider_names,
							ARRAY_SIZE(provider_names),
							sizeof(provider_names[0]), compare);

	return found ? found->name : NULL;
}

size_t etw_provider_name_count(void)
{
	return ARRAY_SIZE(provider_names);
}

const struct etw_provider_name *etw_provider_name_at(size_t index)
{
	return &provider_names[index];
}
