/* SPDX-License-Identifier: MIT */
#include "wire/group_masks.h"

#include <string.h>

#include <evntrace.h>

#include "base/macros.h"

/* These say something to StartTrace; no mask shows them. */
#define NEVER_STORED                                                      \
	(EVENT_TRACE_FLAG_ENABLE_RESERVE | EVENT_TRACE_FLAG_FORWARD_WMI | \
	 EVENT_TRACE_FLAG_EXTENSION)

static const struct {
	uint32_t flag;
	uint32_t word;
	uint32_t bit;
} aliases[] = {
	{EVENT_TRACE_FLAG_CSWITCH, 1, 0x4},      {EVENT_TRACE_FLAG_DPC, 1, 0x80},
	{EVENT_TRACE_FLAG_INTERRUPT, 1, 0x4000}, {EVENT_TRACE_FLAG_SYSTEMCALL, 2, 0x40},
	{EVENT_TRACE_FLAG_DISPATCHER, 1, 0x200}, {EVENT_TRACE_FLAG_VIRTUAL_ALLOC, 1, 0x8000},
	{EVENT_TRACE_FLAG_DRIVER, 1, 0x10},      {EVENT_TRACE_FLAG_PROFILE, 1, 0x2},
};

uint32_t etw_group_masks_trace_version(uint32_t os_build)
{
	static const struct {
		uint32_t build, version;
	} seen[] = {{20348, 0x55}, {19041, 0x50}, {18362, 0x46}};

	for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
		if (os_build >= seen[i].build)
			return seen[i].version;
	return 0x2A;
}

void etw_group_masks_of_flags(uint32_t enable_flags, uint32_t ret[WIRE_GROUP_MASKS_WORDS])
{
	memset(ret, 0, WIRE_GROUP_MASKS_WORDS * sizeof(ret[0]));
	ret[0] = enable_flags & ~(uint32_t)NEVER_STORED;
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
		if (!(enable_flags & aliases[i].flag))
			continue;
		ret[0] &= ~aliases[i].flag;
		ret[aliases[i].word] |= aliases[i].bit;
	}
}

uint32_t etw_group_masks_to_flags(const uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	uint32_t flags = masks[0] & ~(uint32_t)NEVER_STORED;

	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
		flags &= ~aliases[i].flag;
		if (masks[aliases[i].word] & aliases[i].bit)
			flags |= aliases[i].flag;
	}
	return flags;
}
