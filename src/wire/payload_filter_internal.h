/* SPDX-License-Identifier: MIT */
/* Between payload_filter.c (checking and walking) and payload_compare.c (one value, one predicate). */
#ifndef ETW_WIRE_PAYLOAD_FILTER_INTERNAL_H
#define ETW_WIRE_PAYLOAD_FILTER_INTERNAL_H

#include <string.h>

#include "wire/payload_filter.h"

/* A place in a payload of pieces. Copies are places of their own. */
struct wire_payload_place {
	const uint8_t *at; /* in the present piece */
	uint32_t left;     /* of it */
	bool is_typed;
	uint32_t data_count; /* pieces behind it */
	const EVENT_DATA_DESCRIPTOR *data;
};

/* A value of a payload. */
struct wire_payload_value {
	struct wire_payload_place place;
	uint32_t bytes; /* the payload has so many from there */
};

/* The next byte of a payload that has one. */
static inline uint8_t wire_payload_byte(struct wire_payload_place *place)
{
	while (place->left == 0 && place->data_count) {
		const EVENT_DATA_DESCRIPTOR *data = place->data++;

		place->data_count--;
		if (place->is_typed && data->Type != EVENT_DATA_DESCRIPTOR_TYPE_NONE)
			continue;
		place->at = (const uint8_t *)(uintptr_t)data->Ptr;
		place->left = data->Size;
	}
	if (place->left == 0) /* a program changes descriptors under the filter */
		return 0;
	place->left--;
	return *place->at++;
}

/* wire_payload_load() - copies the first @bytes of a value, which has so many. */
static inline void wire_payload_load(const struct wire_payload_value *value, uint8_t *to,
				     size_t bytes)
{
	struct wire_payload_place place = value->place;

	if (place.left >= bytes) {
		memcpy(to, place.at, bytes);
		return;
	}
	for (size_t i = 0; i < bytes; i++)
		to[i] = wire_payload_byte(&place);
}

/*
 * wire_payload_operator_problem() - why a predicate's kind, operator and operands do not go together.
 *
 * Returns a static sentence, or NULL.
 */
const char *wire_payload_operator_problem(const struct wire_payload_predicate *predicate,
					  const uint8_t *operand);

/*
 * wire_payload_holds() - whether a predicate holds for a value.
 *
 * @predicate: checked, with its operands behind it
 * @value: of a size that the check allows for its kind
 */
bool wire_payload_holds(const struct wire_payload_predicate *predicate,
			const struct wire_payload_value *value);

#endif
