/* SPDX-License-Identifier: MIT */
/*
 * What a kernel session collects, as its file says it: a bit for each kind of event in eight words. The
 * public EnableFlags are the first word, except for flags that are aliases of bits elsewhere.
 * Source: docs/format/etl.md "Group masks".
 */
#ifndef ETW_WIRE_GROUP_MASKS_H
#define ETW_WIRE_GROUP_MASKS_H

#include <assert.h>
#include <stdint.h>

#include "base/bytes.h"

#define WIRE_GROUP_MASKS_WORDS 8

#define WIRE_HOOK_GROUP_MASKS_NEW  0x0005 /* from now on; in the header buffer: at the start */
#define WIRE_HOOK_RUNDOWN_COMPLETE 0x0008
#define WIRE_HOOK_GROUP_MASKS_OLD  0x0020 /* until now */
#define WIRE_GROUP_MASKS_VERSION   2      /* of both hooks' payload, and of 0008, which has none */

/* Payload of both hooks. */
struct wire_group_masks {
	le32 words[WIRE_GROUP_MASKS_WORDS]; /* 0x00 [OBS] */
	le32 trace_version;                 /* 0x20 of the kernel [OBS diaghub.kernel.1.etl] */
};
static_assert(sizeof(struct wire_group_masks) == 36, "layout");

/*
 * etw_group_masks_trace_version() - what a kernel of this build says; for builds between those that were seen,
 * what the one before says.
 */
uint32_t etw_group_masks_trace_version(uint32_t os_build);

/* etw_group_masks_of_flags() - EnableFlags in their place. @ret: all words, overwritten. */
void etw_group_masks_of_flags(uint32_t enable_flags, uint32_t ret[WIRE_GROUP_MASKS_WORDS]);

/* etw_group_masks_to_flags() - what EnableFlags can say of masks. */
uint32_t etw_group_masks_to_flags(const uint32_t masks[WIRE_GROUP_MASKS_WORDS]);

#endif
