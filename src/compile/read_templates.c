/* SPDX-License-Identifier: MIT */
/* Templates, their fields, and filters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tdh.h>

#include "base/macros.h"
#include "base/number.h"
#include "compile/read_internal.h"
#include "schema/manifest/manifest_types.h"
#include "schema/types.h"

struct field_list {
	struct mc_field *first, *last;
	const void *scope;
	uint16_t count;
};

static bool is_integer(uint16_t type)
{
	return (type >= TDH_INTYPE_INT8 && type <= TDH_INTYPE_UINT64) ||
	       type == TDH_INTYPE_HEXINT32 || type == TDH_INTYPE_HEXINT64;
}

static bool is_counted(uint16_t type)
{
	return type == TDH_INTYPE_MANIFEST_COUNTEDSTRING ||
	       type == TDH_INTYPE_MANIFEST_COUNTEDANSISTRING ||
	       type == TDH_INTYPE_MANIFEST_COUNTEDBINARY;
}

static int read_extent(struct mc_reader *reader, const struct field_list *list,
		       const struct mc_field *field, const char *attribute, struct mc_extent *ret)
{
	const char *text = etw_xml_attribute(field->element, attribute);
	const struct mc_field *other;
	uint64_t number;

	if (!text)
		return 0;
	ret->is_given = true;
	if (etw_number_parse(text, UINT16_MAX, &number)) {
		ret->number = (uint16_t)number;
		return 0;
	}
	if (*text >= '0' && *text <= '9')
		return etw_compile_complain(reader, field->element,
					    "the %s %s of the field %s is above 65535", attribute,
					    text, field->name);
	other = etw_compile_find(reader, SYMBOL_FIELD, list->scope, text);
	if (!other)
		return etw_compile_complain(
			reader, field->element,
			"the %s of the field %s is %s, which is no field before it", attribute,
			field->name, text);
	if (other->is_struct || !is_integer(other->in_type) || other->count.is_given)
		return etw_compile_complain(reader, field->element,
					    "the %s of the field %s is %s, which is no integer",
					    attribute, field->name, text);
	ret->field = other;
	return 0;
}

static int read_types(struct mc_reader *reader, struct mc_field *field)
{
	const struct etw_xml_element *element = field->element;
	const char *in_type = etw_xml_attribute(element, "inType");
	const char *out_type = etw_xml_attribute(element, "outType");

	if (!in_type)
		return 0;
	if (!etw_compile_has_namespace(element, in_type) ||
	    !etw_manifest_in_type(in_type, &field->in_type))
		return etw_compile_complain(reader, element, "there is no inType %s", in_type);
	field->out_type = etw_schema_out_type(field->in_type);
	if (!out_type)
		return 0;
	field->has_out_type = true;
	if (!etw_compile_has_namespace(element, out_type) ||
	    !etw_manifest_out_type(out_type, &field->out_type))
		return etw_compile_complain(reader, element, "there is no outType %s", out_type);
	if (!etw_manifest_is_pair(field->in_type, field->out_type))
		return etw_compile_complain(reader, element,
					    "the outType %s does not go with the inType %s",
					    out_type, in_type);
	return 0;
}

static int check_length(struct mc_reader *reader, const struct mc_field *field)
{
	bool is_text = field->in_type == TDH_INTYPE_UNICODESTRING ||
		       field->in_type == TDH_INTYPE_ANSISTRING;

	if (field->in_type == TDH_INTYPE_BINARY && !field->length.is_given &&
	    field->out_type != TDH_OUTTYPE_IPV6)
		return etw_compile_complain(reader, field->element,
					    "the field %s is win:Binary and needs a length",
					    field->name);
	if (is_counted(field->in_type) && field->length.is_given)
		return etw_compile_complain(reader, field->element,
					    "the field %s carries its length and must not have one",
					    field->name);
	if (field->length.is_given && !is_text && field->in_type != TDH_INTYPE_BINARY &&
	    field->in_type != TDH_INTYPE_SID && !is_counted(field->in_type))
		return etw_compile_warn(reader, field->element,
					"the length of the field %s means nothing for its type",
					field->name);
	return 0;
}

static int read_map(struct mc_reader *reader, struct mc_field *field)
{
	const char *map = etw_xml_attribute(field->element, "map");

	if (!map)
		return 0;
	field->map = etw_compile_find(reader, SYMBOL_MAP, reader->provider, map);
	if (!field->map)
		return etw_compile_complain(reader, field->element, "there is no map %s", map);
	if (field->in_type != TDH_INTYPE_UINT8 && field->in_type != TDH_INTYPE_UINT16 &&
	    field->in_type != TDH_INTYPE_UINT32 && field->in_type != TDH_INTYPE_HEXINT32)
		return etw_compile_complain(
			reader, field->element,
			"the field %s has a map, which goes with UInt8, UInt16 and UInt32 only",
			field->name);
	return 0;
}

static int add_field(struct mc_reader *reader, struct field_list *list,
		     const struct etw_xml_element *element, struct mc_field **ret)
{
	struct mc_field *field = etw_compile_new(reader, sizeof(*field));

	if (!field)
		return -ENOMEM;
	field->element = element;
	field->name = etw_xml_attribute(element, "name");
	if (!field->name)
		field->name = "";
	field->index = list->count++;
	TRY(read_extent(reader, list, field, "count", &field->count));
	TRY(read_extent(reader, list, field, "length", &field->length));
	TRY(etw_compile_claim(reader, element, SYMBOL_FIELD, list->scope, field->name, field,
			      "field"));
	MC_APPEND(list->first, list->last, field);
	*ret = field;
	return 0;
}

static int read_data(struct mc_reader *reader, struct field_list *list,
		     const struct etw_xml_element *element)
{
	struct mc_field *field;

	TRY(add_field(reader, list, element, &field));
	TRY(read_types(reader, field));
	TRY(check_length(reader, field));
	return read_map(reader, field);
}

static int read_struct(struct mc_reader *reader, struct field_list *list,
		       const struct etw_xml_element *element)
{
	struct field_list members = {.scope = element};
	struct mc_field *field;

	TRY(add_field(reader, list, element, &field));
	field->is_struct = true;
	for (const struct etw_xml_element *at = etw_xml_first(element, "data"); at;
	     at = etw_xml_next(at, "data"))
		TRY(read_data(reader, &members, at));
	field->members = members.first;
	field->member_count = members.count;
	if (!members.count)
		return etw_compile_complain(reader, element, "the struct %s is empty", field->name);
	return 0;
}

static uint64_t fixed_size(const struct mc_field *field)
{
	uint64_t size = 0;
	uint64_t count = field->count.is_given && !field->count.field ? field->count.number : 1;

	for (const struct mc_field *member = field->members; member; member = member->next)
		size += fixed_size(member);
	if (!field->is_struct)
		size = field->length.is_given && !field->length.field
			       ? (uint64_t)field->length.number *
					 (field->in_type == TDH_INTYPE_UNICODESTRING ? 2 : 1)
			       : etw_schema_length(field->in_type);
	return size * (count ? count : 1);
}

/* "%n" in the text of an element stands for a field. */
static int check_user_data(struct mc_reader *reader, const struct mc_template *template,
			   const struct etw_xml_element *element)
{
	for (const struct etw_xml_element *at = element->first_child; at; at = at->next) {
		const char *text = at->text ? strchr(at->text, '%') : NULL;
		uint64_t number = 0;

		for (; text && (text = strchr(text, '%')) && number <= template->field_count;)
			number = strtoull(++text, NULL, 10);
		if (number > template->field_count)
			TRY(etw_compile_complain(
				reader, at, "<%s> refers to %%%llu, and the template %s has %u %s",
				at->name, (unsigned long long)number, template->tid,
				template->field_count,
				template->field_count == 1 ? "field" : "fields"));
		TRY(check_user_data(reader, template, at));
	}
	return 0;
}

static int check_template(struct mc_reader *reader, const struct mc_template *template)
{
	uint64_t size = 0;
	size_t roots = 0;

	for (const struct mc_field *field = template->fields; field; field = field->next)
		size += fixed_size(field);
	if (size >= 65536)
		TRY(etw_compile_complain(reader, template->element,
					 "the data of the template %s has 64 KiB or more",
					 template->tid));
	if (template->field_count > MC_FIELDS_MAX)
		TRY(etw_compile_complain(reader, template->element,
					 "the template %s has more than %d fields", template->tid,
					 MC_FIELDS_MAX));
	if (!template->user_data)
		return 0;
	TRY(check_user_data(reader, template, template->user_data));
	for (const struct etw_xml_element *at = template->user_data->first_child; at; at = at->next)
		roots++;
	if (roots != 1)
		return etw_compile_complain(reader, template->user_data,
					    "<UserData> must hold exactly one element");
	return 0;
}

static int read_template(struct mc_reader *reader, const struct etw_xml_element *element)
{
	struct mc_provider *provider = reader->provider;
	struct mc_template *template = etw_compile_new(reader, sizeof(*template));
	struct field_list list = {.scope = template};

	if (!template)
		return -ENOMEM;
	template->element = element;
	template->tid = etw_xml_attribute(element, "tid");
	template->name = etw_xml_attribute(element, "name");
	template->user_data = etw_xml_first(element, "UserData");
	if (!template->tid)
		template->tid = "";
	for (const struct etw_xml_element *at = element->first_child; at; at = at->next) {
		if (strcmp(at->name, "data") == 0)
			TRY(read_data(reader, &list, at));
		else if (strcmp(at->name, "struct") == 0)
			TRY(read_struct(reader, &list, at));
	}
	template->fields = list.first;
	template->field_count = template->all_count = list.count;
	for (const struct mc_field *field = list.first; field; field = field->next)
		template->all_count = (uint16_t)(template->all_count + field->member_count);
	TRY(etw_compile_claim(reader, element, SYMBOL_TEMPLATE, provider, template->tid, template,
			      "template"));
	MC_APPEND(provider->templates, provider->last_template, template);
	return check_template(reader, template);
}

int etw_compile_read_templates(struct mc_reader *reader)
{
	for (const struct etw_xml_element *list =
		     etw_xml_first(reader->provider->element, "templates");
	     list; list = etw_xml_next(list, "templates")) {
		for (const struct etw_xml_element *at = etw_xml_first(list, "template"); at;
		     at = etw_xml_next(at, "template"))
			TRY(read_template(reader, at));
	}
	return 0;
}

const struct mc_template *etw_compile_find_template(struct mc_reader *reader, const char *tid)
{
	return etw_compile_find(reader, SYMBOL_TEMPLATE, reader->provider, tid);
}

static int check_filter_template(struct mc_reader *reader, const struct mc_filter *filter)
{
	const struct mc_template *template = filter->template_of;
	const char *odd = template->user_data ? "user data" : NULL;

	for (const struct mc_field *field = template->fields; field && !odd; field = field->next) {
		if (field->is_struct)
			odd = "a struct";
		else if (field->count.is_given)
			odd = "an array";
		else if (field->map)
			odd = "a map";
	}
	if (!odd)
		return 0;
	return etw_compile_complain(
		reader, filter->element,
		"the template of the filter %s has %s, which no filter may have", filter->name,
		odd);
}

static int read_filter(struct mc_reader *reader, const struct etw_xml_element *element)
{
	struct mc_provider *provider = reader->provider;
	struct mc_filter *filter = etw_compile_new(reader, sizeof(*filter));
	const char *tid = etw_xml_attribute(element, "tid");

	if (!filter)
		return -ENOMEM;
	filter->element = element;
	filter->name = etw_xml_attribute(element, "name");
	filter->symbol = etw_compile_attribute_symbol(element);
	filter->value = (uint8_t)etw_compile_attribute_number(element, "value", 0);
	filter->version = (uint8_t)etw_compile_attribute_number(element, "version", 0);
	if (!filter->name)
		filter->name = "";
	TRY(etw_compile_message(reader, element, &filter->message));
	TRY(etw_compile_claim(reader, element, SYMBOL_FILTER, provider, filter->name, filter,
			      "filter"));
	TRY(etw_compile_claim(reader, element, SYMBOL_FILTER + MC_SYMBOL, provider, filter->symbol,
			      filter, "filter's symbol"));
	TRY(etw_compile_claim_number(reader, element, SYMBOL_FILTER + MC_VALUE, provider,
				     filter->value | (uint64_t)filter->version << 8,
				     "filter's value and version"));
	MC_APPEND(provider->filters, provider->last_filter, filter);
	if (!tid)
		return 0;
	filter->template_of = etw_compile_find_template(reader, tid);
	if (!filter->template_of)
		return etw_compile_complain(reader, element, "there is no template %s", tid);
	return check_filter_template(reader, filter);
}

int etw_compile_read_filters(struct mc_reader *reader)
{
	for (const struct etw_xml_element *list =
		     etw_xml_first(reader->provider->element, "filters");
	     list; list = etw_xml_next(list, "filters")) {
		for (const struct etw_xml_element *at = etw_xml_first(list, "filter"); at;
		     at = etw_xml_next(at, "filter"))
			TRY(read_filter(reader, at));
	}
	return 0;
}
