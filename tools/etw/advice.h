/* SPDX-License-Identifier: MIT */
/* What would help to decode the rest, provider by provider, with the exact command. */
#ifndef ETW_TOOLS_ETW_ADVICE_H
#define ETW_TOOLS_ETW_ADVICE_H

#include "tools/common/inputs.h"
#include "tools/etw/tally.h"

/*
 * advice_write() - appends a paragraph for each of at most @limit providers that do not decode fully.
 *
 * @is_known_used: whether the table of known providers was asked; it is what helps most where it was not
 *
 * Says how many more there are. Returns how many providers do not decode fully.
 */
size_t advice_write(struct etw_text *text, const struct tally *tally,
		    const struct etw_inputs *inputs, bool is_known_used, size_t limit);

/*
 * advice_reasons_write() - the same in a line: how many events, of whom, and why they do not decode.
 *
 * @limit: providers that are named; the others are counted. Returns how many there are.
 */
size_t advice_reasons_write(struct etw_text *text, const struct tally *tally, size_t limit);

#endif
