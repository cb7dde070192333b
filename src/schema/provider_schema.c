/* SPDX-License-Identifier: MIT */
#include "schema/provider_schema.h"

#include <errno.h>

#include "base/guid.h"

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

const struct etw_schema *etw_provider_schema_event(const struct etw_provider_schema *provider,
						   uint16_t id, uint8_t version)
{
	for (size_t i = 0; i < provider->schema_count; i++) {
		const EVENT_DESCRIPTOR *descriptor = &provider->schemas[i].descriptor;

		if (descriptor->Id == id && descriptor->Version == version)
			return &provider->schemas[i];
	}
	return NULL;
}

void etw_provider_schema_show_control(const struct etw_provider_schema *provider,
				      struct etw_schema *schema)
{
	if (etw_guid_is_null(&provider->control_guid))
		return;
	schema->event_guid = provider->control_guid;
	schema->template_flags |= TEMPLATE_CONTROL_GUID;
}
