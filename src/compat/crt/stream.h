/* SPDX-License-Identifier: MIT */
/* Wide characters on streams of the C library, which sees bytes only: UTF-8, or what the stream was opened with. */
#ifndef ETW_COMPAT_STREAM_H
#define ETW_COMPAT_STREAM_H

#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

enum etw_encoding {
	ETW_ENCODING_UTF8,
	ETW_ENCODING_UTF16,
};

/*
 * etw_stream_put() - writes @count units. A surrogate that waits for its other half is written with that.
 *
 * Returns 0, or -1 with errno.
 */
int etw_stream_put(FILE *file, const wchar_t *units, size_t count);

/* etw_stream_get() - one unit, or WEOF at the end. The second half of a pair is kept for the next call. */
wint_t etw_stream_get(FILE *file);

/* etw_stream_unget() - makes @unit what is read next; one at a time. Returns it, or WEOF. */
wint_t etw_stream_unget(FILE *file, wint_t unit);

/* etw_stream_set_encoding() - how wide characters of this stream are stored; forgets what was kept of it. */
int etw_stream_set_encoding(FILE *file, enum etw_encoding encoding);

#endif
