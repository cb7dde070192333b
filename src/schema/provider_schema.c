/* SPDX-License-Identifier: MIT */
#include "schema/provider_schema.h"

#include <errno.h>

int etw_definition_create(struct etw_arena *arena, size_t count, struct etw_definition **ret)
{
	struct etw_definition *definition = etw_arena_alloc(arena, sizeof(*definition));

	if (!definition)
		return -ENOMEM;
	definition->providers = etw_arena_array(arena, count, sizeof(*definition->providers));
	if (!definition->providers)
		return -ENOMEM;
	*ret = definition;
	return 0;
}
