/* SPDX-License-Identifier: MIT */
/*
 * The latest moment that the session clock can tell and before which no event is to come. The clock converts moments
 * that lie before its last sample; those behind it wait here for the next one.
 */
#ifndef ETW_SOURCE_KERNEL_OUT_WATERMARK_H
#define ETW_SOURCE_KERNEL_OUT_WATERMARK_H

#include <stdint.h>

#include "base/source.h"

#define ETW_KERNEL_MOMENTS 64 /* that wait */

struct etw_kernel_watermark {
	uint64_t moments[ETW_KERNEL_MOMENTS]; /* CLOCK_MONOTONIC, oldest first */
	uint32_t moment_count;
	int64_t raw; /* session clock; 0 before the first moment that was converted */
};

/*
 * etw_kernel_watermark_move() - no event before @moment_ns comes any more.
 *
 * @moment_ns: not before the last one
 *
 * Returns the watermark, as session clock.
 */
int64_t etw_kernel_watermark_move(struct etw_kernel_watermark *watermark,
				  const struct etw_source_host *host, uint64_t moment_ns);

#endif
