/* SPDX-License-Identifier: MIT */
/*
 * Microsoft-Windows-Kernel-Disk: DiskIo's Read, Write and Flush without the thread, which the header has.
 * Source: docs/kernel-events/named.md "File, Network, Disk".
 */
#include "base/bytes.h"
#include "base/macros.h"
#include "source/kernel/named/named.h"
#include "wire/well_known.h"

#define GROUP_DISK     0x01
#define TYPE_READ      10
#define TYPE_WRITE     11
#define TYPE_FLUSH     14
#define TRANSFER_BYTES (4 * 4 + 4 * 8)
#define FLUSH_BYTES    (2 * 4 + 2 * 8)

static bool make(struct etw_kernel_named_maker *maker, const struct etw_kernel_named_classic *from,
		 struct etw_kernel_named_event *ret)
{
	const uint32_t bytes = from->type == TYPE_FLUSH ? FLUSH_BYTES : TRANSFER_BYTES;
	struct etw_kernel_named_writer writer = etw_kernel_named_begin(ret);

	if (from->group != GROUP_DISK ||
	    (from->type != TYPE_READ && from->type != TYPE_WRITE && from->type != TYPE_FLUSH) ||
	    from->byte_count < bytes + 4)
		return false;
	ret->descriptor = etw_kernel_named_describe(from->type, 0, 0, 0, 0);
	ret->tid = etw_load32(from->payload + bytes);
	ret->pid = etw_kernel_named_process_of(maker, ret->tid);
	etw_kernel_named_put(&writer, from->payload, bytes);
	return etw_kernel_named_end(&writer, ret);
}

static const struct etw_kernel_named_need needs[] = {
	{ETW_KERNEL_NAMED_CHANNEL_KEYWORD, 0, 0x100}, /* EVENT_TRACE_FLAG_DISK_IO */
};

/* Of who asked for the transfer. */
static const uint16_t stack_hooks[] = {0x010A, 0x010B, 0x010E};

const struct etw_kernel_named_provider etw_kernel_named_disk = {
	.guid = WIRE_PROVIDER_KERNEL_DISK,
	.name = "Microsoft-Windows-Kernel-Disk",
	.needs = needs,
	.need_count = ARRAY_SIZE(needs),
	.stack_hooks = stack_hooks,
	.stack_hook_count = ARRAY_SIZE(stack_hooks),
	.make = make,
};
