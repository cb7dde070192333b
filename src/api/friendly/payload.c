/* SPDX-License-Identifier: MIT */
/* The payload of an event under construction: a walk over the schema's fields, as the decoder goes. */
#include <errno.h>
#include <string.h>

#include "api/friendly/builder.h"
#include "base/bytes.h"
#include "base/macros.h"
#include "decode/program.h"
#include "schema/types.h"

#define POINTER_BYTES 8

struct writer {
	const struct etw_schema *schema;
	const struct etw_set_values *values;
	struct etw_text *payload;
	struct etw_path_step steps[ETW_SCHEMA_DEPTH_MAX + 1]; /* where the walk is */
	unsigned depth;
	unsigned items; /* visited so far; empty ones take no byte of the payload, but time */
};

static bool is_same_step(const struct etw_path_step *left, const struct etw_path_step *right)
{
	return left->field == right->field && left->has_index == right->has_index &&
	       left->index == right->index;
}

/* Whether a value lies below where the walk is. */
static bool is_below(const struct writer *writer, const struct etw_path_plan *plan)
{
	if (plan->count <= writer->depth)
		return false;
	for (unsigned i = 0; i < writer->depth; i++) {
		if (!is_same_step(&plan->steps[i], &writer->steps[i]))
			return false;
	}
	return true;
}

/* The value of a field where the walk is, or NULL. */
static const struct etw_set_value *find_value(const struct writer *writer,
					      const struct etw_path_step *step)
{
	for (size_t i = 0; i < writer->values->count; i++) {
		const struct etw_set_value *value = &writer->values->values[i];

		if (value->plan.count == writer->depth + 1 && is_below(writer, &value->plan) &&
		    is_same_step(&value->plan.steps[writer->depth], step))
			return value;
	}
	return NULL;
}

/* As many elements as the highest index that something was set for says. */
static uint32_t set_elements(const struct writer *writer, uint16_t field)
{
	uint32_t count = 0;

	for (size_t i = 0; i < writer->values->count; i++) {
		const struct etw_path_plan *plan = &writer->values->values[i].plan;
		const struct etw_path_step *step = &plan->steps[writer->depth];

		if (is_below(writer, plan) && step->field == field && step->has_index &&
		    step->index >= count)
			count = step->index + 1;
	}
	return count;
}

static uint32_t count_elements(const struct writer *writer, uint16_t number)
{
	const struct etw_field *field = &writer->schema->fields[number];

	if (field->flags & (PropertyParamCount | ETW_FIELD_TO_END))
		return set_elements(writer, number);
	return field->count;
}

/* What a number says that nobody set: how long or how many another field is, of the same struct. */
static uint64_t implied(const struct writer *writer, uint16_t number, unsigned first,
			unsigned count)
{
	for (unsigned i = first; i < first + count; i++) {
		const struct etw_field *field = &writer->schema->fields[i];
		const struct etw_path_step step = {.field = (uint16_t)i};
		const struct etw_set_value *value;
		uint8_t unit = etw_schema_type(field->in_type)->unit;

		if ((field->flags & PropertyParamCount) && field->count == number)
			return set_elements(writer, (uint16_t)i);
		if ((field->flags & PropertyStruct) || !(field->flags & PropertyParamLength) ||
		    field->length != number)
			continue;
		value = find_value(writer, &step);
		return value ? value->bytes / (unit ? unit : 1) : 0;
	}
	return 0;
}

static void put(struct writer *writer, const void *at, size_t bytes)
{
	etw_text_append(writer->payload, at, bytes);
}

static void put_zeros(struct writer *writer, size_t bytes)
{
	static const uint8_t zeros[16];

	for (; bytes; bytes -= bytes < sizeof(zeros) ? bytes : sizeof(zeros))
		put(writer, zeros, bytes < sizeof(zeros) ? bytes : sizeof(zeros));
}

bool etw_payload_room(const struct etw_field *field, size_t *ret)
{
	const struct etw_type *type = etw_schema_type(field->in_type);

	if (type->extent != ETW_EXTENT_GIVEN || (field->flags & PropertyParamLength))
		return false;
	if (field->length || (field->flags & PropertyParamFixedLength)) {
		*ret = field->length * (size_t)(type->unit ? type->unit : 1);
		return true;
	}
	*ret = 16;
	return type->kind == ETW_TYPE_BYTES && field->out_type == TDH_OUTTYPE_IPV6;
}

/* A value whose size the schema gives, or a NUL, or another field. */
static void put_given(struct writer *writer, const struct etw_field *field,
		      const struct etw_set_value *value)
{
	const struct etw_type *type = etw_schema_type(field->in_type);
	const bool is_text = type->kind == ETW_TYPE_UTF16 || type->kind == ETW_TYPE_ANSI;
	const size_t bytes = value ? value->bytes : 0;
	size_t room;

	if (bytes)
		put(writer, value->at, bytes);
	if (etw_payload_room(field, &room))
		put_zeros(writer, room > bytes ? room - bytes : 0);
	else if (is_text && !(field->flags & PropertyParamLength))
		put_zeros(writer, type->unit);
}

static void put_counted(struct writer *writer, uint8_t extent, const struct etw_set_value *value)
{
	size_t bytes = value ? value->bytes : 0;
	uint8_t prefix[4];

	etw_store32(prefix, (uint32_t)bytes);
	if (extent == ETW_EXTENT_COUNT16_BIG) {
		prefix[0] = (uint8_t)(bytes >> 8);
		prefix[1] = (uint8_t)bytes;
	}
	put(writer, prefix, extent == ETW_EXTENT_COUNT32 ? 4 : 2);
	if (bytes)
		put(writer, value->at, bytes);
}

/* Without a value: nobody, S-1-0-0; in MOF's form, that there is none. */
static void put_sid(struct writer *writer, uint8_t extent, const struct etw_set_value *value)
{
	static const uint8_t nobody[12] = {1, 1}, user[2 * POINTER_BYTES] = {1};

	if (extent == ETW_EXTENT_WBEM_SID && value)
		put(writer, user, sizeof(user));
	if (value)
		put(writer, value->at, value->bytes);
	else if (extent == ETW_EXTENT_WBEM_SID)
		put_zeros(writer, 4);
	else
		put(writer, nobody, sizeof(nobody));
}

static void put_value(struct writer *writer, const struct etw_path_step *step, unsigned first,
		      unsigned count)
{
	const struct etw_field *field = &writer->schema->fields[step->field];
	const struct etw_type *type = etw_schema_type(field->in_type);
	const struct etw_set_value *value = find_value(writer, step);
	size_t bytes = type->extent == ETW_EXTENT_POINTER ? POINTER_BYTES : type->bytes;
	uint8_t number[8];

	switch (type->extent) {
	case ETW_EXTENT_FIXED:
	case ETW_EXTENT_POINTER:
		etw_store64(number, value ? 0 : implied(writer, step->field, first, count));
		if (value)
			put(writer, value->at, value->bytes);
		else if (bytes <= sizeof(number))
			put(writer, number, bytes);
		else
			put_zeros(writer, bytes);
		break;
	case ETW_EXTENT_COUNT16:
	case ETW_EXTENT_COUNT16_BIG:
	case ETW_EXTENT_COUNT32:
		put_counted(writer, type->extent, value);
		break;
	case ETW_EXTENT_SID:
	case ETW_EXTENT_WBEM_SID:
		put_sid(writer, type->extent, value);
		break;
	case ETW_EXTENT_TO_END:
		if (value)
			put(writer, value->at, value->bytes);
		break;
	default:
		put_given(writer, field, value);
	}
}

static int put_fields(struct writer *writer, unsigned first, unsigned count);

/* One element, or the field itself where it is no array. */
static int put_element(struct writer *writer, const struct etw_path_step *step, unsigned first,
		       unsigned count)
{
	const struct etw_field *field = &writer->schema->fields[step->field];
	int result;

	if (writer->payload->bytes > UINT16_MAX)
		return -EMSGSIZE;
	if (++writer->items > ETW_PROGRAM_ITEMS_MAX)
		return -E2BIG;
	if (!(field->flags & PropertyStruct)) {
		put_value(writer, step, first, count);
		return 0;
	}
	if (writer->depth + 1 >= ARRAY_SIZE(writer->steps))
		return -EMSGSIZE;
	writer->steps[writer->depth++] = *step;
	result = put_fields(writer, field->struct_first, field->struct_count);
	writer->depth--;
	return result;
}

/* The fields of the event or of one struct. Depth is bounded by etw_schema_fields_check(). */
static int put_fields(struct writer *writer, unsigned first, unsigned count)
{
	for (unsigned i = first; i < first + count; i++) {
		struct etw_path_step step = {
			.field = (uint16_t)i,
			.has_index = etw_field_is_array(&writer->schema->fields[i]),
		};
		uint32_t elements = step.has_index ? count_elements(writer, (uint16_t)i) : 1;

		for (; step.index < elements; step.index++)
			TRY(put_element(writer, &step, first, count));
	}
	return 0;
}

int etw_payload_write(const struct etw_schema *schema, const struct etw_set_values *values,
		      struct etw_text *payload)
{
	struct writer writer = {.schema = schema, .values = values, .payload = payload};

	TRY(put_fields(&writer, 0, schema->top_count));
	return payload->bytes > UINT16_MAX ? -EMSGSIZE : 0;
}
