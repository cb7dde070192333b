/* SPDX-License-Identifier: MIT */
/* What would help to decode the rest, provider by provider, with the exact command. */
#ifndef ETW_TOOLS_ETW_ADVICE_H
#define ETW_TOOLS_ETW_ADVICE_H

#include "tools/common/inputs.h"
#include "tools/etw/tally.h"

/*
 * advice_write() - appends a paragraph for each of at most @limit providers that do not decode fully.
 *
 * Says how many more there are. Returns how many providers do not decode fully.
 */
size_t advice_write(struct etw_text *text, const struct tally *tally,
		    const struct etw_inputs *inputs, size_t limit);

#endif
