/* SPDX-License-Identifier: MIT */
/*
 * kernel_probe - whether the kernel can be recorded here: ends with 0, or prints what is missing and ends with 77.
 * ./check asks it which tests may be skipped.
 */
#include <stdio.h>

#include "source/kernel/probe/probe.h"

#define SKIPPED 77

int main(void)
{
	struct etw_fault fault = {0};

	if (!etw_kernel_probe_check(&fault))
		return 0;
	printf("%s\n", fault.sentence);
	return SKIPPED;
}
