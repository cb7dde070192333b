/* SPDX-License-Identifier: MIT */
/* Templates: which fields are the same, and the fields as elements. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"
#include "schema/manifest/manifest_types.h"
#include "schema/manifest/manifest_write_internal.h"
#include "schema/types.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return text ? etw_hash_bytes(hash, text, strlen(text) + 1) : etw_hash_mix(hash, 0);
}

static uint64_t hash_template(uint64_t seed, const struct written_template *template)
{
	uint64_t hash = etw_hash_mix(seed + template->is_user_data, template->top_count);

	for (uint16_t i = 0; i < template->field_count; i++) {
		const struct etw_field *field = &template->fields[i];

		hash = hash_text(hash_text(hash, field->name), field->map_name);
		hash = etw_hash_mix(hash, (uint64_t)field->flags << 32 |
						  (uint32_t)field->in_type << 16 | field->out_type);
		hash = etw_hash_mix(
			hash, (uint64_t)field->count << 48 | (uint64_t)field->length << 32 |
				      (uint32_t)field->struct_first << 16 | field->struct_count);
	}
	return hash;
}

static bool same_text(const char *left, const char *right)
{
	return left == right || (left && right && strcmp(left, right) == 0);
}

static bool same_field(const struct etw_field *left, const struct etw_field *right)
{
	return left->flags == right->flags && left->in_type == right->in_type &&
	       left->out_type == right->out_type && left->count == right->count &&
	       left->length == right->length && left->struct_first == right->struct_first &&
	       left->struct_count == right->struct_count && same_text(left->name, right->name) &&
	       same_text(left->map_name, right->map_name);
}

static bool is_template(const void *item, const void *key)
{
	const struct written_template *left = item;
	const struct written_template *right = key;

	if (left->is_user_data != right->is_user_data || left->top_count != right->top_count ||
	    left->field_count != right->field_count)
		return false;
	if (left->fields == right->fields)
		return true;
	for (uint16_t i = 0; i < left->field_count; i++) {
		if (!same_field(&left->fields[i], &right->fields[i]))
			return false;
	}
	return true;
}

static bool is_place(const void *item, const void *key)
{
	const struct written_template *left = &((const struct written_place *)item)->key;
	const struct written_template *right = key;

	return left->fields == right->fields && left->field_count == right->field_count &&
	       left->top_count == right->top_count && left->is_user_data == right->is_user_data;
}

static uint64_t hash_place(uint64_t seed, const struct written_template *template)
{
	return etw_hash_mix(etw_hash_mix(seed, (uint64_t)(uintptr_t) template->fields),
			    (uint64_t) template->field_count << 32 |
				    (uint32_t) template->top_count << 1 | template->is_user_data);
}

const struct written_template *etw_write_find_template(const struct manifest_writer *writer,
						       const struct written_template *template)
{
	const struct written_place *place = etw_table_find(
		&writer->places, hash_place(writer->seed, template), is_place, template);

	return place ? place->template : NULL;
}

static int add_content(struct manifest_writer *writer, struct written_template *template)
{
	template->number = writer->templates.count + 1;
	TRY(etw_table_insert(&writer->templates, hash_template(writer->seed, template), template));
	if (writer->last_template)
		writer->last_template->next = template;
	else
		writer->first_template = template;
	writer->last_template = template;
	return 0;
}

/* Many events share fields in memory: those are looked at once. */
int etw_write_add_template(struct manifest_writer *writer, const struct written_template *template)
{
	struct written_template *known;
	struct written_place *place;

	if (etw_write_find_template(writer, template))
		return 0;
	known = etw_table_find(&writer->templates, hash_template(writer->seed, template),
			       is_template, template);
	place = etw_arena_alloc(&writer->arena, sizeof(*place));
	if (!place)
		return -ENOMEM;
	if (!known) {
		known = etw_arena_copy(&writer->arena, template, sizeof(*template));
		if (!known)
			return -ENOMEM;
		TRY(add_content(writer, known));
	}
	*place = (struct written_place){*template, known};
	return etw_table_insert(&writer->places, hash_place(writer->seed, template), place);
}

/* The name of an earlier field, or a number. */
static void write_extent(struct etw_text *text, const char *attribute,
			 const struct written_template *template, bool is_field, bool is_fixed,
			 uint16_t value)
{
	if (is_field && value < template->field_count)
		etw_write_attribute(text, attribute, template->fields[value].name);
	else if (is_fixed)
		etw_write_number(text, attribute, value);
}

static void write_count(struct etw_text *text, const struct written_template *template,
			const struct etw_field *field)
{
	write_extent(text, "count", template, field->flags & PropertyParamCount,
		     (field->flags & PropertyParamFixedCount) || field->count != 1, field->count);
}

static int write_data(struct etw_text *text, const struct written_template *template,
		      const struct etw_field *field, const char *indent)
{
	const char *in_type = etw_manifest_in_type_name(field->in_type);

	if (!in_type)
		return -EOPNOTSUPP;
	etw_text_printf(text, "%s<data", indent);
	etw_write_attribute(text, "name", field->name ? field->name : "");
	etw_write_attribute(text, "inType", in_type);
	if (field->out_type != etw_schema_out_type(field->in_type))
		etw_write_attribute(text, "outType", etw_manifest_out_type_name(field->out_type));
	etw_write_attribute(text, "map", field->map_name);
	write_extent(text, "length", template, field->flags & PropertyParamLength,
		     field->flags & PropertyParamFixedLength, field->length);
	write_count(text, template, field);
	etw_text_puts(text, "/>\n");
	return 0;
}

/* Structs of manifests do not nest. */
static int write_struct(struct etw_text *text, const struct written_template *template,
			const struct etw_field *field)
{
	uint32_t end = (uint32_t)field->struct_first + field->struct_count;

	if (end > template->field_count)
		return -EOPNOTSUPP;
	etw_text_puts(text, "\t\t\t\t\t\t<struct");
	etw_write_attribute(text, "name", field->name ? field->name : "");
	write_count(text, template, field);
	etw_text_puts(text, ">\n");
	for (uint32_t i = field->struct_first; i < end; i++) {
		if (template->fields[i].flags & PropertyStruct)
			return -EOPNOTSUPP;
		TRY(write_data(text, template, &template->fields[i], "\t\t\t\t\t\t\t"));
	}
	etw_text_puts(text, "\t\t\t\t\t\t</struct>\n");
	return 0;
}

/* The model does not keep the XML that a UserData template stands for; this is one that holds it all. */
static void write_user_data(struct etw_text *text, const struct written_template *template)
{
	etw_text_puts(text, "\t\t\t\t\t\t<UserData>\n\t\t\t\t\t\t\t<EventXml>\n");
	for (unsigned i = 1; i <= template->top_count; i++)
		etw_text_printf(text, "\t\t\t\t\t\t\t\t<Param%u>%%%u</Param%u>\n", i, i, i);
	etw_text_puts(text, "\t\t\t\t\t\t\t</EventXml>\n\t\t\t\t\t\t</UserData>\n");
}

static int write_template(struct etw_text *text, const struct written_template *template)
{
	etw_text_printf(text, "\t\t\t\t\t<template tid=\"template.%zu\">\n", template->number);
	for (uint16_t i = 0; i < template->top_count; i++) {
		const struct etw_field *field = &template->fields[i];

		if (field->flags & PropertyStruct)
			TRY(write_struct(text, template, field));
		else
			TRY(write_data(text, template, field, "\t\t\t\t\t\t"));
	}
	if (template->is_user_data)
		write_user_data(text, template);
	etw_text_puts(text, "\t\t\t\t\t</template>\n");
	return 0;
}

int etw_write_templates(struct manifest_writer *writer)
{
	if (!writer->first_template)
		return 0;
	etw_text_puts(writer->text, "\t\t\t\t<templates>\n");
	for (const struct written_template *at = writer->first_template; at; at = at->next)
		TRY(write_template(writer->text, at));
	etw_text_puts(writer->text, "\t\t\t\t</templates>\n");
	return 0;
}
