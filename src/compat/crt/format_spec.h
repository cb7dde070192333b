/* SPDX-License-Identifier: MIT */
/* One conversion of a format, parsed. */
#ifndef ETW_COMPAT_FORMAT_SPEC_H
#define ETW_COMPAT_FORMAT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etw_spec_size {
	ETW_SIZE_DEFAULT,
	ETW_SIZE_CHAR,        /* hh */
	ETW_SIZE_SHORT,       /* h; for text: narrow */
	ETW_SIZE_LONG,        /* l, I32: 32 bits; for text: wide */
	ETW_SIZE_64,          /* ll, I64, j */
	ETW_SIZE_POINTER,     /* z, t, I */
	ETW_SIZE_LONG_DOUBLE, /* L */
	ETW_SIZE_WIDE,        /* w: wide text */
};

struct etw_spec {
	bool left;
	bool plus;
	bool blank;
	bool alternate;
	bool zeros;
	int width;
	int precision; /* -1: none */
	enum etw_spec_size size;
	char conversion;
	unsigned position[3]; /* of value, width and precision in the _p functions; 0: the next */
	bool width_given;     /* by an argument */
	bool precision_given;
};

/*
 * etw_spec_parse() - the conversion whose `%` is at @at.
 *
 * Returns the units that it has, `%` included; 0 for what is no conversion, with @ret_units of text to write as it is.
 */
size_t etw_spec_parse(const void *format, bool is_wide, size_t at, struct etw_spec *ret,
		      size_t *ret_units);

/* etw_format_unit() - one unit of a format of either width. */
static inline uint32_t etw_format_unit(const void *format, bool is_wide, size_t at)
{
	return is_wide ? ((const uint16_t *)format)[at] : ((const uint8_t *)format)[at];
}

/* etw_spec_is_wide() - whether the text of %s, %c or %Z is wide in a function of that width. */
bool etw_spec_is_wide(const struct etw_spec *spec, bool is_wide);

#endif
