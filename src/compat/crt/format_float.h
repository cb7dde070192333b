/* SPDX-License-Identifier: MIT */
/* Floating point numbers of the printf engine. */
#ifndef ETW_COMPAT_FORMAT_FLOAT_H
#define ETW_COMPAT_FORMAT_FLOAT_H

#include "compat/crt/format_sink.h"

/* etw_put_float() - %a %e %f %g; the value as a double, as Windows' long double is. */
void etw_put_float(struct etw_format_sink *sink, const struct etw_spec *spec, double value);

#endif
