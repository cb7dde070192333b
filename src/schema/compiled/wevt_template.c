/* SPDX-License-Identifier: MIT */
/*
 * Templates as field arrays, which they are already: the top-level items first, then the members of each
 * struct. Events and filters share templates, so each is read once.
 */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/compiled/wevt_internal.h"
#include "schema/types.h"

#define USER_DATA 2 /* type of a template */

static bool is_template(const void *item, const void *key)
{
	return ((const struct wevt_template *)item)->offset == *(const uint32_t *)key;
}

static void read_count(const struct wire_wevt_item *wire, uint32_t flags, struct etw_field *field)
{
	field->count = 1;
	if (flags & WIRE_WEVT_ITEM_COUNT)
		field->flags |= PropertyParamCount;
	else if (flags & WIRE_WEVT_ITEM_FIXED_COUNT)
		field->flags |= PropertyParamFixedCount;
	else
		return;
	field->count = le16_get(wire->count);
}

/* Only texts and binaries have a length to choose; that of a SID says nothing. */
static void read_length(const struct wire_wevt_item *wire, uint32_t flags, struct etw_field *field)
{
	field->length = etw_schema_length(field->in_type);
	if (field->in_type != TDH_INTYPE_UNICODESTRING && field->in_type != TDH_INTYPE_ANSISTRING &&
	    field->in_type != TDH_INTYPE_BINARY)
		return;
	if (flags & WIRE_WEVT_ITEM_LENGTH)
		field->flags |= PropertyParamLength;
	else if (flags & WIRE_WEVT_ITEM_FIXED_LENGTH)
		field->flags |= PropertyParamFixedLength;
	else
		return;
	field->length = le16_get(wire->length);
}

static int read_item(struct wevt_reader *reader, uint32_t offset, const struct wire_wevt_item *wire,
		     struct etw_field *field)
{
	uint32_t flags = le32_get(wire->flags), map = le32_get(wire->map);

	TRY(etw_wevt_name(reader, le32_get(wire->name), &field->name));
	if (!field->name)
		return etw_wevt_refuse(reader, offset, "TEMP", "NameOffset", "a field has no name");
	read_count(wire, flags, field);
	if (flags & WIRE_WEVT_ITEM_STRUCT) {
		field->flags |= PropertyStruct;
		field->struct_first = etw_load16(wire->types);
		field->struct_count = etw_load16(wire->types + 2);
		return 0;
	}
	field->in_type = wire->types[0];
	field->out_type = wire->types[1] ? wire->types[1] : etw_schema_out_type(field->in_type);
	read_length(wire, flags, field);
	if (!map)
		return 0;
	field->map = etw_wevt_find_map(reader, map);
	if (!field->map)
		return etw_wevt_refuse(reader, offset, "TEMP", "MapOffset",
				       "the map of a field is none of the provider's");
	field->map_name = field->map->name;
	return 0;
}

static int read_items(struct wevt_reader *reader, uint32_t offset, struct wevt_template *template)
{
	struct etw_field *fields = etw_arena_array(reader->arena, template->field_count,
						   sizeof(*fields));
	const struct etw_schema schema = {.fields = fields,
					  .field_count = template->field_count,
					  .top_count = template->top_count};
	const char *sentence;
	const uint8_t *at;

	if (!fields)
		return -ENOMEM;
	TRY(etw_wevt_take(reader, offset, template->field_count * sizeof(struct wire_wevt_item),
			  "TEMP", &at));
	for (uint32_t i = 0; i < template->field_count; i++) {
		struct wire_wevt_item wire;

		memcpy(&wire, at + i * sizeof(wire), sizeof(wire));
		TRY(read_item(reader, offset + i * (uint32_t)sizeof(wire), &wire, &fields[i]));
	}
	sentence = etw_schema_fields_check(&schema);
	if (sentence)
		return etw_wevt_refuse(reader, offset, "TEMP", NULL, sentence);
	template->fields = fields;
	return 0;
}

static int make_template(struct wevt_reader *reader, struct wevt_template *template)
{
	struct wire_wevt_template wire;
	const uint8_t *at;

	TRY(etw_wevt_take(reader, template->offset, sizeof(wire), "TEMP", &at));
	memcpy(&wire, at, sizeof(wire));
	if (memcmp(wire.magic, "TEMP", sizeof(wire.magic)) != 0)
		return etw_wevt_refuse(reader, template->offset, "TEMP", "Signature",
				       "there is no template where an event or filter says");
	if (le32_get(wire.count) > ETW_SCHEMA_FIELDS_MAX ||
	    le32_get(wire.top_count) > le32_get(wire.count))
		return etw_wevt_refuse(reader, template->offset, "TEMP", "Count",
				       "the number of fields is beyond the limit");
	template->field_count = (uint16_t)le32_get(wire.count);
	template->top_count = (uint16_t)le32_get(wire.top_count);
	template->flags = le32_get(wire.type) == USER_DATA ? TEMPLATE_USER_DATA
							   : TEMPLATE_EVENT_DATA;
	return template->field_count ? read_items(reader, le32_get(wire.items), template) : 0;
}

int etw_wevt_read_template(struct wevt_reader *reader, uint32_t offset,
			   const struct wevt_template **ret)
{
	uint64_t hash = etw_hash_mix(reader->seed, offset);
	struct wevt_template *template = etw_table_find(&reader->templates, hash, is_template,
							&offset);

	if (!template) {
		template = etw_arena_alloc(&reader->scratch, sizeof(*template));
		if (!template)
			return -ENOMEM;
		template->offset = offset;
		TRY(make_template(reader, template));
		TRY(etw_table_insert(&reader->templates, hash, template));
	}
	*ret = template;
	return 0;
}

static int read_filter(struct wevt_reader *reader, const struct wire_wevt_filter *wire,
		       struct etw_filter_schema *filter)
{
	const struct wevt_template *template;

	filter->value = wire->value;
	filter->version = wire->version;
	TRY(etw_wevt_name(reader, le32_get(wire->name), &filter->name));
	TRY(etw_wevt_message(reader, le32_get(wire->message), &filter->message));
	if (!le32_get(wire->template))
		return 0;
	TRY(etw_wevt_read_template(reader, le32_get(wire->template), &template));
	filter->field_count = template->field_count;
	filter->top_count = template->top_count;
	filter->fields = template->fields;
	return 0;
}

int etw_wevt_read_filters(struct wevt_reader *reader)
{
	struct etw_filter_schema *filters;
	struct wevt_list list;

	TRY(etw_wevt_list(reader, WIRE_WEVT_FILTERS, "FLTR",
			  sizeof(struct wire_wevt_list) + sizeof(le32),
			  sizeof(struct wire_wevt_filter), &list));
	filters = etw_arena_array(reader->arena, list.count, sizeof(*filters));
	if (!filters)
		return -ENOMEM;
	for (uint32_t i = 0; i < list.count; i++) {
		struct wire_wevt_filter wire;

		memcpy(&wire, list.at + i * sizeof(wire), sizeof(wire));
		TRY(read_filter(reader, &wire, &filters[i]));
	}
	reader->provider->filters = filters;
	reader->provider->filter_count = list.count;
	return 0;
}
