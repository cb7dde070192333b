/* SPDX-License-Identifier: MIT */
/*
 * What Windows' kernel logger says of its machine when it stops: the events of SystemConfig, and those of SysConfig, which
 * Windows' merging step adds.
 * Source: docs/kernel-events/config.md.
 */
#ifndef ETW_SOURCE_KERNEL_CONFIG_CONFIG_EVENTS_H
#define ETW_SOURCE_KERNEL_CONFIG_CONFIG_EVENTS_H

#include <stdint.h>

#include "source/kernel/out/out.h"

/* Which events: the bits of the group masks' word 6. */
enum etw_kernel_config_group {
	ETW_KERNEL_CONFIG_SYSTEM = 0x01,   /* processors, power, platform, build */
	ETW_KERNEL_CONFIG_GRAPHICS = 0x02, /* display adapters */
	ETW_KERNEL_CONFIG_STORAGE = 0x04,  /* disks, volumes, what is mounted */
	ETW_KERNEL_CONFIG_NETWORK = 0x08,  /* interfaces, TCP */
	ETW_KERNEL_CONFIG_SERVICES = 0x10,
	ETW_KERNEL_CONFIG_PNP = 0x20, /* devices, interrupts */
	ETW_KERNEL_CONFIG_ALL = 0x3F,
};

/*
 * etw_kernel_config_groups() - what a session wants.
 *
 * @flags: EVENT_TRACE_FLAG_*; NO_SYSCONFIG turns off what comes by itself
 * @word:  6 of its group masks: bits there ask for their events alone, also with NO_SYSCONFIG
 *
 * Returns enum etw_kernel_config_group.
 */
uint32_t etw_kernel_config_groups(uint32_t flags, uint32_t word);

/*
 * etw_kernel_write_machine() - writes the events, after etw_kernel_out_begin().
 *
 * @root:   in front of /sys, /proc, /etc and what is mounted; "" for the real ones
 * @groups: enum etw_kernel_config_group
 *
 * What cannot be had for want of memory is counted in @out.
 */
void etw_kernel_write_machine(struct etw_kernel_out *out, const char *root, uint32_t groups);

#endif
