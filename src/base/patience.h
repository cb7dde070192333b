/* SPDX-License-Identifier: MIT */
/*
 * Limits of time that hold on a machine that stands still. A virtual machine that is paused, and a process that is
 * stopped, find afterwards that every limit on a clock has passed at once, before anybody had a chance to do what
 * was waited for. So a limit here counts the time between two looks as one step at most: whoever waits must
 * have looked often.
 */
#ifndef ETW_BASE_PATIENCE_H
#define ETW_BASE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

/* So much of the time between two looks counts; who waits looks about that often. */
#define ETW_PATIENCE_STEPS 10

struct etw_patience {
	uint64_t last_ns; /* of the last look */
	uint64_t left_ns;
	uint64_t step_ns;
};

/* etw_patience_begin() - a limit of @limit_ms from @now_ns on. */
static inline struct etw_patience etw_patience_begin(uint64_t limit_ms, uint64_t now_ns)
{
	const uint64_t limit_ns = limit_ms * ETW_NS_PER_MS;

	return (struct etw_patience){now_ns, limit_ns, limit_ns / ETW_PATIENCE_STEPS + 1};
}

/* etw_patience_look() - whether the limit has passed. @now_ns: of the same clock as before. */
static inline bool etw_patience_look(struct etw_patience *patience, uint64_t now_ns)
{
	uint64_t spent_ns = now_ns > patience->last_ns ? now_ns - patience->last_ns : 0;

	if (spent_ns > patience->step_ns)
		spent_ns = patience->step_ns;
	patience->left_ns -= spent_ns < patience->left_ns ? spent_ns : patience->left_ns;
	patience->last_ns = now_ns;
	return patience->left_ns == 0;
}

/* etw_patience_next_ns() - when to look again at the latest, in absolute time. */
static inline uint64_t etw_patience_next_ns(const struct etw_patience *patience)
{
	return patience->last_ns +
	       (patience->left_ns < patience->step_ns ? patience->left_ns : patience->step_ns);
}

#endif
