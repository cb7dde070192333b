/* SPDX-License-Identifier: MIT */
/* Between payload_filter.c (checking and walking) and payload_compare.c (one value, one predicate). */
#ifndef ETW_WIRE_PAYLOAD_FILTER_INTERNAL_H
#define ETW_WIRE_PAYLOAD_FILTER_INTERNAL_H

#include "wire/payload_filter.h"

#define PAYLOAD_OPERAND_BYTES_MAX WIRE_PAYLOAD_FILTER_BYTES_MAX

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
 * @at: the value proper, of a size that the check allows for its kind
 */
bool wire_payload_holds(const struct wire_payload_predicate *predicate, const uint8_t *at,
			size_t bytes);

#endif
