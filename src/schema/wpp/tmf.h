/* SPDX-License-Identifier: MIT */
/*
 * TMF text: the messages of one or several source files, as tracepdb writes them. Read leniently where the
 * genuine files are (line ends, blanks, attributes in any order, unknown items), and strictly where a guess
 * could show wrong values. Source: docs/format/wpp.md "TMF files".
 */
#ifndef ETW_SCHEMA_TMF_H
#define ETW_SCHEMA_TMF_H

#include "base/arena.h"
#include "base/fault.h"
#include "base/text.h"
#include "schema/wpp/wpp.h"

/*
 * etw_tmf_parse() - reads the messages of a TMF file.
 *
 * @text: @bytes of UTF-8, an ANSI code page, or UTF-16LE with byte order mark; borrowed for the call
 *
 * Returns 0; -EBADMSG with @reterr (offset = line) when it is not a TMF file that can be read; -ENOMEM. On
 * failure the arena is as it was.
 */
int etw_tmf_parse(struct etw_arena *arena, const char *text, size_t bytes,
		  struct etw_wpp_messages *ret, struct etw_fault *reterr);

/*
 * etw_tmf_write() - the messages as TMF text that etw_tmf_parse() reads as the same messages.
 *
 * Memory that runs out is remembered by @text.
 */
void etw_tmf_write(const struct etw_wpp_messages *messages, struct etw_text *text);

#endif
