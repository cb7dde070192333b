/* SPDX-License-Identifier: MIT */
/* Facts about TDH's in-types that several readers share. */
#ifndef ETW_SCHEMA_TYPES_H
#define ETW_SCHEMA_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/model.h"

/* etw_schema_out_type() - the out-type that TDH fills in when none is named; 0 for unknown in-types. */
uint16_t etw_schema_out_type(uint16_t in_type);

/*
 * etw_schema_length() - bytes of one value of a fixed-size in-type, 0 for the others.
 *
 * Pointers count 8: the real size is that of the event and no reader relies on this number.
 */
uint16_t etw_schema_length(uint16_t in_type);

/* etw_schema_level_name() - "win:Error" and the like for levels 0 to 5, else NULL. */
const char *etw_schema_level_name(uint8_t level);

/* etw_schema_opcode_name() - "win:Start" and the like for winmeta's opcodes, else NULL. */
const char *etw_schema_opcode_name(uint8_t opcode);

/*
 * etw_schema_fields_check() - whether the fields of a schema from outside hang together.
 *
 * Structs must form trees of limited depth behind the top-level fields, and a length or count must
 * refer to an earlier field, so that no walk can loop or grow without bound.
 *
 * Returns NULL, or a static sentence that says what is wrong.
 */
const char *etw_schema_fields_check(const struct etw_schema *schema);

#endif
