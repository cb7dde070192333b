/* SPDX-License-Identifier: MIT */
/* Where the printf engine writes, and what the parts that write values share. */
#ifndef ETW_COMPAT_FORMAT_SINK_H
#define ETW_COMPAT_FORMAT_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "compat/crt/format_spec.h"

/* Where text goes. `put` takes @count units of the sink's width; it never stops, and remembers an error. */
struct etw_format_sink {
	void (*put)(struct etw_format_sink *sink, const void *units, size_t count);
	size_t count; /* units so far; the engine counts */
	bool is_wide;
	int error; /* an errno value, or 0 */
};

/* etw_sink_put() - writes units of the sink's width. */
void etw_sink_put(struct etw_format_sink *sink, const void *units, size_t count);
/* etw_sink_repeat() - writes an ASCII character @count times. */
void etw_sink_repeat(struct etw_format_sink *sink, char character, size_t count);
/* etw_sink_ascii() - writes ASCII text. */
void etw_sink_ascii(struct etw_format_sink *sink, const char *text, size_t count);

/* etw_put_number() - sign or base in @prefix, then @zeros zeros, then @digits; padded as @spec says. */
void etw_put_number(struct etw_format_sink *sink, const struct etw_spec *spec, const char *prefix,
		    size_t zeros, const char *digits, size_t count, bool may_pad_zeros);

#endif
