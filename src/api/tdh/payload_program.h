/* SPDX-License-Identifier: MIT */
/* Predicates of TdhCreatePayloadFilter() as a payload filter's bytes (wire/payload_filter.h). */
#ifndef ETW_API_TDH_PAYLOAD_PROGRAM_H
#define ETW_API_TDH_PAYLOAD_PROGRAM_H

#include <stdbool.h>

#include <tdh.h>

#include "api/tdh/payload_blob.h"
#include "schema/model.h"

/* What is asked for. */
struct etw_payload_wish {
	const GUID *provider;
	uint16_t id;
	uint8_t version;
	bool is_any; /* one predicate is enough */
	const PAYLOAD_FILTER_PREDICATE *predicates;
	uint32_t count; /* of predicates, 1 .. WIRE_PAYLOAD_PREDICATES_MAX */
};

/*
 * etw_payload_program_write() - a filter of one event.
 *
 * @schema: of the event that @wish names
 * @ret:    begun anew
 *
 * Returns 0 with a blob that wire_payload_filter_check() takes; -EINVAL when a predicate names no field, one
 * that cannot be filtered by, an operator that its type does not have, or a value that is none of its type;
 * -EMSGSIZE when the blob would get too long; -ENOMEM; -EOPNOTSUPP when a field lies behind one whose size a filter
 * cannot tell, or behind more elements of structs than a payload has bytes.
 */
int etw_payload_program_write(const struct etw_schema *schema, const struct etw_payload_wish *wish,
			      struct etw_payload_blob *ret);

#endif
