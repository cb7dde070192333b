/* SPDX-License-Identifier: MIT */
#include "schema/mend.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/left_out.h"
#include "schema/types.h"
#include "wire/well_known.h"

static bool is_named(const struct etw_field *field, const char *name)
{
	return field->name && strcmp(field->name, name) == 0;
}

/* Said to be 32 bits; the kernel writes a pointer, as in the classic events of the same payload. */
static bool mend_connection(struct etw_field *fields, uint16_t last)
{
	struct etw_field *field = &fields[last];

	if (!is_named(field, "connid") || field->in_type != TDH_INTYPE_UINT32 || field->flags ||
	    field->count != 1 || field->map_name)
		return false;
	field->in_type = TDH_INTYPE_POINTER;
	field->out_type = etw_schema_out_type(TDH_INTYPE_POINTER);
	field->length = etw_schema_length(TDH_INTYPE_POINTER);
	return true;
}

/* Said to be two frames, the least that there are; FrameCount before it tells how many. */
static bool mend_stack(struct etw_field *fields, uint16_t last)
{
	struct etw_field *field = &fields[last];

	if (last == 0 || !is_named(field, "Stack") || field->in_type != TDH_INTYPE_POINTER ||
	    field->flags & ~(uint32_t)PropertyParamFixedCount || field->count != 2)
		return false;
	if (!is_named(field - 1, "FrameCount") || field[-1].in_type != TDH_INTYPE_UINT32 ||
	    field[-1].flags || field[-1].count != 1)
		return false;
	field->flags = PropertyParamCount;
	field->count = (uint16_t)(last - 1);
	return true;
}

static const struct mend {
	GUID provider;
	/* Puts the last top-level field right; false, nothing changed, when it lacks the error. */
	bool (*apply)(struct etw_field *fields, uint16_t last);
} mends[] = {
	/* Microsoft-Windows-Kernel-Network */
	{WIRE_PROVIDER_KERNEL_NETWORK, mend_connection},
	/* Microsoft-Windows-DotNETRuntime, and its Rundown, Stress and Private */
	{WIRE_PROVIDER_DOTNET_RUNTIME, mend_stack},
	{{0xa669021c, 0xc450, 0x4609, {0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18}},
	 mend_stack},
	{{0xcc2bcbba, 0x16b6, 0x4cf3, {0x89, 0x90, 0xd7, 0x4c, 0x2e, 0x8a, 0xf5, 0x00}},
	 mend_stack},
	{WIRE_PROVIDER_DOTNET_PRIVATE, mend_stack},
};

static const struct mend *find_mend(const struct etw_schema *schema)
{
	if (schema->source != DecodingSourceXMLFile || !schema->top_count)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(mends); i++) {
		if (etw_guid_equal(&mends[i].provider, &schema->provider))
			return &mends[i];
	}
	return NULL;
}

/* A copy of @schema with room for @field_count fields, those of the schema first. Returns NULL without memory. */
static struct etw_schema *copy_schema(const struct etw_schema *schema, uint16_t field_count,
				      struct etw_field **ret_fields)
{
	struct etw_schema *copy;
	struct etw_field *fields;

	_Static_assert(sizeof(*copy) % _Alignof(struct etw_field) == 0, "fields follow the schema");
	copy = malloc(sizeof(*copy) + field_count * sizeof(*fields));
	if (!copy)
		return NULL;
	fields = (struct etw_field *)(copy + 1);
	*copy = *schema;
	if (schema->field_count)
		memcpy(fields, schema->fields, schema->field_count * sizeof(*fields));
	copy->fields = fields;
	copy->field_count = field_count;
	copy->marks |= ETW_SCHEMA_MENDED;
	*ret_fields = fields;
	return copy;
}

/* The schema's own fields stay, with the maps and forms that they have. */
static int add_fields(const struct etw_schema *schema, const struct etw_left_out *layout,
		      struct etw_schema **ret)
{
	struct etw_field *fields;
	struct etw_schema *copy = copy_schema(schema, layout->field_count, &fields);

	if (!copy)
		return -ENOMEM;
	memcpy(fields + schema->field_count, layout->fields + schema->field_count,
	       (size_t)(layout->field_count - schema->field_count) * sizeof(*fields));
	copy->top_count = layout->top_count;
	*ret = copy;
	return 0;
}

int etw_schema_mend(const struct etw_schema *schema, unsigned nth, struct etw_schema **ret)
{
	const struct etw_left_out *layout = NULL;
	const struct mend *mend = find_mend(schema);
	struct etw_schema *copy;
	struct etw_field *fields;

	*ret = NULL;
	if (schema->source == DecodingSourceXMLFile)
		layout = etw_left_out_find(schema, nth);
	if (layout)
		return add_fields(schema, layout, ret);
	if (!mend || nth)
		return 0;
	copy = copy_schema(schema, schema->field_count, &fields);
	if (!copy)
		return -ENOMEM;
	if (mend->apply(fields, (uint16_t)(schema->top_count - 1)))
		*ret = copy;
	else
		free(copy);
	return 0;
}
