/* SPDX-License-Identifier: MIT */
#include "tools/common/local_time.h"

#include <time.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/time.h"
#include "tools/common/zone.h"

#define MINUTE (60 * ETW_FILETIME_PER_SECOND)
#define BLOCK  (15 * MINUTE) /* zones change at full quarters of an hour */

/* All of it zero is what a session without a zone has, not one in Greenwich: that one has a name. */
static bool has_zone(const uint8_t *zone)
{
	for (size_t i = 0; i < ETW_ZONE_BYTES; i++) {
		if (zone[i])
			return true;
	}
	return false;
}

void etw_local_time_init(struct etw_local_time *local, const struct etw_etl_header *header)
{
	*local = (struct etw_local_time){0};
	if (has_zone(header->time_zone))
		local->zone = header->time_zone;
}

/* This machine's; UTC for times that its clocks do not know. */
static int32_t own_east(int64_t time_ft)
{
	time_t seconds = (time_t)(etw_filetime_between(ETW_FILETIME_UNIX_EPOCH, time_ft) /
				  ETW_FILETIME_PER_SECOND);
	struct tm parts;

	return localtime_r(&seconds, &parts) ? (int32_t)(parts.tm_gmtoff / 60) : 0;
}

int32_t etw_local_time_east(struct etw_local_time *local, int64_t time_ft)
{
	const int64_t block = time_ft / BLOCK;
	bool is_daylight;

	if (LIKELY(local->has_block && local->block == block))
		return local->east_minutes;
	local->east_minutes = local->zone ? -etw_zone_bias(local->zone, time_ft, &is_daylight)
					  : own_east(time_ft);
	local->block = block;
	local->has_block = true;
	return local->east_minutes;
}

static int64_t minus_minutes(int64_t time_ft, int32_t minutes)
{
	int64_t result;

	if (!__builtin_sub_overflow(time_ft, minutes * MINUTE, &result))
		return result;
	return minutes > 0 ? INT64_MIN : INT64_MAX;
}

int64_t etw_local_time_to_utc(struct etw_local_time *local, int64_t wall_ft)
{
	int64_t guess = minus_minutes(wall_ft, etw_local_time_east(local, wall_ft));

	return minus_minutes(wall_ft, etw_local_time_east(local, guess));
}

void etw_local_time_write(struct etw_text *text, struct etw_local_time *local, int64_t time_ft)
{
	const int32_t east = etw_local_time_east(local, time_ft);
	const uint32_t minutes = (uint32_t)(east < 0 ? -east : east);

	etw_text_puts(text, local->zone ? "the trace's machine" : "this machine");
	etw_text_printf(text, " (UTC%c%02u:%02u when it began)", east < 0 ? '-' : '+', minutes / 60,
			minutes % 60);
}
