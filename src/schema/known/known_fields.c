/* SPDX-License-Identifier: MIT */
/* Templates as arrays of fields, and maps. */
#include <errno.h>

#include "base/macros.h"
#include "schema/known/known_internal.h"
#include "schema/known/known_schema_internal.h"
#include "schema/types.h"

/* What one template becomes: its fields, then the members of each struct. */
struct shape {
	struct etw_field *fields;
	uint16_t count;
	uint16_t top_count;
};

static int make_entries(struct known_maker *maker, const struct etw_known_map *from,
			struct etw_map *map)
{
	struct etw_map_entry *entries;
	uint32_t count = etw_known_count(maker->known, WIRE_KNOWN_ENTRIES);

	if (from->entry_count > ETW_SCHEMA_MAP_ENTRIES_MAX || from->entry_count > count)
		return etw_known_damaged(maker->known, maker->known->bytes.at, "map", "entry_count",
					 "it has more entries than there can be");
	entries = etw_arena_array(maker->arena, from->entry_count, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->entry_count; i++) {
		const char *text;
		uint32_t value;

		TRY(etw_known_entry_at(maker->known, from, i, &value, &text));
		/* A value without a name is shown as the number that it is. */
		if (text)
			entries[map->count++] = (struct etw_map_entry){value, text};
	}
	map->entries = entries;
	return 0;
}

int etw_known_make_map(struct known_maker *maker, uint32_t index, const struct etw_map **ret)
{
	const struct etw_known_provider *provider = maker->provider;
	uint32_t place = index - provider->first_map;
	struct etw_known_map from;
	struct etw_map *map;

	TRY(etw_known_map_get(maker->known, index, &from));
	if (place >= provider->map_count ||
	    provider->map_count > etw_known_count(maker->known, WIRE_KNOWN_MAPS))
		return etw_known_damaged(maker->known, maker->known->bytes.at, "field", "link",
					 "the map of a field is not one of its provider's");
	if (!maker->maps)
		maker->maps = etw_arena_array(maker->arena, provider->map_count,
					      sizeof(*maker->maps));
	if (!maker->maps)
		return -ENOMEM;
	map = &maker->maps[place];
	if (!map->name) {
		map->name = from.name;
		map->flags = from.is_bits ? EVENTMAP_INFO_FLAG_MANIFEST_BITMAP
					  : EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP;
		TRY(make_entries(maker, &from, map));
	}
	*ret = map;
	return 0;
}

/* As in a manifest, only some types have a length to choose. */
static void set_extents(const struct etw_known_field *from, uint16_t first, struct etw_field *field)
{
	field->count = 1;
	if (from->flags & (WIRE_KNOWN_COUNT | WIRE_KNOWN_COUNT_FIELD)) {
		bool is_field = from->flags & WIRE_KNOWN_COUNT_FIELD;

		field->count = (uint16_t)(from->count + (is_field ? first : 0));
		field->flags |= is_field ? PropertyParamCount : PropertyParamFixedCount;
	}
	if (from->flags & WIRE_KNOWN_STRUCT)
		return;
	field->length = etw_schema_length(field->in_type);
	if (etw_schema_type(field->in_type)->extent != ETW_EXTENT_GIVEN)
		return;
	if (from->flags & (WIRE_KNOWN_LENGTH | WIRE_KNOWN_LENGTH_FIELD)) {
		bool is_field = from->flags & WIRE_KNOWN_LENGTH_FIELD;

		field->length = (uint16_t)(from->length + (is_field ? first : 0));
		field->flags |= is_field ? PropertyParamLength : PropertyParamFixedLength;
	}
}

/* Addresses of IPv6 have one length. */
static bool has_known_size(const struct etw_known_field *field)
{
	if (field->flags & WIRE_KNOWN_STRUCT)
		return field->link != WIRE_KNOWN_NONE;
	if (field->in_type != TDH_INTYPE_BINARY)
		return true;
	return (field->flags & (WIRE_KNOWN_LENGTH | WIRE_KNOWN_LENGTH_FIELD)) ||
	       field->out_type == TDH_OUTTYPE_IPV6;
}

static int count_known(struct known_maker *maker, uint32_t template, uint32_t *ret, bool *ret_whole)
{
	struct etw_known_field field;
	uint32_t count, marks;

	TRY(etw_known_template(maker->known, template, &count, &marks));
	*ret_whole = true;
	for (*ret = 0; *ret < count; ++*ret) {
		uint32_t members;

		TRY(etw_known_field_at(maker->known, template, *ret, &field));
		*ret_whole = has_known_size(&field);
		if (*ret_whole && (field.flags & WIRE_KNOWN_STRUCT)) {
			if (etw_known_count(maker->known, WIRE_KNOWN_TEMPLATES) <= field.link)
				return etw_known_damaged(maker->known, maker->known->bytes.at,
							 "field", "link",
							 "the members of a struct are not there");
			TRY(etw_known_template(maker->known, field.link, &members, &marks));
			*ret_whole = members > 0;
		}
		if (!*ret_whole)
			break;
	}
	return 0;
}

/* @count fields of a template, as the next of the shape. */
static int place_fields(struct known_maker *maker, uint32_t template, uint32_t count,
			struct shape *shape)
{
	uint16_t first = shape->count;

	if (count > (uint32_t)(ETW_SCHEMA_FIELDS_MAX - shape->count))
		return etw_known_damaged(maker->known, maker->known->bytes.at, "template", "count",
					 "an event has more fields than the limit");
	for (uint32_t i = 0; i < count; i++) {
		struct etw_field *field = &shape->fields[shape->count];
		struct etw_known_field from;

		TRY(etw_known_field_at(maker->known, template, i, &from));
		field->name = from.name;
		if (from.flags & WIRE_KNOWN_STRUCT) {
			if (shape->top_count)
				return etw_known_damaged(maker->known, maker->known->bytes.at,
							 "field", "link",
							 "a struct lies within a struct");
			field->flags = PropertyStruct;
		} else {
			field->in_type = from.in_type;
			field->out_type = from.out_type;
		}
		set_extents(&from, first, field);
		if (from.flags & WIRE_KNOWN_MAP) {
			TRY(etw_known_make_map(maker, from.link, &field->map));
			field->map_name = field->map->name;
		}
		shape->count++;
	}
	return 0;
}

static int place_members(struct known_maker *maker, uint32_t template, struct shape *shape)
{
	for (uint16_t i = 0; i < shape->top_count; i++) {
		struct etw_field *field = &shape->fields[i];
		struct etw_known_field from;
		uint32_t count;
		bool is_whole;

		if (!(field->flags & PropertyStruct))
			continue;
		TRY(etw_known_field_at(maker->known, template, i, &from));
		TRY(count_known(maker, from.link, &count, &is_whole));
		field->struct_first = shape->count;
		field->struct_count = (uint16_t)count;
		TRY(place_fields(maker, from.link, count, shape));
		if (!is_whole)
			return etw_known_damaged(maker->known, maker->known->bytes.at, "template",
						 "first", "the members of a struct have no size");
	}
	return 0;
}

/* All that the template may become, members of structs included. */
static int count_all(struct known_maker *maker, uint32_t template, uint32_t top, uint32_t *ret)
{
	*ret = top;
	for (uint32_t i = 0; i < top; i++) {
		struct etw_known_field field;
		uint32_t members, marks;

		TRY(etw_known_field_at(maker->known, template, i, &field));
		if (!(field.flags & WIRE_KNOWN_STRUCT))
			continue;
		TRY(etw_known_template(maker->known, field.link, &members, &marks));
		*ret += members;
		if (*ret > ETW_SCHEMA_FIELDS_MAX)
			return etw_known_damaged(maker->known, maker->known->bytes.at, "template",
						 "count",
						 "an event has more fields than the limit");
	}
	return 0;
}

int etw_known_make_fields(struct known_maker *maker, uint32_t template, struct etw_schema *schema)
{
	struct shape shape = {0};
	uint32_t top, all;
	bool is_whole;

	if (template == WIRE_KNOWN_NONE)
		return 0;
	TRY(count_known(maker, template, &top, &is_whole));
	TRY(count_all(maker, template, top, &all));
	maker->field_count += all;
	if (maker->field_count > KNOWN_FIELDS_MAX)
		return etw_known_damaged(maker->known, maker->known->bytes.at, "template", "count",
					 "the events have more fields than there can be");
	shape.fields = etw_arena_array(maker->arena, all, sizeof(*shape.fields));
	if (!shape.fields)
		return -ENOMEM;
	TRY(place_fields(maker, template, top, &shape));
	shape.top_count = shape.count;
	TRY(place_members(maker, template, &shape));
	schema->fields = shape.fields;
	schema->field_count = shape.count;
	schema->top_count = shape.top_count;
	schema->template_flags = TEMPLATE_EVENT_DATA;
	if (etw_schema_fields_check(schema))
		return etw_known_damaged(maker->known, maker->known->bytes.at, "template", NULL,
					 etw_schema_fields_check(schema));
	return 0;
}
