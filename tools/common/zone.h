/* SPDX-License-Identifier: MIT */
/* The time zone that a trace's header describes. */
#ifndef ETW_TOOLS_COMMON_ZONE_H
#define ETW_TOOLS_COMMON_ZONE_H

#include <stdbool.h>
#include <stdint.h>

/* Where things are in a TIME_ZONE_INFORMATION as stored. */
#define ETW_ZONE_STANDARD_NAME 4
#define ETW_ZONE_DAYLIGHT_NAME 88
#define ETW_ZONE_NAME_UNITS    32
#define ETW_ZONE_BYTES         172

/*
 * etw_zone_bias() - minutes west of Greenwich in force at @time_ft (UTC).
 *
 * @zone:         172 bytes, TIME_ZONE_INFORMATION
 * @ret_daylight: whether that is daylight time
 */
int32_t etw_zone_bias(const uint8_t *zone, int64_t time_ft, bool *ret_daylight);

#endif
