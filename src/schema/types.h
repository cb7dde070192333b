/* SPDX-License-Identifier: MIT */
/* Facts about TDH's in-types, once for everybody who reads, decodes or shows fields. */
#ifndef ETW_SCHEMA_TYPES_H
#define ETW_SCHEMA_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/model.h"

/* What the values of an in-type are. */
enum etw_type_kind {
	ETW_TYPE_NONE,
	ETW_TYPE_SIGNED,
	ETW_TYPE_UNSIGNED,
	ETW_TYPE_HEX, /* an unsigned integer, or a pointer */
	ETW_TYPE_BOOLEAN,
	ETW_TYPE_FLOAT,
	ETW_TYPE_CHARACTER,
	ETW_TYPE_UTF16,
	ETW_TYPE_ANSI,
	ETW_TYPE_BYTES,
	ETW_TYPE_GUID,
	ETW_TYPE_SID,
	ETW_TYPE_FILETIME,
	ETW_TYPE_SYSTEMTIME,
};

/* What says how long a value is. */
enum etw_type_extent {
	ETW_EXTENT_UNKNOWN, /* no such in-type */
	ETW_EXTENT_FIXED,
	ETW_EXTENT_POINTER, /* the event */
	ETW_EXTENT_GIVEN,   /* the schema: a length, a field that has it, or a NUL for strings */
	ETW_EXTENT_COUNT16, /* 16 bits before it */
	ETW_EXTENT_COUNT16_BIG, /* the same, big-endian */
	ETW_EXTENT_COUNT32,     /* 32 bits before it */
	ETW_EXTENT_TO_END,      /* the payload's end */
	ETW_EXTENT_SID,         /* the SID's own header */
	ETW_EXTENT_WBEM_SID,    /* the same, behind two pointers */
};

struct etw_type {
	uint8_t kind;      /* enum etw_type_kind; bytes for unknown in-types */
	uint8_t extent;    /* enum etw_type_extent */
	uint8_t bytes;     /* of one value; 8 for pointers, 0 where they vary */
	uint8_t unit;      /* bytes of what lengths count */
	uint16_t out_type; /* what TDH fills in when none is named */
};

#define ETW_TYPE_MANIFEST_COUNT (TDH_INTYPE_MANIFEST_COUNTEDBINARY + 1)
#define ETW_TYPE_MOF_COUNT      (TDH_INTYPE_WBEMSID - TDH_INTYPE_COUNTEDSTRING + 1)
#define ETW_TYPE_COUNT          (ETW_TYPE_MANIFEST_COUNT + ETW_TYPE_MOF_COUNT)

/* Manifests' in-types, then MOF's, then what all others share. */
extern const struct etw_type etw_schema_types[ETW_TYPE_COUNT + 1];

/* etw_schema_type() - the facts about an in-type, whatever its value. Static. */
static inline const struct etw_type *etw_schema_type(uint16_t in_type)
{
	unsigned mof = in_type - (unsigned)TDH_INTYPE_COUNTEDSTRING;
	unsigned index = ETW_TYPE_COUNT;

	if (in_type < ETW_TYPE_MANIFEST_COUNT)
		index = in_type;
	else if (mof < ETW_TYPE_MOF_COUNT)
		index = ETW_TYPE_MANIFEST_COUNT + mof;
	return &etw_schema_types[index];
}

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
