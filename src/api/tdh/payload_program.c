/* SPDX-License-Identifier: MIT */
/*
 * From a schema to the steps of a filter: one for each field up to the last that a predicate is on, with the
 * members of structs in their place. Fields of fixed size that nobody asks for share a step.
 */
#include "api/tdh/payload_program.h"

#include <errno.h>
#include <string.h>

#include "api/tdh/payload_operand.h"
#include "api/tdh/wide_name.h"
#include "base/guid.h"
#include "base/macros.h"
#include "schema/types.h"

/*
 * How many values, and elements of structs, are gone over. Each value takes a byte at least or a step, so that no
 * payload holds a field behind more of them; elements of structs may be empty, and arrays lie in one another.
 */
#define VISITS_MAX (2u << 16)

struct writer {
	const struct etw_schema *schema;
	struct etw_payload_blob *blob;
	struct wire_payload_event *event;     /* in the blob */
	struct wire_payload_step *last;       /* that further bytes may join; NULL: none */
	uint8_t slots[ETW_SCHEMA_FIELDS_MAX]; /* by field: where its number is kept; 0: nowhere */
	uint8_t slot_count;
	uint32_t visit_count;
	uint16_t step_of[ETW_SCHEMA_FIELDS_MAX]; /* of top-level fields that are asked for */
	bool is_wanted[ETW_SCHEMA_FIELDS_MAX];
};

/* A top-level field that can be filtered by. */
static int find_field(const struct etw_schema *schema, const WCHAR *name, uint16_t *ret)
{
	for (uint16_t i = 0; name && i < schema->top_count; i++) {
		const struct etw_field *field = &schema->fields[i];

		if (!etw_wide_is(name, field->name))
			continue;
		if ((field->flags & PropertyStruct) || etw_field_is_array(field) ||
		    !etw_payload_kind(field->in_type))
			return -EINVAL;
		*ret = i;
		return 0;
	}
	return -EINVAL;
}

/* The slot of a number that another field needs. */
static int take_slot(struct writer *writer, uint16_t field)
{
	if (writer->slots[field])
		return 0;
	if (writer->slot_count == WIRE_PAYLOAD_SLOTS)
		return -EOPNOTSUPP;
	writer->slots[field] = ++writer->slot_count;
	return 0;
}

/* Slots for the numbers that fields from @first to before @end refer to, members of structs included. */
static int take_slots(struct writer *writer, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		const struct etw_field *field = &writer->schema->fields[i];

		if (field->flags & PropertyParamCount)
			TRY(take_slot(writer, field->count));
		if (field->flags & PropertyStruct)
			TRY(take_slots(writer, field->struct_first,
				       (uint32_t)field->struct_first + field->struct_count));
		else if (field->flags & PropertyParamLength)
			TRY(take_slot(writer, field->length));
	}
	return 0;
}

/* Text and bytes whose length the schema says. */
static int set_given(const struct writer *writer, const struct etw_field *field,
		     const struct etw_type *type, struct wire_payload_step *step)
{
	bool is_given = field->length || (field->flags & PropertyParamFixedLength);

	step->extent = WIRE_PAYLOAD_LENGTH;
	step->unit = le16_of(type->unit);
	step->length = le16_of(field->length);
	if (field->flags & PropertyParamLength)
		step->length_slot = writer->slots[field->length];
	else if (!is_given && type->kind == ETW_TYPE_UTF16)
		step->extent = WIRE_PAYLOAD_NUL16;
	else if (!is_given && type->kind == ETW_TYPE_ANSI)
		step->extent = WIRE_PAYLOAD_NUL8;
	else if (!is_given && field->out_type == TDH_OUTTYPE_IPV6)
		step->length = le16_of(16);
	else if (!is_given)
		return -EOPNOTSUPP;
	return 0;
}

static int set_extent(const struct writer *writer, const struct etw_field *field,
		      struct wire_payload_step *step)
{
	const struct etw_type *type = etw_schema_type(field->in_type);

	switch (type->extent) {
	case ETW_EXTENT_FIXED:
		step->extent = WIRE_PAYLOAD_FIXED;
		step->unit = le16_of(type->bytes);
		return type->bytes ? 0 : -EOPNOTSUPP;
	case ETW_EXTENT_POINTER:
		step->extent = WIRE_PAYLOAD_POINTER;
		return 0;
	case ETW_EXTENT_COUNT16:
		step->extent = WIRE_PAYLOAD_COUNT16;
		return 0;
	case ETW_EXTENT_SID:
		step->extent = WIRE_PAYLOAD_SID;
		return 0;
	case ETW_EXTENT_GIVEN:
		return set_given(writer, field, type, step);
	default:
		return -EOPNOTSUPP;
	}
}

/* Lets bytes of fixed size that nobody asks for join those before them. */
static bool join(struct writer *writer, const struct wire_payload_step *step)
{
	uint32_t bytes = le16_get(step->unit);

	if (!writer->last)
		return false;
	bytes += le16_get(writer->last->unit);
	if (bytes > UINT16_MAX)
		return false;
	writer->last->unit = le16_of((uint16_t)bytes);
	return true;
}

static int add_value(struct writer *writer, uint16_t index)
{
	const struct etw_field *field = &writer->schema->fields[index];
	struct wire_payload_step step = {.keep = writer->slots[index]};
	struct wire_payload_step *to;
	bool is_plain;

	TRY(set_extent(writer, field, &step));
	if (field->flags & PropertyParamCount)
		step.count_slot = writer->slots[field->count];
	else
		step.count = le16_of(field->count);
	/* A number that is remembered must be one: an array or a text cannot say a length. */
	if (step.keep && (step.extent != WIRE_PAYLOAD_FIXED || etw_field_is_array(field) ||
			  le16_get(step.unit) > 8))
		return -EOPNOTSUPP;
	is_plain = step.extent == WIRE_PAYLOAD_FIXED && !etw_field_is_array(field) && !step.keep &&
		   !writer->is_wanted[index];
	if (is_plain && join(writer, &step))
		return 0;
	to = etw_payload_blob_add(writer->blob, sizeof(*to));
	if (!to || writer->event->step_count == WIRE_PAYLOAD_STEPS_MAX)
		return -EMSGSIZE;
	*to = step;
	writer->last = is_plain ? to : NULL;
	writer->step_of[index] = writer->event->step_count++;
	return 0;
}

static int add_field(struct writer *writer, uint16_t index)
{
	const struct etw_field *field = &writer->schema->fields[index];

	if (writer->visit_count++ == VISITS_MAX)
		return -EOPNOTSUPP;
	if (!(field->flags & PropertyStruct))
		return add_value(writer, index);
	if (field->flags & (PropertyParamCount | ETW_FIELD_TO_END))
		return -EOPNOTSUPP;
	for (uint16_t i = 0; i < field->count; i++) {
		if (writer->visit_count++ == VISITS_MAX)
			return -EOPNOTSUPP;
		for (uint16_t member = 0; member < field->struct_count; member++)
			TRY(add_field(writer, (uint16_t)(field->struct_first + member)));
	}
	return 0;
}

static int add_steps(struct writer *writer, const struct etw_payload_wish *wish,
		     uint16_t fields[WIRE_PAYLOAD_PREDICATES_MAX])
{
	uint16_t end = 0;

	for (uint32_t i = 0; i < wish->count; i++) {
		TRY(find_field(writer->schema, wish->predicates[i].FieldName, &fields[i]));
		writer->is_wanted[fields[i]] = true;
		if (fields[i] >= end)
			end = (uint16_t)(fields[i] + 1);
	}
	TRY(take_slots(writer, 0, end));
	for (uint16_t i = 0; i < end; i++)
		TRY(add_field(writer, i));
	return 0;
}

static int write_event(struct writer *writer, const struct etw_payload_wish *wish)
{
	uint16_t fields[WIRE_PAYLOAD_PREDICATES_MAX];
	size_t start = writer->blob->bytes;

	writer->event = etw_payload_blob_add(writer->blob, sizeof(*writer->event));
	if (!writer->event)
		return -EMSGSIZE;
	writer->event->id = le16_of(wish->id);
	writer->event->version = wish->version;
	writer->event->flags = wish->is_any ? WIRE_PAYLOAD_ANY : 0;
	writer->event->predicate_count = (uint8_t)wish->count;
	TRY(add_steps(writer, wish, fields));
	for (uint32_t i = 0; i < wish->count; i++)
		TRY(etw_payload_operand_write(&writer->schema->fields[fields[i]],
					      (uint8_t)writer->step_of[fields[i]],
					      &wish->predicates[i], writer->blob));
	writer->event->bytes = le32_of((uint32_t)(writer->blob->bytes - start));
	return 0;
}

int etw_payload_program_write(const struct etw_schema *schema, const struct etw_payload_wish *wish,
			      struct etw_payload_blob *ret)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	struct wire_payload_filter *head;
	int result;

	if (!writer)
		return -ENOMEM;
	ret->bytes = 0;
	writer->schema = schema;
	writer->blob = ret;
	head = etw_payload_blob_add(ret, sizeof(*head));
	result = write_event(writer, wish);
	free(writer);
	if (result < 0)
		return result;
	memcpy(head->magic, WIRE_PAYLOAD_FILTER_MAGIC, sizeof(head->magic));
	head->version = le16_of(WIRE_PAYLOAD_FILTER_VERSION);
	head->filter_count = le16_of(1);
	head->bytes = le32_of((uint32_t)ret->bytes);
	etw_guid_write(head->provider, wish->provider);
	/* What the check knows better is a value that the operator cannot take, such as a divisor of 0. */
	return wire_payload_filter_check(ret->at, ret->bytes, NULL) < 0 ? -EINVAL : 0;
}
