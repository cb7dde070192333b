/* SPDX-License-Identifier: MIT */
/*
 * A payload filter says by steps over the payload where a field lies, and not how it is called. The steps and the layout's
 * fields are walked side by side, so that each step that a predicate is on gets the name of its field. See kernel_filter.h.
 */
#include "source/tracepoints/kernel_filter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tdh.h>

#include "base/text.h"
#include "schema/types.h"
#include "wire/payload_filter.h"

#define NO_FIELD UINT16_MAX

/* Bytes of a field that has as many in every event; 0: it has not. */
static uint32_t fixed_bytes(const struct etw_field *field)
{
	uint32_t bytes = etw_schema_length(field->in_type);

	if (field->flags & (PropertyParamCount | PropertyParamLength))
		return 0;
	if (field->in_type == TDH_INTYPE_BINARY)
		return field->length;
	if (field->in_type == TDH_INTYPE_POINTER)
		bytes = sizeof(void *);
	return bytes * field->count;
}

/* Which field each step is on; NO_FIELD for those of several. Returns false where steps and fields do not fit. */
static bool name_steps(const struct etw_schema *schema, const struct wire_payload_step *steps,
		       uint8_t count, uint16_t ret[WIRE_PAYLOAD_STEPS_MAX])
{
	uint16_t field = 0;

	for (uint8_t i = 0; i < count; i++) {
		const struct wire_payload_step *step = &steps[i];
		uint32_t left = (uint32_t)le16_get(step->unit) * le16_get(step->count);

		if (field >= schema->field_count)
			return false;
		ret[i] = field;
		if (step->extent != WIRE_PAYLOAD_FIXED || step->count_slot || step->length_slot) {
			if (step->extent != WIRE_PAYLOAD_POINTER &&
			    fixed_bytes(&schema->fields[field]))
				return false;
			field++;
			continue;
		}
		while (left) {
			uint32_t bytes = field < schema->field_count
						 ? fixed_bytes(&schema->fields[field])
						 : 0;

			if (!bytes || bytes > left)
				return false;
			left -= bytes;
			field++;
		}
		if (field != ret[i] + 1)
			ret[i] = NO_FIELD;
	}
	return true;
}

/* A field that the kernel compares as a number. */
static const struct etw_tracepoint_field *number_of(const struct etw_tracepoint_format *format,
						    const struct etw_schema *schema, uint16_t field)
{
	if (field == NO_FIELD)
		return NULL;
	for (uint32_t i = 0; i < format->field_count; i++) {
		const struct etw_tracepoint_field *at = &format->fields[i];

		if (strcmp(at->name, schema->fields[field].name) == 0)
			return at->place == ETW_TRACEPOINT_INLINE && !at->is_array &&
					       !at->bit_count && !at->is_common
				       ? at
				       : NULL;
	}
	return NULL;
}

static void put_number(struct etw_text *text, const struct etw_tracepoint_field *field,
		       uint64_t value)
{
	if (field->is_signed)
		etw_text_printf(text, "%" PRId64, (int64_t)value);
	else
		etw_text_printf(text, "%" PRIu64, value);
}

static void put_comparison(struct etw_text *text, const struct etw_tracepoint_field *field,
			   const char *operator, uint64_t value)
{
	etw_text_printf(text, "%s %s ", field->name, operator);
	put_number(text, field, value);
}

/* Whether the kernel compares as the predicate does, by a sign or without one. */
static bool is_like(const struct wire_payload_predicate *predicate,
		    const struct etw_tracepoint_field *field)
{
	return predicate->kind == (field->is_signed ? WIRE_PAYLOAD_SIGNED : WIRE_PAYLOAD_UNSIGNED);
}

/* Returns false where it cannot be said. */
static bool put_predicate(struct etw_text *text, const struct wire_payload_predicate *predicate,
			  const struct etw_tracepoint_field *field)
{
	static const char *const operators[] = {
		[PAYLOADFIELD_EQ] = "==", [PAYLOADFIELD_NE] = "!=", [PAYLOADFIELD_LE] = "<=",
		[PAYLOADFIELD_GT] = ">",  [PAYLOADFIELD_LT] = "<",  [PAYLOADFIELD_GE] = ">="};
	const uint8_t *operands = (const uint8_t *)(predicate + 1);
	const uint16_t bytes = le16_get(predicate->operand_bytes);

	if (!field || !is_like(predicate, field) || bytes < 8)
		return false;
	if (predicate->operation <= PAYLOADFIELD_GE) {
		put_comparison(text, field, operators[predicate->operation], etw_load64(operands));
		return true;
	}
	if (bytes < 16)
		return false;
	if (predicate->operation == PAYLOADFIELD_BETWEEN) {
		etw_text_putc(text, '(');
		put_comparison(text, field, ">=", etw_load64(operands));
		etw_text_puts(text, " && ");
		put_comparison(text, field, "<=", etw_load64(operands + 8));
		etw_text_putc(text, ')');
		return true;
	}
	if (predicate->operation != PAYLOADFIELD_NOTBETWEEN)
		return false;
	etw_text_putc(text, '(');
	put_comparison(text, field, "<", etw_load64(operands));
	etw_text_puts(text, " || ");
	put_comparison(text, field, ">", etw_load64(operands + 8));
	etw_text_putc(text, ')');
	return true;
}

struct maker {
	const struct etw_tracepoint_format *format;
	const struct etw_schema *schema;
	struct etw_text text;
};

/* Returns false where it cannot be said. Of predicates that must all hold, some are enough. */
static bool put_filter(struct maker *maker, const struct wire_payload_event *event)
{
	const struct wire_payload_step *steps = (const struct wire_payload_step *)(event + 1);
	const uint8_t *at = (const uint8_t *)(steps + event->step_count);
	const bool is_any = event->flags & WIRE_PAYLOAD_ANY;
	uint16_t fields[WIRE_PAYLOAD_STEPS_MAX];
	unsigned put = 0;

	if (!name_steps(maker->schema, steps, event->step_count, fields))
		return false;
	etw_text_putc(&maker->text, '(');
	for (uint8_t i = 0; i < event->predicate_count; i++) {
		const struct wire_payload_predicate *predicate =
			(const struct wire_payload_predicate *)(const void *)at;
		const struct etw_tracepoint_field *field = number_of(maker->format, maker->schema,
								     fields[predicate->step]);
		const size_t before = maker->text.bytes;

		if (put)
			etw_text_puts(&maker->text, is_any ? " || " : " && ");
		if (put_predicate(&maker->text, predicate, field))
			put++;
		else if (is_any)
			return false;
		else
			maker->text.bytes = before;
		at += le16_get(predicate->bytes);
	}
	etw_text_putc(&maker->text, ')');
	return put != 0;
}

char *etw_tracepoint_kernel_filter(const struct etw_tracepoint_format *format,
				   const struct etw_tracepoint_layout *layout,
				   const uint8_t *checked)
{
	const struct wire_payload_filter *head =
		(const struct wire_payload_filter *)(const void *)checked;
	struct maker maker = {format, &layout->schema, {0}};
	const uint8_t *at = (const uint8_t *)(head + 1);
	bool is_all = false, is_said = true;
	char *text = NULL;
	unsigned count = 0;

	for (int is_second = 0; is_second <= 1 && is_said; is_second++) {
		at = (const uint8_t *)(head + 1);
		for (unsigned i = 0; i < le16_get(head->filter_count); i++) {
			const struct wire_payload_event *event =
				(const struct wire_payload_event *)(const void *)at;

			at += le32_get(event->bytes);
			if (le16_get(event->id) != layout->schema.descriptor.Id ||
			    event->version != layout->schema.descriptor.Version)
				continue;
			is_all |= (event->flags & WIRE_PAYLOAD_ALL) != 0;
			if (!is_second)
				continue;
			if (count++)
				etw_text_puts(&maker.text, is_all ? " && " : " || ");
			is_said &= put_filter(&maker, event);
		}
	}
	if (is_said && count && etw_text_error(&maker.text) == 0)
		text = strdup(etw_text_string(&maker.text));
	etw_text_done(&maker.text);
	return text;
}
