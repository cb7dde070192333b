/* SPDX-License-Identifier: MIT */
/* The bytes of disk transfers. See cpu_events.h. */
#include <stddef.h>

#include "source/kernel/bpf/disk_records.h"
#include "source/kernel/events/cpu_events_internal.h"
#include "source/kernel/processes/thread_facts.h"

#define READ_TYPE     10
#define WRITE_TYPE    11
#define FLUSH_TYPE    14
#define SPLIT_TYPE    32
#define DISK_VERSION  3
#define SPLIT_VERSION 2

static const uint8_t init_types[ETW_KERNEL_DISK_OPERATIONS] = {
	[ETW_KERNEL_DISK_READ] = 12,
	[ETW_KERNEL_DISK_WRITE] = 13,
	[ETW_KERNEL_DISK_FLUSH] = 15,
};

/* IrpFlags [SDK docs]. */
enum {
	IRP_NOCACHE = 0x1,
	IRP_PAGING_IO = 0x2,
	IRP_SYNCHRONOUS_API = 0x4,
	IRP_SYNCHRONOUS_PAGING_IO = 0x40,
	IRP_READ_OPERATION = 0x100,
	IRP_WRITE_OPERATION = 0x200,
};

#define IRP_PRIORITY_SHIFT 17 /* three bits: 0 none, else the priority and 1 */

static uint32_t irp_flags_of(const struct etw_kernel_disk_end *record)
{
	uint32_t priority = etw_kernel_io_priority_of(record->io_priority, 0) + UINT32_C(1);
	uint32_t flags = priority << IRP_PRIORITY_SHIFT;
	bool is_waited_for = record->flags & ETW_KERNEL_DISK_SYNC &&
			     !(record->flags & ETW_KERNEL_DISK_AHEAD);

	if (record->operation == ETW_KERNEL_DISK_FLUSH)
		return flags | IRP_SYNCHRONOUS_API;
	flags |= IRP_NOCACHE;
	if (record->flags & (ETW_KERNEL_DISK_CACHED | ETW_KERNEL_DISK_PAGED))
		return flags | IRP_PAGING_IO | (is_waited_for ? IRP_SYNCHRONOUS_PAGING_IO : 0);
	flags |= record->operation == ETW_KERNEL_DISK_READ ? IRP_READ_OPERATION
							   : IRP_WRITE_OPERATION;
	return flags | (is_waited_for ? IRP_SYNCHRONOUS_API : 0);
}

/* Of PhyDisk; a disk that has none there has its device number, which is never so small. */
static uint32_t number_of(const struct etw_kernel_cpu_maker *maker, uint32_t device)
{
	uint32_t number = maker->disks ? etw_kernel_disks_find_device(
						 maker->disks, device >> ETW_KERNEL_DISK_MINOR_BITS,
						 device & ((1u << ETW_KERNEL_DISK_MINOR_BITS) - 1))
				       : ETW_KERNEL_NO_DISK;

	return number == ETW_KERNEL_NO_DISK ? device : number;
}

static uint32_t make_begin(const struct etw_kernel_disk_begin *record, int64_t time_raw,
			   uint8_t *to)
{
	uint8_t *at;

	if (record->operation >= ETW_KERNEL_DISK_OPERATIONS)
		return 0;
	at = etw_kernel_event_begin_of(to, GROUP_DISK, init_types[record->operation], DISK_VERSION,
				       record->tid, record->pid, 12, time_raw);
	at = put64(at, record->transfer);
	at = put32(at, record->tid);
	return (uint32_t)(at - to);
}

static uint32_t make_flush(const struct etw_kernel_cpu_maker *maker,
			   const struct etw_kernel_disk_end *record, uint64_t took_raw,
			   int64_t time_raw, uint8_t *to)
{
	uint8_t *at = etw_kernel_event_begin(to, GROUP_DISK, FLUSH_TYPE, 28, time_raw);

	etw_kernel_event_version(to, DISK_VERSION);
	at = put32(at, number_of(maker, record->device));
	at = put32(at, irp_flags_of(record));
	at = put64(at, took_raw);
	at = put64(at, record->transfer);
	at = put32(at, record->tid);
	return (uint32_t)(at - to);
}

static uint32_t make_end(const struct etw_kernel_cpu_maker *maker,
			 const struct etw_kernel_disk_end *record, int64_t time_raw, uint8_t *to)
{
	uint64_t took_raw =
		(uint64_t)(time_raw - etw_kernel_start_raw(maker, record->begin_ns, time_raw));
	uint8_t *at;

	if (record->operation == ETW_KERNEL_DISK_FLUSH)
		return make_flush(maker, record, took_raw, time_raw, to);
	if (record->operation >= ETW_KERNEL_DISK_OPERATIONS)
		return 0;
	at = etw_kernel_event_begin(
		to, GROUP_DISK, record->operation == ETW_KERNEL_DISK_READ ? READ_TYPE : WRITE_TYPE,
		52, time_raw);
	etw_kernel_event_version(to, DISK_VERSION);
	at = put32(at, number_of(maker, record->device));
	at = put32(at, irp_flags_of(record));
	at = put32(at, record->byte_count);
	at = put32(at, 0);
	at = put64(at, record->sector * ETW_KERNEL_DISK_SECTOR_BYTES);
	at = put64(at, record->file_key);
	at = put64(at, record->transfer);
	at = put64(at, took_raw);
	at = put32(at, record->tid);
	return (uint32_t)(at - to);
}

static uint32_t make_split(const struct etw_kernel_split *record, int64_t time_raw, uint8_t *to)
{
	uint8_t *at = etw_kernel_event_begin(to, GROUP_SPLIT, SPLIT_TYPE, 16, time_raw);

	etw_kernel_event_version(to, SPLIT_VERSION);
	at = put64(at, record->whole);
	at = put64(at, record->transfer);
	return (uint32_t)(at - to);
}

uint32_t etw_kernel_disk_event(const struct etw_kernel_cpu_maker *maker,
			       const struct etw_kernel_cpu_record *record, int64_t time_raw,
			       uint8_t *to)
{
	const void *payload = record + 1;

	switch (record->kind) {
	case ETW_KERNEL_DISK_BEGIN:
		return record->payload_bytes >= sizeof(struct etw_kernel_disk_begin)
			       ? make_begin(payload, time_raw, to)
			       : 0;
	case ETW_KERNEL_DISK_END:
		return record->payload_bytes >= sizeof(struct etw_kernel_disk_end)
			       ? make_end(maker, payload, time_raw, to)
			       : 0;
	case ETW_KERNEL_SPLIT:
		return record->payload_bytes >= sizeof(struct etw_kernel_split)
			       ? make_split(payload, time_raw, to)
			       : 0;
	default:
		return 0;
	}
}
