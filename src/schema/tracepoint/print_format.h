/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's printf-like call of a tracepoint tells of its fields beyond their types: names of values
 * (__print_symbolic), names of bits (__print_flags), and how a number is shown. What cannot be read of it, such as names that
 * the kernel has left in place of numbers, is left out: then there is no hint.
 */
#ifndef ETW_SCHEMA_TRACEPOINT_PRINT_FORMAT_H
#define ETW_SCHEMA_TRACEPOINT_PRINT_FORMAT_H

#include "schema/model.h"
#include "schema/tracepoint/format.h"

#define ETW_TRACEPOINT_MAP_ENTRIES_MAX 1024

enum etw_tracepoint_show {
	ETW_TRACEPOINT_SHOW_PLAIN,
	ETW_TRACEPOINT_SHOW_HEX,
	ETW_TRACEPOINT_SHOW_IPV4,
	ETW_TRACEPOINT_SHOW_IPV6,
};

struct etw_tracepoint_hint {
	uint8_t show;              /* enum etw_tracepoint_show */
	bool is_bytes;             /* shown as an array or as bytes, and nowhere as text */
	const struct etw_map *map; /* NULL: none; its values may be those of 32 bits with a sign */
	bool has_negative;         /* the map has values below 0 */
};

/*
 * etw_tracepoint_hints() - reads `format->print`.
 *
 * @ret: format->field_count of them; the maps live in @arena
 *
 * Returns 0, also where nothing can be read; -ENOMEM.
 */
int etw_tracepoint_hints(struct etw_arena *arena, const struct etw_tracepoint_format *format,
			 struct etw_tracepoint_hint *ret);

/*
 * etw_tracepoint_constant() - the value of a constant expression of C: numbers, casts, and the operators that masks are made
 * of.
 *
 * @at: moved behind it
 *
 * Returns whether it is one.
 */
bool etw_tracepoint_constant(const char **at, const char *end, int64_t *ret);

#endif
