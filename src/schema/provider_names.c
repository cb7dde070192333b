/* SPDX-License-Identifier: MIT */
/* The table is generated and sorted by GUID, member by member. */
#include "schema/provider_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define ROW(a, b, c, d0, d1, d2, d3, d4, d5, d6, d7, name_) \
	{{(a), (b), (c), {d0, d1, d2, d3, d4, d5, d6, d7}}, name_},

static const struct etw_provider_name provider_names[] = {
#define PROVIDER ROW
#define FURTHER_NAME(...)
#include "schema/provider_names.inc"
#undef PROVIDER
#undef FURTHER_NAME
};

/* Of providers above: names that they had, or that other sources give them. */
static const struct etw_provider_name further_names[] = {
#define PROVIDER(...)
#define FURTHER_NAME ROW
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

static int find_guid(const struct etw_provider_name *names, size_t count, const char *name,
		     GUID *ret)
{
	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(names[i].name, name) == 0) {
			*ret = names[i].guid;
			return 0;
		}
	}
	return -ENOENT;
}

/* A name that a provider has goes before one that another had. */
int etw_provider_guid_find(const char *name, GUID *ret)
{
	if (find_guid(provider_names, ARRAY_SIZE(provider_names), name, ret) == 0)
		return 0;
	return find_guid(further_names, ARRAY_SIZE(further_names), name, ret);
}

size_t etw_provider_name_count(void)
{
	return ARRAY_SIZE(provider_names);
}

const struct etw_provider_name *etw_provider_name_at(size_t index)
{
	return &provider_names[index];
}
