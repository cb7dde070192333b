/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events that stacks can be asked for, by name: xperf's names for stack walking, our own for what xperf
 * has none of, and what turns each event on.
 * Source: Microsoft's page of xperf, stack walking; docs/format/etl.md "Groups".
 */
#ifndef ETW_WIRE_KERNEL_STACKS_H
#define ETW_WIRE_KERNEL_STACKS_H

#include <stddef.h>
#include <stdint.h>

/* An event that stacks can be asked for. */
struct etw_kernel_stack {
	const char *name; /* "CSwitch" */
	uint16_t hook;
	uint32_t word, bits; /* what turns the event on; none: nothing, or more than one thing */
};

/* etw_kernel_stacks() - all that have a name. Static. */
const struct etw_kernel_stack *etw_kernel_stacks(size_t *ret_count);

/* etw_kernel_stack_of() - what is known of a hook; NULL: it has no name. Static. */
const struct etw_kernel_stack *etw_kernel_stack_of(uint16_t hook);

/* etw_kernel_stack_parse() - the hook of an event by name, in letters of either case. Returns 0 or -EINVAL. */
int etw_kernel_stack_parse(const char *word, size_t bytes, uint16_t *ret);

/*
 * etw_kernel_stacks_format() - "CSwitch, ReadyThread": the names of hooks; one without a name as "0x0524".
 *
 * @room: as of etw_kernel_masks_format()
 */
void etw_kernel_stacks_format(const uint16_t *hooks, size_t count, char *room, size_t room_bytes);

#endif
