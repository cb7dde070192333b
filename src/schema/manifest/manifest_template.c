/* SPDX-License-Identifier: MIT */
/* Templates as field arrays: the top-level fields first, then the members of each struct. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"
#include "schema/types.h"

struct layout {
	struct etw_field *fields;
	uint16_t count; /* placed so far */
};

static bool is_data(const struct etw_xml_element *element)
{
	return strcmp(element->name, "data") == 0;
}

static bool is_struct(const struct etw_xml_element *element)
{
	return strcmp(element->name, "struct") == 0;
}

/* Where an element's length or count may refer to: its earlier siblings, then the outer fields. */
struct outlook {
	const struct etw_xml_element *parent; /* of the siblings */
	uint16_t outer_end; /* fields before the struct that the siblings are in; 0 at the top */
};

/* Of several fields of one name, the first is meant. */
static bool find_field(const struct manifest_reader *reader, const struct outlook *outlook,
		       const char *name, uint16_t *ret)
{
	const struct manifest_symbol *symbol = etw_manifest_find(reader, SYMBOL_FIELD,
								 outlook->parent, name);

	if (!symbol && outlook->outer_end)
		symbol = etw_manifest_find(reader, SYMBOL_FIELD, outlook->parent->parent, name);
	if (!symbol || (symbol->scope != outlook->parent && symbol->value >= outlook->outer_end))
		return false;
	*ret = (uint16_t)symbol->value;
	return true;
}

static int define_field(struct manifest_reader *reader, const struct etw_xml_element *element,
			const char *name, uint16_t index)
{
	int r = etw_manifest_define(reader, &(struct manifest_symbol){.kind = SYMBOL_FIELD,
								      .scope = element->parent,
								      .name = name,
								      .value = index});

	return r == MANIFEST_TAKEN ? etw_manifest_complain(reader, element,
							   "the name of a field is taken", name)
				   : r;
}

/*
 * A number, or the name of an earlier field. Like the message compiler, takes 0 as if the attribute were
 * absent; *ret is then left alone.
 *
 * Returns 0, the flag that applies, or -EBADMSG.
 */
static int read_extent(struct manifest_reader *reader, const struct etw_xml_element *element,
		       const char *attribute, const struct outlook *outlook, uint16_t *ret)
{
	bool is_count = strcmp(attribute, "count") == 0;
	const char *text = etw_xml_attribute(element, attribute);
	uint64_t value;

	if (!text)
		return 0;
	if (etw_manifest_number(text, UINT16_MAX, &value)) {
		if (!value)
			return 0;
		*ret = (uint16_t)value;
		return is_count ? PropertyParamFixedCount : PropertyParamFixedLength;
	}
	if (find_field(reader, outlook, text, ret))
		return is_count ? PropertyParamCount : PropertyParamLength;
	return etw_manifest_refuse(reader, element, attribute,
				   "a length or count is neither a number nor an earlier field");
}

static int read_count(struct manifest_reader *reader, const struct etw_xml_element *element,
		      const struct outlook *outlook, struct etw_field *field)
{
	int flag;

	field->count = 1;
	flag = read_extent(reader, element, "count", outlook, &field->count);
	if (flag > 0)
		field->flags |= (uint32_t)flag;
	return flag < 0 ? flag : 0;
}

static int read_length(struct manifest_reader *reader, const struct etw_xml_element *element,
		       const struct outlook *outlook, struct etw_field *field)
{
	int flag;

	field->length = etw_schema_length(field->in_type);
	/* Only these have a length to choose. */
	if (etw_schema_type(field->in_type)->extent != ETW_EXTENT_GIVEN)
		return 0;
	flag = read_extent(reader, element, "length", outlook, &field->length);
	if (flag > 0)
		field->flags |= (uint32_t)flag;
	return flag < 0 ? flag : 0;
}

static int read_map_name(struct manifest_reader *reader, const struct etw_xml_element *element,
			 struct etw_field *field)
{
	const char *name = etw_xml_attribute(element, "map");
	const struct manifest_symbol *map;

	if (!name)
		return 0;
	map = etw_manifest_find(reader, SYMBOL_MAP, reader->provider, name);
	if (!map) {
		TRY(etw_manifest_complain(reader, element, "the map of a field is not defined",
					  name));
		return etw_manifest_keep(reader, name, &field->map_name);
	}
	field->map = map->object;
	field->map_name = map->name;
	return 0;
}

static int read_out_type(struct manifest_reader *reader, const struct etw_xml_element *element,
			 struct etw_field *field)
{
	const char *name = etw_xml_attribute(element, "outType");

	field->out_type = etw_schema_out_type(field->in_type);
	if (name && !etw_manifest_out_type(name, &field->out_type))
		return etw_manifest_complain(reader, element, "the outType of a field is unknown",
					     name);
	return 0;
}

static int read_data(struct manifest_reader *reader, const struct etw_xml_element *element,
		     const struct outlook *outlook, struct etw_field *field)
{
	const char *in_type = etw_xml_attribute(element, "inType");

	if (!in_type || !etw_manifest_in_type(in_type, &field->in_type))
		return etw_manifest_refuse(reader, element, "inType",
					   "the inType of a field is missing or unknown");
	TRY(read_out_type(reader, element, field));
	TRY(read_length(reader, element, outlook, field));
	return read_map_name(reader, element, field);
}

/* The data and struct children of @parent, as the next fields. */
static int place_children(struct manifest_reader *reader, const struct etw_xml_element *parent,
			  struct layout *layout, uint16_t outer_end)
{
	const struct outlook outlook = {parent, outer_end};

	for (const struct etw_xml_element *at = parent->first_child; at; at = at->next) {
		struct etw_field field = {0};
		const char *name = etw_xml_attribute(at, "name");

		if (!is_data(at) && !is_struct(at))
			continue;
		if (!name)
			return etw_manifest_refuse(reader, at, "name", "a field has no name");
		if (is_struct(at))
			field.flags = PropertyStruct;
		TRY(read_count(reader, at, &outlook, &field));
		if (is_data(at))
			TRY(read_data(reader, at, &outlook, &field));
		TRY(etw_manifest_keep(reader, name, &field.name));
		layout->fields[layout->count] = field;
		TRY(etw_manifest_check_field(reader, at, layout->fields, layout->count));
		TRY(define_field(reader, at, field.name, layout->count));
		layout->count++;
	}
	return 0;
}

/* The members of the structs in @template, which are the first fields of the layout in order. */
static int place_structs(struct manifest_reader *reader, const struct etw_xml_element *template,
			 struct layout *layout)
{
	uint16_t index = 0;

	for (const struct etw_xml_element *at = template->first_child; at; at = at->next) {
		struct etw_field *field = &layout->fields[index];

		if (is_data(at))
			index++;
		if (!is_struct(at))
			continue;
		field->struct_first = layout->count;
		TRY(place_children(reader, at, layout, index));
		field->struct_count = (uint16_t)(layout->count - field->struct_first);
		index++;
	}
	return 0;
}

static size_t count_fields(const struct etw_xml_element *template)
{
	size_t count = 0;

	for (const struct etw_xml_element *at = template->first_child; at; at = at->next) {
		count += is_data(at) || is_struct(at);
		for (const struct etw_xml_element *member = is_struct(at) ? at->first_child : NULL;
		     member; member = member->next)
			count += is_data(member) || is_struct(member);
	}
	return count;
}

static int check_structs(struct manifest_reader *reader, const struct etw_xml_element *template)
{
	for (const struct etw_xml_element *at = etw_xml_first(template, "struct"); at;
	     at = etw_xml_next(at, "struct")) {
		if (etw_xml_first(at, "struct"))
			return etw_manifest_refuse(reader, etw_xml_first(at, "struct"), "struct",
						   "a struct lies within a struct");
	}
	return 0;
}

/* Filters are made of plain fields, the message compiler says. */
static const struct etw_field *find_odd(const struct manifest_template *template)
{
	for (uint16_t i = 0; i < template->top_count; i++) {
		const struct etw_field *field = &template->fields[i];

		if ((field->flags & PropertyStruct) || etw_field_is_array(field) || field->map_name)
			return field;
	}
	return NULL;
}

static int read_template(struct manifest_reader *reader, const struct etw_xml_element *element,
			 struct manifest_template *template)
{
	size_t count = count_fields(element);
	struct layout layout = {0};

	if (count > ETW_SCHEMA_FIELDS_MAX)
		return etw_manifest_refuse(reader, element, NULL,
					   "a template has more fields than the limit");
	TRY(check_structs(reader, element));
	layout.fields = etw_arena_array(reader->arena, count, sizeof(*layout.fields));
	if (!layout.fields)
		return -ENOMEM;
	TRY(place_children(reader, element, &layout, 0));
	template->top_count = layout.count;
	TRY(place_structs(reader, element, &layout));
	template->fields = layout.fields;
	template->field_count = layout.count;
	template->flags = etw_xml_first(element, "UserData") ? TEMPLATE_USER_DATA
							     : TEMPLATE_EVENT_DATA;
	template->element = element;
	template->odd_field = find_odd(template);
	return etw_manifest_check_template(reader, template);
}

int etw_manifest_read_templates(struct manifest_reader *reader)
{
	int r;

	for (const struct etw_xml_element *list = etw_xml_first(reader->provider, "templates");
	     list; list = etw_xml_next(list, "templates")) {
		for (const struct etw_xml_element *at = etw_xml_first(list, "template"); at;
		     at = etw_xml_next(at, "template")) {
			struct manifest_template *template = etw_arena_alloc(&reader->scratch,
									     sizeof(*template));
			struct manifest_symbol symbol = {
				.kind = SYMBOL_TEMPLATE,
				.scope = reader->provider,
				.name = etw_xml_attribute(at, "tid"),
				.object = template,
			};

			if (!template)
				return -ENOMEM;
			if (!symbol.name)
				return etw_manifest_refuse(reader, at, "tid",
							   "a template has no tid");
			TRY(read_template(reader, at, template));
			r = etw_manifest_define(reader, &symbol);
			TRY(r);
			if (r == MANIFEST_TAKEN)
				TRY(etw_manifest_complain(
					reader, at, "the tid of a template is taken", symbol.name));
		}
	}
	return 0;
}

const struct manifest_template *etw_manifest_find_template(const struct manifest_reader *reader,
							   const char *tid)
{
	const struct manifest_symbol *symbol = etw_manifest_find(reader, SYMBOL_TEMPLATE,
								 reader->provider, tid);

	return symbol ? symbol->object : NULL;
}
