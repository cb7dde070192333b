/* SPDX-License-Identifier: MIT */
/*
 * The engine of every printf: parses a format by Microsoft's rules and writes the text into a sink.
 *
 * A function of wide characters has a wide format, a wide sink and `%s` for wide text; a narrow one has them narrow.
 * Text of the other width is converted between UTF-8 and UTF-16. `l` means 32 bits, as `long` does on Windows.
 */
#ifndef ETW_COMPAT_FORMAT_H
#define ETW_COMPAT_FORMAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "compat/crt/format_sink.h"

/* Where arguments come from: a list of variable arguments, or an array with one slot for each. */
struct etw_format_arguments {
	const uintptr_t *slots; /* NULL: the list counts; else the next slot */
	va_list list;
};

enum etw_format_options {
	ETW_FORMAT_STRICT =
		1, /* a malformed format is an invalid parameter, as in the _s functions */
	ETW_FORMAT_POSITIONAL = 2, /* %1$d, as in the _p functions */
	ETW_FORMAT_NO_FLOATS = 4,  /* %e %f %g are no conversions */
};

/*
 * etw_format() - writes the formatted text into @sink.
 *
 * Returns the units written, or -1 with errno: EINVAL for a format that the options refuse, the sink's error, or
 * EOVERFLOW past INT_MAX. What no conversion is, is written as it stands.
 */
int etw_format(struct etw_format_sink *sink, const void *format,
	       struct etw_format_arguments *arguments, unsigned options);

/* A sink of @limit units at @at; what does not fit is counted only, and nothing is terminated. */
struct etw_format_buffer {
	struct etw_format_sink sink;
	void *at;
	size_t limit;
};

/* etw_format_buffer() - a sink into memory. */
struct etw_format_buffer etw_format_buffer(void *at, size_t limit, bool is_wide);

/* Which of Microsoft's rules a buffer's end follows. */
enum etw_format_rule {
	ETW_RULE_C99,      /* snprintf: cut, terminated, returns what was needed */
	ETW_RULE_STANDARD, /* swprintf: cut, terminated, -1 */
	ETW_RULE_OLD, /* _snprintf: cut, not terminated, -1; returns the length for no buffer */
	ETW_RULE_UNLIMITED, /* sprintf */
	ETW_RULE_COUNT,     /* _scprintf */
};

/* etw_print_buffer() - a printf into @limit units at @buffer by @rule. */
int etw_print_buffer(enum etw_format_rule rule, bool is_wide, void *buffer, size_t limit,
		     const void *format, va_list list);

/* etw_print_secure() - _snprintf_s and sprintf_s: at most @count characters into @size units. */
int etw_print_secure(bool is_wide, void *buffer, size_t size, size_t count, bool has_count,
		     const void *format, va_list list);

/* etw_print_file() - a printf onto a stream, as UTF-8 unless the stream has another encoding. */
int etw_print_file(FILE *file, bool is_wide, const void *format, va_list list, unsigned options);

#endif
