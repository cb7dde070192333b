/* SPDX-License-Identifier: MIT */
/* Numbers for people: the same in every locale. */
#ifndef ETW_TOOLS_COMMON_NUMBER_H
#define ETW_TOOLS_COMMON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* etw_number_grouped() - "1,234,567". */
void etw_number_grouped(struct etw_text *text, uint64_t value);

/* etw_number_bytes() - "813 bytes", "42.9 MB" (powers of 1000). */
void etw_number_bytes(struct etw_text *text, uint64_t bytes);

/* etw_number_duration() - "250 us", "11.3 s", "2 min 5 s", "3 h 12 min", "2 d 4 h" from 100 ns. */
void etw_number_duration(struct etw_text *text, int64_t duration_ft);

/* etw_number_share() - "99.3%"; never 100% when something is missing, nor 0% when there is something. */
void etw_number_share(struct etw_text *text, uint64_t part, uint64_t whole);

/* etw_number_count() - "1 event", "2,041 events": @noun with an s unless @value is 1. */
void etw_number_count(struct etw_text *text, uint64_t value, const char *noun);

#endif
