/* SPDX-License-Identifier: MIT */
/* RT_MESSAGETABLE: the texts of one culture by their number. */
#ifndef ETW_COMPILE_MESSAGE_TABLE_H
#define ETW_COMPILE_MESSAGE_TABLE_H

#include "base/fault.h"
#include "base/text.h"
#include "compile/model.h"

/* How the texts of a table are stored. */
enum etw_compile_encoding {
	COMPILE_UTF16,
	COMPILE_ANSI, /* the system's code page, which is UTF-8 here */
	COMPILE_UTF8, /* which Windows knows since 10.0.19041 */
};

/*
 * etw_compile_message_table() - appends the table of one culture.
 *
 * @culture:      of the manifest; messages that it lacks take the text of the primary one
 * @is_line_kept: whether CR LF is put behind each text, as without the option -n of mc
 * @out:          bytes; empty at the call
 *
 * Returns 0; -EFBIG with @reterr, whose offset is the line of the text that is too long; -ENOMEM.
 */
int etw_compile_message_table(const struct mc_manifest *manifest, const struct mc_culture *culture,
			      bool is_line_kept, struct etw_text *out, struct etw_fault *reterr);

/* etw_compile_message_table_as() - the same in an encoding. */
int etw_compile_message_table_as(const struct mc_manifest *manifest,
				 const struct mc_culture *culture, bool is_line_kept,
				 enum etw_compile_encoding encoding, struct etw_text *out,
				 struct etw_fault *reterr);

#endif
