/* SPDX-License-Identifier: MIT */
#include "source/kernel/out/watermark.h"

#include <string.h>

#define MOMENTS ETW_KERNEL_MOMENTS

int64_t etw_kernel_watermark_move(struct etw_kernel_watermark *watermark,
				  const struct etw_source_host *host, uint64_t moment_ns)
{
	uint64_t *moments = watermark->moments;
	uint32_t known = 0;

	if (watermark->moment_count == MOMENTS) {
		/* The newest counts; one in the middle waits no longer than that. */
		memmove(&moments[MOMENTS / 2], &moments[MOMENTS / 2 + 1],
			(MOMENTS / 2 - 1) * sizeof(moments[0]));
		watermark->moment_count--;
	}
	moments[watermark->moment_count++] = moment_ns;
	while (known < watermark->moment_count &&
	       host->to_raw(host->context, moments[known], &watermark->raw) == 0)
		known++;
	watermark->moment_count -= known;
	memmove(moments, moments + known, watermark->moment_count * sizeof(moments[0]));
	return watermark->raw;
}
