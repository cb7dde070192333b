/* SPDX-License-Identifier: MIT */
/* An event's message with its values in it. */
#ifndef ETW_DECODE_FORMAT_MESSAGE_H
#define ETW_DECODE_FORMAT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "decode/decoding.h"

#define ETW_FORMAT_MESSAGE_BYTES_MAX ((size_t)1024 * 1024)

/*
 * etw_format_message() - the schema's message with its inserts replaced, or nothing without a message.
 *
 * A message may name a long value any number of times: it is cut behind a whole character where it grows
 * beyond ETW_FORMAT_MESSAGE_BYTES_MAX bytes, and ends in "..." then, which counts. What precisions cut from values counts
 * as if it were there. Returns whether anything was appended.
 */
bool etw_format_message(const struct etw_decoding *decoding, struct etw_text *text);

/* etw_format_message_within() - the same with a limit of the caller's own, from 3 bytes up. */
bool etw_format_message_within(const struct etw_decoding *decoding, size_t bytes_max,
			       struct etw_text *text);

#endif
