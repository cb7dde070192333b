/* SPDX-License-Identifier: MIT */
/* The A/W edge of the consumer's side: WCHAR strings of callers, as UTF-8 and back. */
#ifndef ETW_API_WIDE_H
#define ETW_API_WIDE_H

#include <stddef.h>

#include <etw/wintypes.h>

/* etw_wide_units() - code units of a WCHAR string without its NUL. */
size_t etw_wide_units(const WCHAR *text);

/* etw_wide_to_utf8() - an owned UTF-8 copy in @ret. Returns 0 or -ENOMEM. */
int etw_wide_to_utf8(const WCHAR *text, char **ret);

/* etw_wide_copy() - an owned copy in @ret. Returns 0 or -ENOMEM. */
int etw_wide_copy(const WCHAR *text, WCHAR **ret);

#endif
