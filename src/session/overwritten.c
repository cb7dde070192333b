/* SPDX-License-Identifier: MIT */
#include "session/overwritten.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct etw_overwritten_buffer {
	struct etw_overwritten_buffer *next;
	uint8_t bytes[] __attribute__((aligned(8)));
};

static bool hold(struct etw_overwritten *overwritten)
{
	return !overwritten->budget ||
	       etw_budget_hold(overwritten->budget, overwritten->buffer_bytes) == 0;
}

static void let_go(struct etw_overwritten *overwritten)
{
	if (overwritten->budget)
		etw_budget_let_go(overwritten->budget, overwritten->buffer_bytes);
}

void etw_overwritten_keep(struct etw_overwritten *overwritten, uint64_t sequence,
			  const uint8_t *buffer)
{
	struct etw_overwritten_buffer *kept = NULL;

	if (sequence < overwritten->next || sequence >= overwritten->end || overwritten->result < 0)
		return;
	if (hold(overwritten)) {
		kept = malloc(sizeof(*kept) + overwritten->buffer_bytes);
		if (!kept)
			let_go(overwritten);
	}
	if (!kept) {
		overwritten->result = -ENOMEM;
		return;
	}
	kept->next = NULL;
	memcpy(kept->bytes, buffer, overwritten->buffer_bytes);
	if (overwritten->last)
		overwritten->last->next = kept;
	else
		overwritten->first = kept;
	overwritten->last = kept;
}

static void drop_first(struct etw_overwritten *overwritten)
{
	struct etw_overwritten_buffer *first = overwritten->first;

	overwritten->first = first->next;
	if (!overwritten->first)
		overwritten->last = NULL;
	free(first);
	let_go(overwritten);
}

bool etw_overwritten_take(struct etw_overwritten *overwritten, uint8_t *ret)
{
	if (!overwritten->first)
		return false;
	memcpy(ret, overwritten->first->bytes, overwritten->buffer_bytes);
	drop_first(overwritten);
	overwritten->next++;
	return true;
}

void etw_overwritten_done(struct etw_overwritten *overwritten)
{
	while (overwritten->first)
		drop_first(overwritten);
}
