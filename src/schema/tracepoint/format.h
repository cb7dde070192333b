/* SPDX-License-Identifier: MIT */
/*
 * The kernel's description of a tracepoint's record: the file `format` of tracefs, as it stands in events/SYSTEM/EVENT.
 * It has a line for each field, with the C declaration and where the field lies, and at the end the printf-like call that
 * the kernel shows the record with, kept as text here.
 * Source: Documentation/trace/events.rst of Linux; docs/tracepoints.md.
 */
#ifndef ETW_SCHEMA_TRACEPOINT_FORMAT_H
#define ETW_SCHEMA_TRACEPOINT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"

#define ETW_TRACEPOINT_FORMAT_BYTES_MAX ((size_t)64 << 10)
#define ETW_TRACEPOINT_FIELDS_MAX       256
#define ETW_TRACEPOINT_NAME_BYTES_MAX   127   /* of a tracepoint or a field */
#define ETW_TRACEPOINT_RECORD_MAX       65535 /* bytes of a record that fields may lie in */

/* Where the values of a field lie. */
enum etw_tracepoint_place {
	ETW_TRACEPOINT_INLINE,   /* in the field */
	ETW_TRACEPOINT_DATA_LOC, /* the field says where: bytes << 16 | offset in the record */
	ETW_TRACEPOINT_REL_LOC,  /* likewise, from the field's end on */
	ETW_TRACEPOINT_TO_END,   /* from the field's offset up to the end of the record */
};

struct etw_tracepoint_field {
	const char *type; /* of one element, as C has it: "unsigned long"; blanks are single */
	const char *name;
	uint32_t offset, bytes; /* of the field in the record */
	uint32_t count;         /* elements of an array in the field; else 1 */
	uint8_t place;          /* enum etw_tracepoint_place */
	uint8_t bit_shift;      /* of a bit field, from the lowest bit of its bytes */
	uint8_t bit_count;      /* 0: no bit field */
	bool is_array;
	bool is_signed;
	bool is_pointer;
	bool is_common; /* one of those that every record has */
};

struct etw_tracepoint_format {
	const char *name;
	uint32_t
		type; /* the kernel's number of the tracepoint, until it starts anew: the first two bytes of a record */
	uint32_t field_count;
	const struct etw_tracepoint_field *fields;
	const char *print;     /* what stands behind "print fmt: "; "" without it */
	uint32_t record_bytes; /* at least these a record has */
};

/*
 * etw_tracepoint_format_parse() - reads the text of such a file.
 *
 * @ret: lives in @arena, strings included
 *
 * Returns 0; -EBADMSG with @reterr, whose offset is the line; -E2BIG beyond ETW_TRACEPOINT_FORMAT_BYTES_MAX; -ENOMEM.
 */
int etw_tracepoint_format_parse(struct etw_arena *arena, const char *text, size_t bytes,
				struct etw_tracepoint_format **ret, struct etw_fault *reterr);

#endif
