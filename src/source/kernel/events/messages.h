/* SPDX-License-Identifier: MIT */
/*
 * Which interrupt lines are messages of a device (MSI, MSI-X), and the message's number among those of its device. Windows tells
 * these by another event than lines of a controller. Looked up once for each line, in /sys/kernel/irq.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_EVENTS_MESSAGES_H
#define ETW_SOURCE_KERNEL_EVENTS_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#define ETW_KERNEL_LINES_MAX 4096 /* lines from here on count as none of messages */

struct etw_kernel_messages {
	const char *root; /* "/sys/kernel/irq"; borrowed; NULL: no line is a message */
	uint16_t lines[ETW_KERNEL_LINES_MAX]; /* 0: not looked up; 1: none; else 2 + the number */
};

/* etw_kernel_messages_find() - whether the line is one, and its message's number. What cannot be read is none. */
bool etw_kernel_messages_find(struct etw_kernel_messages *messages, uint32_t line,
			      uint32_t *ret_number);

/* etw_kernel_messages_forget() - lines may belong to other devices now: each is looked up again. */
void etw_kernel_messages_forget(struct etw_kernel_messages *messages);

#endif
