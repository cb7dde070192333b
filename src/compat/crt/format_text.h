/* SPDX-License-Identifier: MIT */
/* Text of either width into a sink of either width, for the printf engine. */
#ifndef ETW_COMPAT_FORMAT_TEXT_H
#define ETW_COMPAT_FORMAT_TEXT_H

#include "compat/crt/format_sink.h"

/* etw_put_text() - a string of @units, or up to its NUL where @units is SIZE_MAX, cut by the precision. */
void etw_put_text(struct etw_format_sink *sink, const struct etw_spec *spec, const void *text,
		  size_t units, bool text_is_wide);

#endif
