/* SPDX-License-Identifier: MIT */
/*
 * Microsoft-Windows-Kernel-Memory: PageFault's MemInfo and MemInfoWS.
 * Source: docs/kernel-events/named.md "Memory".
 */
#include "base/bytes.h"
#include "base/macros.h"
#include "source/kernel/named/named.h"
#include "wire/well_known.h"

#define GROUP_MEMORY         0x02
#define TYPE_MEM_INFO        112
#define TYPE_WORKING_SETS    125
#define KEYWORD_MEM_INFO     0x20
#define KEYWORD_WORKING_SETS 0x40
#define NUMBER_BYTES         8
#define NUMBERS_BEFORE_LISTS \
	5 /* pages by their state; then as many lists as there are priorities, twice */
#define NUMBERS_ADDED       4 /* of pools, of descriptors, of what is committed */
#define CLASSIC_ENTRY_BYTES (4 + 8 * NUMBER_BYTES)
#define ENTRY_BYTES         (4 + 4 * NUMBER_BYTES) /* the classic one's first fields */

static bool make_mem_info(const struct etw_kernel_named_classic *from,
			  struct etw_kernel_named_event *ret)
{
	struct etw_kernel_named_writer writer = etw_kernel_named_begin(ret);
	uint32_t bytes;

	if (!from->byte_count)
		return false;
	bytes = 1 + (NUMBERS_BEFORE_LISTS + 2u * from->payload[0] + 1) * NUMBER_BYTES;
	if (from->byte_count < bytes)
		return false;
	ret->descriptor = etw_kernel_named_describe(1, 1, 0, 1, KEYWORD_MEM_INFO);
	etw_kernel_named_put(&writer, from->payload, bytes);
	for (int i = 0; i < NUMBERS_ADDED; i++)
		etw_kernel_named_put64(&writer, 0);
	return etw_kernel_named_end(&writer, ret);
}

static bool make_working_sets(const struct etw_kernel_named_classic *from,
			      struct etw_kernel_named_event *ret)
{
	struct etw_kernel_named_writer writer = etw_kernel_named_begin(ret);
	uint32_t count;

	if (from->byte_count < 4)
		return false;
	count = etw_load32(from->payload);
	if (count > (from->byte_count - 4) / CLASSIC_ENTRY_BYTES)
		return false;
	ret->descriptor = etw_kernel_named_describe(2, 0, 0, 2, KEYWORD_WORKING_SETS);
	etw_kernel_named_put32(&writer, count);
	for (uint32_t i = 0; i < count; i++)
		etw_kernel_named_put(&writer, from->payload + 4 + (size_t)i * CLASSIC_ENTRY_BYTES,
				     ENTRY_BYTES);
	return etw_kernel_named_end(&writer, ret);
}

static bool make(struct etw_kernel_named_maker *maker, const struct etw_kernel_named_classic *from,
		 struct etw_kernel_named_event *ret)
{
	(void)maker;
	if (from->group != GROUP_MEMORY)
		return false;
	if (from->type == TYPE_MEM_INFO)
		return make_mem_info(from, ret);
	return from->type == TYPE_WORKING_SETS && make_working_sets(from, ret);
}

static const struct etw_kernel_named_need needs[] = {
	{KEYWORD_MEM_INFO | ETW_KERNEL_NAMED_CHANNEL_KEYWORD, 1, 0x80000},      /* MEMINFO */
	{KEYWORD_WORKING_SETS | ETW_KERNEL_NAMED_CHANNEL_KEYWORD, 1, 0x800000}, /* MEMINFO_WS */
};

const struct etw_kernel_named_provider etw_kernel_named_memory = {
	.guid = WIRE_PROVIDER_KERNEL_MEMORY,
	.name = "Microsoft-Windows-Kernel-Memory",
	.needs = needs,
	.need_count = ARRAY_SIZE(needs),
	.make = make,
};
