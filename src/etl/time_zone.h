/* SPDX-License-Identifier: MIT */
/*
 * The C library's time zone as Windows tells it: TIME_ZONE_INFORMATION, 0xAC bytes, little-endian. Windows
 * knows one rule a zone: a bias, and two dates that come again each year.
 * Source: docs/format/etl.md "Writing".
 */
#ifndef ETW_ETL_TIME_ZONE_H
#define ETW_ETL_TIME_ZONE_H

#include <stdint.h>

#define ETW_TIME_ZONE_BYTES 0xAC

/*
 * etw_time_zone_write() - the zone that localtime(3) goes by, with the dates of the year that @now_unix is in.
 *
 * Names are the C library's abbreviations. A zone that does not change exactly twice in that year has no
 * dates, and the offset of @now_unix as its bias. Context: calls tzset.
 */
void etw_time_zone_write(int64_t now_unix, uint8_t to[ETW_TIME_ZONE_BYTES]);

#endif
