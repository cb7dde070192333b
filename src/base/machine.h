/* SPDX-License-Identifier: MIT */
/* What both the file header and the system configuration say of this machine. */
#ifndef ETW_BASE_MACHINE_H
#define ETW_BASE_MACHINE_H

#include <stdint.h>

/* etw_machine_processors() - how many logical processors are configured; at least 1. */
uint32_t etw_machine_processors(void);

/*
 * etw_machine_mhz() - nominal speed of a processor; 0 where Linux does not say.
 *
 * Context: reads files of /sys and /proc.
 */
uint32_t etw_machine_mhz(void);

#endif
