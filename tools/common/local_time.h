/* SPDX-License-Identifier: MIT */
/*
 * Local time: that of the machine that a trace comes from, as its header describes the zone; where it describes none,
 * this machine's.
 */
#ifndef ETW_TOOLS_COMMON_LOCAL_TIME_H
#define ETW_TOOLS_COMMON_LOCAL_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "etl/header.h"

struct etw_local_time {
	const uint8_t *zone; /* borrowed: 172 bytes of the header; NULL: this machine's */
	int64_t block;       /* of a quarter of an hour, for which `east_minutes` holds */
	int32_t east_minutes;
	bool has_block;
};

/* etw_local_time_init() - @header: of the trace, which must outlive @local */
void etw_local_time_init(struct etw_local_time *local, const struct etw_etl_header *header);

/* etw_local_time_east() - minutes east of Greenwich in force at @time_ft (UTC). */
int32_t etw_local_time_east(struct etw_local_time *local, int64_t time_ft);

/*
 * etw_local_time_to_utc() - the moment at which clocks show @wall_ft.
 *
 * Of two, where clocks are put back, either; one that clocks skip becomes the moment an hour later.
 */
int64_t etw_local_time_to_utc(struct etw_local_time *local, int64_t wall_ft);

/* etw_local_time_write() - "the trace's machine (UTC-7 when it began)". */
void etw_local_time_write(struct etw_text *text, struct etw_local_time *local, int64_t time_ft);

#endif
