/* SPDX-License-Identifier: MIT */
/* What was set of an event under construction, and its payload. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_BUILDER_H
#define ETW_API_FRIENDLY_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/friendly/path.h"
#include "base/text.h"

/* A value, as it lies in the payload without prefix and terminator. */
struct etw_set_value {
	struct etw_path_plan plan;
	uint8_t *at; /* owned */
	size_t bytes;
};

struct etw_set_values {
	struct etw_set_value *values; /* owned */
	size_t count, room;
};

/*
 * etw_payload_room() - how many bytes every value of a field has, when the schema alone tells.
 *
 * Of texts and binaries; returns whether it is so.
 */
bool etw_payload_room(const struct etw_field *field, size_t *ret);

/*
 * etw_payload_write() - lays a payload out by its schema; values that are not set are zero or empty.
 *
 * @payload: appended to; may hold NUL bytes
 *
 * Returns 0; -EMSGSIZE beyond 65,535 bytes; -E2BIG beyond ETW_PROGRAM_ITEMS_MAX values, structs and elements,
 * which is what the decoder takes; memory is told by etw_text_error().
 */
int etw_payload_write(const struct etw_schema *schema, const struct etw_set_values *values,
		      struct etw_text *payload);

#endif
