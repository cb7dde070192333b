/* SPDX-License-Identifier: MIT */
/* Names that callers give, against names of schemas. */
#ifndef ETW_API_TDH_WIDE_NAME_H
#define ETW_API_TDH_WIDE_NAME_H

#include <stdbool.h>

#include <etw/wintypes.h>

/*
 * etw_wide_is() - whether a caller's name is this one, case and all.
 *
 * @wide: read no further than it agrees, since programs pass what is no name at all
 */
bool etw_wide_is(const WCHAR *wide, const char *name);

#endif
