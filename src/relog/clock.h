/* SPDX-License-Identifier: MIT */
/*
 * Times of one trace on the clock of another. Traces of one machine and one clock keep their raw times; all others go by
 * way of FILETIME, to 100 ns. An event's header has a time, and so have some payloads of the kernel's: that of StackWalk
 * names the event whose stack it is, and would not find it any more.
 */
#ifndef ETW_RELOG_CLOCK_H
#define ETW_RELOG_CLOCK_H

#include <stdbool.h>

#include "etl/header.h"
#include "relog/event.h"

/* etw_relog_clock_is_same() - whether raw times of both traces count the same. */
bool etw_relog_clock_is_same(const struct etw_etl_header *left, const struct etw_etl_header *right);

/* etw_relog_clock_convert() - a raw time of @from on the clock @to. */
int64_t etw_relog_clock_convert(const struct etw_clock *from, const struct etw_clock *to,
				int64_t time_raw);

/*
 * etw_relog_clock_patch() - converts the times in an event.
 *
 * @event: whose bytes these are, as etw_relog_event_encode() made them
 */
void etw_relog_clock_patch(const struct etw_clock *from, const struct etw_clock *to,
			   const struct etw_relog_event *event, uint8_t *bytes,
			   uint32_t byte_count);

#endif
