/* SPDX-License-Identifier: MIT */
/*
 * The kernel's kinds of events by name: every bit of the group masks (wire/group_masks.h) as xperf calls it, and xperf's
 * groups of them. For command lines, and for those who tell what of it a session does not collect.
 * Source: docs/format/etl.md "Group masks"; Microsoft's pages of xperf, kernel flags and kernel groups.
 */
#ifndef ETW_WIRE_KERNEL_NAMES_H
#define ETW_WIRE_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/group_masks.h"

/* A kind of events: bits of one word. */
struct etw_kernel_kind {
	const char *name;  /* "CSWITCH" */
	const char *alias; /* what EnableFlags call it, without EVENT_TRACE_FLAG_; NULL: the same */
	uint32_t word, bits;
};

/* etw_kernel_kinds() - all that have a name, by word and bit. Static. */
const struct etw_kernel_kind *etw_kernel_kinds(size_t *ret_count);

/* etw_kernel_group_name() - of one of xperf's groups of kinds: "Latency"; NULL behind the last. Static. */
const char *etw_kernel_group_name(size_t index);

/* etw_kernel_kind_name() - of one bit; NULL when nobody has named it. Static. */
const char *etw_kernel_kind_name(uint32_t word, uint32_t bit);

/*
 * etw_kernel_kinds_parse() - adds what a word stands for: a kind, an alias of one, a group, or a number as xperf shows it
 * ("0x20000004": the top three bits are the word). Letters of either case.
 *
 * @bytes: of the word, which need not end there
 *
 * Returns 0, or -EINVAL with @masks as they were.
 */
int etw_kernel_kinds_parse(const char *word, size_t bytes, uint32_t masks[WIRE_GROUP_MASKS_WORDS]);

/*
 * etw_kernel_masks_events() - those bits of @masks that ask for events; the others say how to record. @ret may be @masks.
 *
 * Returns whether there is one.
 */
bool etw_kernel_masks_events(const uint32_t masks[WIRE_GROUP_MASKS_WORDS],
			     uint32_t ret[WIRE_GROUP_MASKS_WORDS]);

/*
 * etw_kernel_masks_format() - "DISK_IO, CSWITCH": the names of all bits in @masks, by word, the lowest first; one without a
 * name as xperf would write it, "0x20000800".
 *
 * @room: gets at most @room_bytes with the NUL; what does not fit is counted: "DISK_IO and 7 more"
 */
void etw_kernel_masks_format(const uint32_t masks[WIRE_GROUP_MASKS_WORDS], char *room,
			     size_t room_bytes);

#endif
