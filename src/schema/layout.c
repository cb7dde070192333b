/* SPDX-License-Identifier: MIT */
#include "schema/layout.h"

#include <stddef.h>
#include <string.h>

#include "schema/types.h"

/* How much a field says besides its name and type. */
#define MAP_WORTH      4
#define OUT_TYPE_WORTH 1
#define NAME_WORTH     1

static bool is_same_text(const char *left, const char *right)
{
	return left == right || (left && right && !strcmp(left, right));
}

static bool is_same_field(const struct etw_field *left, const struct etw_field *right)
{
	if (!is_same_text(left->name, right->name) || left->flags != right->flags ||
	    left->count != right->count)
		return false;
	if (left->flags & PropertyStruct)
		return left->struct_first == right->struct_first &&
		       left->struct_count == right->struct_count;
	return left->in_type == right->in_type && left->length == right->length;
}

bool etw_layout_equal(const struct etw_schema *left, const struct etw_schema *right)
{
	if (left->field_count != right->field_count || left->top_count != right->top_count)
		return false;
	for (uint16_t i = 0; i < left->field_count; i++) {
		if (!is_same_field(&left->fields[i], &right->fields[i]))
			return false;
	}
	return true;
}

static uint32_t weigh_field(const struct etw_field *field)
{
	uint32_t worth = 0;

	if (field->flags & PropertyStruct)
		return 0;
	if (field->map_name)
		worth += MAP_WORTH;
	if (field->out_type && field->out_type != etw_schema_out_type(field->in_type))
		worth += OUT_TYPE_WORTH;
	return worth;
}

static uint32_t weigh(const struct etw_schema *schema)
{
	const char *const names[] = {
		schema->provider_name, schema->task_name,  schema->opcode_name,
		schema->event_name,    schema->level_name, schema->channel_name,
		schema->keywords,      schema->message,    schema->attributes,
	};
	uint32_t worth = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		worth += names[i] && *names[i] ? NAME_WORTH : 0;
	for (uint16_t i = 0; i < schema->field_count; i++)
		worth += weigh_field(&schema->fields[i]);
	return worth;
}

/* Doubt that concerns the reading of the payload. */
static unsigned doubts(const struct etw_schema *schema)
{
	return schema->marks & (ETW_SCHEMA_INCOMPLETE | ETW_SCHEMA_INFERRED | ETW_SCHEMA_DOUBTFUL);
}

static int compare_numbers(size_t left, size_t right)
{
	return (left > right) - (left < right);
}

int etw_layout_compare(const struct etw_schema *left, const struct etw_schema *right)
{
	int order = compare_numbers(!doubts(left), !doubts(right));

	if (!order)
		order = compare_numbers(left->field_count, right->field_count);
	return order ? order : compare_numbers(weigh(left), weigh(right));
}

static size_t count_names(const struct etw_provider_schema *provider)
{
	return provider->task_count + provider->opcode_count + provider->keyword_count +
	       provider->map_count;
}

int etw_layout_compare_providers(const struct etw_provider_schema *left,
				 const struct etw_provider_schema *right)
{
	int order = compare_numbers(left->schema_count, right->schema_count);

	return order ? order : compare_numbers(count_names(left), count_names(right));
}
