/* SPDX-License-Identifier: MIT */
/* The values of payload predicates, from text to what comparisons need. */
#ifndef ETW_API_TDH_PAYLOAD_OPERAND_H
#define ETW_API_TDH_PAYLOAD_OPERAND_H

#include <stdint.h>

#include <tdh.h>

#include "api/tdh/payload_blob.h"
#include "schema/model.h"

/*
 * etw_payload_kind() - how fields of this type are compared.
 *
 * Returns an enum wire_payload_kind; 0 for types that cannot be filtered by.
 */
uint8_t etw_payload_kind(uint16_t in_type);

/*
 * etw_payload_operand_write() - appends a predicate with its operands.
 *
 * @step: which of the filter's steps leads to the field
 *
 * Numbers are decimal, or hexadecimal behind "0x"; two of them are separated by a comma. GUIDs have braces.
 * Returns 0; -EINVAL for an operator or value that the field's type does not have; -EMSGSIZE.
 */
int etw_payload_operand_write(const struct etw_field *field, uint8_t step,
			      const PAYLOAD_FILTER_PREDICATE *predicate,
			      struct etw_payload_blob *blob);

#endif
