/* SPDX-License-Identifier: MIT */
/* Which idle states and which frequencies the processors have: what the events of them are read by. */
#ifndef ETW_SOURCE_KERNEL_EVENTS_POWER_EVENTS_H
#define ETW_SOURCE_KERNEL_EVENTS_POWER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/out/out.h"
#include "wire/group_masks.h"

/* etw_kernel_power_is_wanted() - whether @masks ask for what etw_kernel_write_power() writes. */
bool etw_kernel_power_is_wanted(const uint32_t masks[WIRE_GROUP_MASKS_WORDS]);

/* etw_kernel_write_power() - writes descriptions of those that @masks ask for the events of. @root: put in front of /sys: "" */
void etw_kernel_write_power(struct etw_kernel_out *out, const char *root,
			    const uint32_t masks[WIRE_GROUP_MASKS_WORDS]);

#endif
