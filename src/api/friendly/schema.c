/* SPDX-License-Identifier: MIT */
/* etw/schemas.h: what one schema says. A struct libetw_schema is a struct etw_schema under its public name. */
#include <etw/schemas.h>

#include <errno.h>
#include <string.h>

#include "api/friendly/error.h"
#include "api/friendly/schema.h"
#include "base/atomic.h"
#include "base/macros.h"
#include "decode/format.h"
#include "schema/origin.h"

static const struct etw_schema *inside(const struct libetw_schema *schema)
{
	return (const struct etw_schema *)schema;
}

const GUID *libetw_schema_provider(const struct libetw_schema *schema)
{
	/* What the headers of classic events carry is their class. */
	return inside(schema)->source == DecodingSourceWbem ? &inside(schema)->event_guid
							    : &inside(schema)->provider;
}

const EVENT_DESCRIPTOR *libetw_schema_descriptor(const struct libetw_schema *schema)
{
	return &inside(schema)->descriptor;
}

const char *libetw_schema_text(const struct libetw_schema *schema, enum libetw_schema_text which)
{
	const struct etw_schema *from = inside(schema);

	switch (which) {
	case LIBETW_SCHEMA_PROVIDER_NAME:
		return from->provider_name;
	case LIBETW_SCHEMA_EVENT_NAME:
		return from->event_name;
	case LIBETW_SCHEMA_TASK_NAME:
		return from->task_name;
	case LIBETW_SCHEMA_OPCODE_NAME:
		return from->opcode_name;
	case LIBETW_SCHEMA_LEVEL_NAME:
		return from->level_name;
	case LIBETW_SCHEMA_CHANNEL_NAME:
		return from->channel_name;
	case LIBETW_SCHEMA_KEYWORDS:
		return from->keywords;
	case LIBETW_SCHEMA_MESSAGE:
		return from->message;
	case LIBETW_SCHEMA_SYMBOL:
		return from->symbol;
	case LIBETW_SCHEMA_ORIGIN:
		return etw_schema_origin_name((enum etw_schema_origin)from->origin);
	case LIBETW_SCHEMA_MARKS:
		return etw_schema_marks_text(from->marks);
	}
	return NULL;
}

/* The name without the prefix of Windows' own levels and opcodes. */
static const char *bare(const char *name)
{
	return strncmp(name, "win:", 4) ? name : name + 4;
}

void etw_schema_title(const struct etw_schema *schema, struct etw_text *text)
{
	const char *opcode = schema->opcode_name;

	if (schema->event_name) {
		etw_text_puts(text, schema->event_name);
		return;
	}
	/* The opcode that says nothing is not said. */
	if (opcode && !strcmp(bare(opcode), "Info") && schema->task_name)
		opcode = NULL;
	if (schema->task_name)
		etw_text_puts(text, schema->task_name);
	if (schema->task_name && opcode)
		etw_text_putc(text, '/');
	if (opcode)
		etw_text_puts(text, bare(opcode));
	if (!schema->task_name && !opcode)
		etw_text_printf(text, "%u", schema->descriptor.Id);
}

size_t libetw_schema_name(const struct libetw_schema *schema, char *text, size_t bytes)
{
	CLEANUP(etw_text_done) struct etw_text name = {0};
	size_t shown;

	etw_schema_title(inside(schema), &name);
	if (bytes) {
		shown = name.bytes < bytes ? name.bytes : bytes - 1;
		memcpy(text, etw_text_string(&name), shown);
		text[shown] = '\0';
	}
	return name.bytes;
}

size_t libetw_schema_field_count(const struct libetw_schema *schema)
{
	return inside(schema)->field_count;
}

size_t libetw_schema_top_count(const struct libetw_schema *schema)
{
	return inside(schema)->top_count;
}

int libetw_schema_field(const struct libetw_schema *schema, size_t index,
			struct libetw_field_info *ret)
{
	const struct etw_schema *from = inside(schema);
	const struct etw_field *field;
	bool is_struct;

	if (index >= from->field_count)
		return etw_friendly_fail(-ENOENT, "the schema has %u fields", from->field_count);
	field = &from->fields[index];
	is_struct = field->flags & PropertyStruct;
	/* The map may come later than the event; pairs with learn_map() of the store. */
	*ret = (struct libetw_field_info){
		.name = field->name,
		.map_name = field->map_name,
		.map = (const struct libetw_map *)load_acquire(&field->map),
		.flags = field->flags & ~(ETW_FIELD_OPTIONAL | ETW_FIELD_TO_END),
		.in_type = is_struct ? 0 : field->in_type,
		.out_type = is_struct ? 0 : field->out_type,
		.count = field->count,
		.length = field->length,
		.first_member = is_struct ? field->struct_first : 0,
		.member_count = is_struct ? field->struct_count : 0,
		.is_array = etw_field_is_array(field) != 0,
		.is_struct = is_struct,
	};
	return 0;
}

size_t libetw_map_count(const struct libetw_map *map)
{
	return ((const struct etw_map *)map)->count;
}

int libetw_map_is_bits(const struct libetw_map *map)
{
	return etw_format_map_is_bits((const struct etw_map *)map);
}

const char *libetw_map_entry(const struct libetw_map *map, size_t index, uint32_t *ret_value)
{
	const struct etw_map *from = (const struct etw_map *)map;

	if (index >= from->count)
		return NULL;
	if (ret_value)
		*ret_value = etw_format_map_value(from, (uint32_t)index);
	return from->entries[index].text;
}
