/* SPDX-License-Identifier: MIT */
/* The interrupt lines that somebody handles, and which processors they may go to. */
#ifndef ETW_SOURCE_KERNEL_MACHINE_INTERRUPTS_H
#define ETW_SOURCE_KERNEL_MACHINE_INTERRUPTS_H

#include <stdint.h>

#define ETW_KERNEL_INTERRUPTS_MAX 8192

struct etw_kernel_interrupt {
	uint64_t affinity;  /* within @group */
	uint32_t number;    /* as /proc/interrupts has it */
	uint16_t group;     /* 64 processors each: the first that has one of the mask */
	char handlers[192]; /* "nvme0q1"; a comma between those of a shared line */
};

/* Told of a line, borrowed for the call. */
typedef void etw_kernel_interrupt_told(void *context, const struct etw_kernel_interrupt *interrupt);

/* etw_kernel_interrupts_tell() - tells of each line in /sys/kernel/irq that has handlers, by number. */
void etw_kernel_interrupts_tell(const char *root, etw_kernel_interrupt_told *told, void *context);

#endif
