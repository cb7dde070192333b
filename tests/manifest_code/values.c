/* SPDX-License-Identifier: MIT */
#include "manifest_code/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tdh.h>

#include "base/macros.h"

#define NUMBER_MOST   6 /* of elements and of units, in fields that say so */
#define TEXT_UNITS    120
#define IPV6_BYTES    16
#define SID_PARTS     15
#define NUMBERS_COUNT 99

/* A field that says how many elements or units another one has. */
struct values_number {
	const struct mc_field *field;
	uint32_t number;
};

struct type {
	uint16_t in_type;
	const char *name;
	uint8_t bytes; /* of one value; of texts and binary data: of one unit */
	bool is_by_value;
};

static const struct type types[] = {
	{TDH_INTYPE_UNICODESTRING, "WCHAR", 2, false},
	{TDH_INTYPE_ANSISTRING, "char", 1, false},
	{TDH_INTYPE_INT8, "signed char", 1, true},
	{TDH_INTYPE_UINT8, "unsigned char", 1, true},
	{TDH_INTYPE_INT16, "signed short", 2, true},
	{TDH_INTYPE_UINT16, "unsigned short", 2, true},
	{TDH_INTYPE_INT32, "signed int", 4, true},
	{TDH_INTYPE_UINT32, "unsigned int", 4, true},
	{TDH_INTYPE_INT64, "LONGLONG", 8, true},
	{TDH_INTYPE_UINT64, "ULONGLONG", 8, true},
	{TDH_INTYPE_FLOAT, "float", 4, true},
	{TDH_INTYPE_DOUBLE, "double", 8, true},
	{TDH_INTYPE_BOOLEAN, "signed int", 4, true},
	{TDH_INTYPE_BINARY, "unsigned char", 1, false},
	{TDH_INTYPE_GUID, "GUID", 16, false},
	{TDH_INTYPE_POINTER, "void *", 8, true},
	{TDH_INTYPE_FILETIME, "FILETIME", 8, false},
	{TDH_INTYPE_SYSTEMTIME, "SYSTEMTIME", 16, false},
	{TDH_INTYPE_SID, "SID", 0, false},
	{TDH_INTYPE_HEXINT32, "signed int", 4, true},
	{TDH_INTYPE_HEXINT64, "LONGLONG", 8, true},
	{TDH_INTYPE_MANIFEST_COUNTEDSTRING, "WCHAR", 2, false},
	{TDH_INTYPE_MANIFEST_COUNTEDANSISTRING, "char", 1, false},
	{TDH_INTYPE_MANIFEST_COUNTEDBINARY, "unsigned char", 1, false},
};

static const struct type *type_of(const struct mc_field *field)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (types[i].in_type == field->in_type)
			return &types[i];
	}
	(void)fprintf(stderr, "%s: unknown type %u\n", field->name, field->in_type);
	exit(1);
}

static bool is_text(const struct mc_field *field)
{
	return !field->is_struct && (field->in_type == TDH_INTYPE_UNICODESTRING ||
				     field->in_type == TDH_INTYPE_ANSISTRING);
}

static bool is_counted(const struct mc_field *field)
{
	return !field->is_struct && (field->in_type == TDH_INTYPE_MANIFEST_COUNTEDSTRING ||
				     field->in_type == TDH_INTYPE_MANIFEST_COUNTEDANSISTRING ||
				     field->in_type == TDH_INTYPE_MANIFEST_COUNTEDBINARY);
}

static bool is_array(const struct mc_field *field)
{
	return field->count.field || field->count.number > 1;
}

/* Whether the manifest says how long each value is. */
static bool has_units(const struct mc_field *field)
{
	if (field->is_struct)
		return false;
	return field->in_type == TDH_INTYPE_BINARY ||
	       (is_text(field) && (field->length.field || field->length.number));
}

const char *values_type(const struct mc_field *field)
{
	if (field->is_struct)
		return "void";
	if (field->in_type == TDH_INTYPE_SID && is_array(field))
		return "unsigned char";
	return type_of(field)->name;
}

bool values_takes_length(const struct mc_field *field)
{
	if (field->is_struct || is_counted(field))
		return true;
	return is_array(field) &&
	       (field->in_type == TDH_INTYPE_SID || (is_text(field) && !has_units(field)));
}

bool values_is_by_value(const struct mc_field *field)
{
	return !field->is_struct && !is_array(field) && type_of(field)->is_by_value;
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* How many of something: none, the most, one, or random. */
static uint32_t draw_number(struct values *values, uint32_t most)
{
	switch (values->kind) {
	case VALUES_LEAST:
		return 0;
	case VALUES_MOST:
		return most;
	case VALUES_NULL:
		return 1;
	default:
		return (uint32_t)(next_random(&values->shape) % (most + 1));
	}
}

static uint32_t number_of(const struct values *values, const struct mc_field *field)
{
	for (size_t i = 0; i < NUMBERS_COUNT; i++) {
		if (values->numbers[i].field == field)
			return values->numbers[i].number;
	}
	(void)fprintf(stderr, "%s is no number\n", field->name);
	exit(1);
}

static void set_number(struct values *values, const struct mc_field *field, uint32_t number)
{
	for (size_t i = 0; i < NUMBERS_COUNT; i++) {
		if (!values->numbers[i].field || values->numbers[i].field == field) {
			values->numbers[i] = (struct values_number){field, number};
			return;
		}
	}
	abort();
}

static bool is_used_by(const struct mc_field *fields, const struct mc_field *field)
{
	for (const struct mc_field *at = fields; at; at = at->next) {
		if (at->count.field == field || at->length.field == field ||
		    is_used_by(at->members, field))
			return true;
	}
	return false;
}

static uint32_t extent(const struct values *values, const struct mc_extent *given)
{
	return given->field ? number_of(values, given->field) : given->number;
}

static uint32_t element_count(const struct values *values, const struct mc_field *field)
{
	return is_array(field) ? extent(values, &field->count) : 1;
}

static uint32_t unit_count(const struct values *values, const struct mc_field *field)
{
	if (!field->length.field && !field->length.number)
		return IPV6_BYTES;
	return extent(values, &field->length);
}

static void put_zeros(struct etw_text *out, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		etw_text_putc(out, '\0');
}

static void put_number(struct values *values, struct etw_text *out, size_t bytes)
{
	uint64_t low = next_random(&values->content), high = next_random(&values->content);
	uint8_t value[16];

	memcpy(value, &low, 8);
	memcpy(value + 8, &high, 8);
	if (values->kind == VALUES_LEAST)
		memset(value, 0, sizeof(value));
	if (values->kind == VALUES_MOST)
		memset(value, 0xff, sizeof(value));
	if (values->kind == VALUES_NULL) {
		memset(value, 0, sizeof(value));
		value[bytes - 1] = 0x80;
	}
	etw_text_append(out, (const char *)value, bytes);
}

static void put_systemtime(struct values *values, struct etw_text *out)
{
	uint64_t random = next_random(&values->content);
	uint16_t time[8] = {1601, 1, 1, 1};

	if (values->kind == VALUES_MOST)
		memcpy(time, (const uint16_t[]){30827, 12, 5, 31, 23, 59, 59, 999}, sizeof(time));
	if (values->kind >= VALUES_RANDOM) {
		time[0] = (uint16_t)(1970 + random % 100);
		time[1] = (uint16_t)(1 + (random >> 8) % 12);
		time[3] = (uint16_t)(1 + (random >> 16) % 28);
		time[4] = (uint16_t)((random >> 24) % 24);
		time[5] = (uint16_t)((random >> 32) % 60);
		time[7] = (uint16_t)((random >> 40) % 1000);
	}
	etw_text_append(out, (const char *)time, sizeof(time));
}

/* No NUL, and nothing that is no text: surrogates come in pairs. */
static void put_text(struct values *values, struct etw_text *out, uint32_t units, uint8_t width)
{
	for (uint32_t i = 0; i < units; i++) {
		uint64_t random = next_random(&values->content);
		uint16_t unit = (uint16_t)(' ' + random % ('~' - ' '));

		if (width == 2 && values->kind >= VALUES_MOST && random >> 60 == 1)
			unit = 0x20ac;
		if (width == 2 && values->kind == VALUES_MOST && i + 1 < units && i % 2 == 0) {
			etw_text_append(out, "\x3d\xd8\x00\xde", 4);
			i++;
			continue;
		}
		etw_text_append(out, (const char *)&unit, width);
	}
}

static void put_sid(struct values *values, struct etw_text *out)
{
	uint32_t parts = draw_number(values, SID_PARTS);

	etw_text_putc(out, 1);
	etw_text_putc(out, (char)parts);
	etw_text_append(out, "\0\0\0\0\0\5", 6);
	for (uint32_t i = 0; i < parts; i++)
		put_number(values, out, 4);
}

static void add_property(struct values *values, struct values_property property)
{
	if (values->property_count == values->property_room) {
		values->property_room = values->property_room * 2 + 64;
		values->properties = realloc(values->properties,
					     values->property_room * sizeof(*values->properties));
		if (!values->properties)
			abort();
	}
	values->properties[values->property_count++] = property;
}

/* Appends one value that is no structure to the payload; @ret says where TDH finds it. */
static void put_value(struct values *values, const struct mc_field *field,
		      struct values_property *ret)
{
	const struct type *type = type_of(field);
	struct etw_text *out = &values->payload;
	uint32_t most = TEXT_UNITS / (1 + (uint32_t)values->argument_count / 8);

	ret->offset = out->bytes;
	if (is_counted(field)) {
		uint16_t bytes = (uint16_t)(draw_number(values, most) * type->bytes);

		etw_text_append(out, (const char *)&bytes, sizeof(bytes));
		ret->offset = out->bytes;
		put_text(values, out, bytes / type->bytes, type->bytes);
	} else if (has_units(field) && field->in_type == TDH_INTYPE_BINARY) {
		for (uint32_t left = unit_count(values, field); left; left--)
			put_number(values, out, 1);
	} else if (has_units(field)) {
		put_text(values, out, unit_count(values, field), type->bytes);
	} else if (is_text(field)) {
		put_text(values, out, draw_number(values, most), type->bytes);
		put_zeros(out, type->bytes);
	} else if (field->in_type == TDH_INTYPE_SID) {
		put_sid(values, out);
	} else if (field->in_type == TDH_INTYPE_SYSTEMTIME) {
		put_systemtime(values, out);
	} else {
		put_number(values, out, type->bytes);
	}
	ret->bytes = out->bytes - ret->offset;
}

/* A field that others refer to holds a small number, whatever its width. */
static bool put_if_number(struct values *values, const struct mc_field *fields,
			  const struct mc_field *field, struct values_property *ret)
{
	uint64_t number;

	if (is_array(field) || field->is_struct || !is_used_by(fields, field))
		return false;
	number = draw_number(values, NUMBER_MOST);
	set_number(values, field, (uint32_t)number);
	ret->offset = values->payload.bytes;
	ret->bytes = type_of(field)->bytes;
	etw_text_append(&values->payload, (const char *)&number, ret->bytes);
	return true;
}

static void put_member(struct values *values, const struct mc_field *fields,
		       const struct mc_field *member, struct values_property property)
{
	size_t start = values->payload.bytes;
	uint32_t count;

	property.member = member;
	property.member_index = UINT32_MAX;
	if (put_if_number(values, fields, member, &property)) {
		add_property(values, property);
		return;
	}
	count = element_count(values, member);
	for (uint32_t i = 0; i < count; i++) {
		property.member_index = is_array(member) ? i : UINT32_MAX;
		put_value(values, member, &property);
		add_property(values, property);
	}
	if (is_array(member)) {
		property.member_index = UINT32_MAX;
		property.offset = start;
		property.bytes = values->payload.bytes - start;
		add_property(values, property);
	}
}

/* All elements of a structure have the same shape, since a macro gets the length of one. */
static void put_structs(struct values *values, const struct mc_field *fields,
			const struct mc_field *field)
{
	uint32_t count = element_count(values, field);
	uint64_t shape = values->shape;

	for (uint32_t i = 0; i < count; i++) {
		struct values_property property = {.field = field,
						   .index = is_array(field) ? i : 0};

		values->shape = shape;
		for (const struct mc_field *at = field->members; at; at = at->next)
			put_member(values, fields, at, property);
	}
}

static void put_field(struct values *values, const struct mc_field *fields,
		      const struct mc_field *field)
{
	struct values_property property = {.field = field, .index = UINT32_MAX};
	size_t start = values->payload.bytes;
	uint32_t count;

	if (field->is_struct) {
		put_structs(values, fields, field);
		return;
	}
	if (put_if_number(values, fields, field, &property)) {
		add_property(values, property);
		return;
	}
	count = element_count(values, field);
	for (uint32_t i = 0; i < count; i++) {
		property.index = is_array(field) ? i : UINT32_MAX;
		put_value(values, field, &property);
		add_property(values, property);
	}
	if (is_array(field)) {
		property.index = UINT32_MAX;
		property.offset = start;
		property.bytes = values->payload.bytes - start;
		add_property(values, property);
	}
}

/* Where a macro takes a null pointer, the payload gets what stands for it. */
static bool put_null(struct values *values, const struct mc_field *field)
{
	struct values_property property = {
		.field = field, .index = UINT32_MAX, .offset = values->payload.bytes};

	if (values->kind != VALUES_NULL || field->is_struct || is_array(field) || has_units(field))
		return false;
	if (field->in_type == TDH_INTYPE_UNICODESTRING)
		etw_text_append(&values->payload, "N\0U\0L\0L\0\0", 10);
	else if (field->in_type == TDH_INTYPE_ANSISTRING)
		etw_text_append(&values->payload, "NULL", 5);
	else if (field->in_type == TDH_INTYPE_SID)
		put_zeros(&values->payload, 8);
	else
		return false;
	property.bytes = values->payload.bytes - property.offset;
	add_property(values, property);
	return true;
}

/* The length that the macro wants for what the payload holds from @start on. */
static uint32_t argument_length(const struct values *values, const struct mc_field *field,
				size_t start)
{
	size_t bytes = values->payload.bytes - start;
	uint32_t count = element_count(values, field);

	if (field->is_struct)
		return count ? (uint32_t)(bytes / count) : 0;
	if (is_counted(field) && !is_array(field))
		bytes -= sizeof(uint16_t);
	return (uint32_t)(field->in_type == TDH_INTYPE_SID ? bytes : bytes / type_of(field)->bytes);
}

static void make_argument(struct values *values, const struct mc_field *fields,
			  const struct mc_field *field, struct values_argument *ret)
{
	size_t start = values->payload.bytes, skip = 0;

	ret->field = field;
	ret->form = values_is_by_value(field) ? VALUES_BY_VALUE : VALUES_BY_POINTER;
	ret->is_null = put_null(values, field);
	if (ret->is_null)
		return;
	put_field(values, fields, field);
	ret->has_length = values_takes_length(field);
	if (ret->has_length)
		ret->length = argument_length(values, field, start);
	if (is_counted(field) && !is_array(field))
		skip = sizeof(uint16_t);
	if (values->payload.bytes > start + skip)
		etw_text_append(&ret->bytes, values->payload.at + start + skip,
				values->payload.bytes - start - skip);
}

void values_make(struct values *values, const struct mc_template *template_of, uint64_t seed,
		 unsigned round)
{
	const struct mc_field *fields = template_of ? template_of->fields : NULL;
	size_t i = 0;

	*values = (struct values){
		.kind = round < VALUES_RANDOM ? (enum values_kind)round : VALUES_RANDOM,
		.shape = seed * 2 + 1,
		.content = seed * 2,
	};
	values->argument_count = template_of ? template_of->field_count : 0;
	values->arguments = etw_arena_array(&values->arena, values->argument_count + 1,
					    sizeof(*values->arguments));
	values->numbers = etw_arena_array(&values->arena, NUMBERS_COUNT, sizeof(*values->numbers));
	if (!values->arguments || !values->numbers)
		abort();
	for (const struct mc_field *at = fields; at; at = at->next)
		make_argument(values, fields, at, &values->arguments[i++]);
	if (values->payload.error)
		abort();
}

void values_done(struct values *values)
{
	for (size_t i = 0; i < values->argument_count; i++)
		etw_text_done(&values->arguments[i].bytes);
	etw_text_done(&values->payload);
	free(values->properties);
	etw_arena_done(&values->arena);
	*values = (struct values){0};
}
