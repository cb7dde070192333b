/* SPDX-License-Identifier: MIT */
/* One value outside any event: where it lies, by the rules that a program follows. */
#ifndef ETW_DECODE_VALUE_H
#define ETW_DECODE_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "schema/model.h"

struct etw_value_span {
	uint32_t prefix; /* bytes before the value proper: a count, a TOKEN_USER */
	uint32_t bytes;  /* of the value proper: without prefix and terminating NUL */
	uint32_t taken;  /* payload bytes used, with prefix and terminator */
};

/*
 * etw_value_measure() - where the value at the beginning of @at lies.
 *
 * @field: in_type, out_type, length and PropertyParamFixedLength count; a length that another field tells
 *         does not
 * @pointer_bytes: 4 or 8, of the event
 *
 * Returns 0; -EBADMSG when the bytes end too early or cannot be such a value; -EINVAL when the type has no
 * size of its own or is unknown. Context: any thread, no allocation.
 */
int etw_value_measure(const struct etw_field *field, unsigned pointer_bytes, const uint8_t *at,
		      uint32_t bytes, struct etw_value_span *ret);

#endif
