/* SPDX-License-Identifier: MIT */
/*
 * How long the machine was suspended while a host watched it, and what became of its clocks. Only sums, so that whoever
 * looks later than after each suspend misses none.
 */
#ifndef ETW_SESSION_COMMON_SUSPENDS_H
#define ETW_SESSION_COMMON_SUSPENDS_H

#include <stdint.h>

struct etw_suspends {
	uint64_t count;
	int64_t noticed_ft; /* the last one */
	uint64_t asleep_ns;
	uint64_t behind_ns;  /* of it the CPU's counter, which clock 3 is, did not count */
	uint64_t missing_ns; /* of it QPC, which clock 1 is, did not count and was not put right */
};

#endif
