/* SPDX-License-Identifier: MIT */
/*
 * WPP messages as text: the message of a TMF or PDB with its arguments, and the prefix that tracefmt puts in
 * front. What an argument looks like is docs/format/wpp.md, "Items"; src/decode/format_wpp_item.c writes it.
 */
#ifndef ETW_DECODE_FORMAT_WPP_H
#define ETW_DECODE_FORMAT_WPP_H

#include "base/text.h"
#include "decode/decoding.h"

/* The prefix that stands for "%0" when nothing else is wished; TRACE_FORMAT_PREFIX of tracefmt. */
#define ETW_WPP_PREFIX "[%9!d!]%8!04X!.%3!04X!::%4!s! [%1!s!]"

#define ETW_WPP_MESSAGE_BYTES_MAX ((size_t)64 * 1024) /* of the text, unless the options say less */

struct etw_wpp_options {
	const char *prefix;         /* NULL: none, "%0" stands for nothing */
	int32_t utc_offset_minutes; /* of the times shown; 0: UTC */
	bool has_long_times;        /* seven digits behind the second, not three */
	size_t bytes_max;           /* 0: ETW_WPP_MESSAGE_BYTES_MAX */
};

struct etw_wpp_message;

/* The pieces of one message, found once. */
struct etw_wpp_form;

/*
 * etw_wpp_form_compile() - finds the pieces of a message.
 *
 * @message: borrowed; must outlive the form
 *
 * Returns 0 or -ENOMEM.
 */
int etw_wpp_form_compile(const struct etw_wpp_message *message, struct etw_wpp_form **ret);

/* etw_wpp_form_free() - takes NULL. */
void etw_wpp_form_free(struct etw_wpp_form *form);

/* etw_wpp_sequence() - a message's number, which records carry as the id of an instance; false: it has none. */
bool etw_wpp_sequence(const EVENT_RECORD *record, uint32_t *ret);

/*
 * etw_format_wpp() - the formatted message of a WPP event.
 *
 * @options: borrowed; NULL: no prefix, UTC
 *
 * Arguments that the walk did not reach are marked where they would stand, with the reason. Longer texts end
 * with "..." at the limit, and so do those of which precisions have cut more than 1 MiB. Returns whether the event is a WPP message with a schema; else nothing is
 * appended.
 */
bool etw_format_wpp(const struct etw_decoding *decoding, const struct etw_wpp_options *options,
		    struct etw_text *text);

#endif
