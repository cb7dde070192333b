/* SPDX-License-Identifier: MIT */
#include "compat/crt/format_sink.h"

#include <string.h>

#include "base/macros.h"

void etw_sink_put(struct etw_format_sink *sink, const void *units, size_t count)
{
	sink->count += count;
	if (count)
		sink->put(sink, units, count);
}

void etw_sink_ascii(struct etw_format_sink *sink, const char *text, size_t count)
{
	uint16_t wide[64];

	if (!sink->is_wide) {
		etw_sink_put(sink, text, count);
		return;
	}
	while (count) {
		size_t some = count < ARRAY_SIZE(wide) ? count : ARRAY_SIZE(wide);

		for (size_t i = 0; i < some; i++)
			wide[i] = (uint8_t)text[i];
		etw_sink_put(sink, wide, some);
		text += some;
		count -= some;
	}
}

void etw_sink_repeat(struct etw_format_sink *sink, char character, size_t count)
{
	char some[64];

	memset(some, character, sizeof(some));
	while (count) {
		size_t part = count < sizeof(some) ? count : sizeof(some);

		etw_sink_ascii(sink, some, part);
		count -= part;
	}
}

void etw_put_number(struct etw_format_sink *sink, const struct etw_spec *spec, const char *prefix,
		    size_t zeros, const char *digits, size_t count, bool may_pad_zeros)
{
	size_t length = strlen(prefix) + zeros + count;
	size_t padding = (size_t)spec->width > length ? (size_t)spec->width - length : 0;

	if (padding && spec->zeros && !spec->left && may_pad_zeros) {
		zeros += padding;
		padding = 0;
	}
	if (!spec->left)
		etw_sink_repeat(sink, ' ', padding);
	etw_sink_ascii(sink, prefix, strlen(prefix));
	etw_sink_repeat(sink, '0', zeros);
	etw_sink_ascii(sink, digits, count);
	if (spec->left)
		etw_sink_repeat(sink, ' ', padding);
}
