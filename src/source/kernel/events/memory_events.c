/* SPDX-License-Identifier: MIT */
/* The bytes of faults, of memory and of views of files. See cpu_events.h. */
#include "source/kernel/bpf/memory_records.h"
#include "source/kernel/events/cpu_events_internal.h"

#define HARD_FAULT_TYPE    32
#define VIRTUAL_ALLOC_TYPE 98
#define VIRTUAL_FREE_TYPE  99
#define MAP_FILE_TYPE      37
#define UNMAP_FILE_TYPE    38

#define FAULT_BYTES      16
#define HARD_FAULT_BYTES 40
#define MEMORY_BYTES     24
#define VIEW_BYTES       36

/* PAGE_* of a view's rights [SDK docs]. */
enum {
	PAGE_NO_ACCESS = 0x01,
	PAGE_READ_ONLY = 0x02,
	PAGE_READ_WRITE = 0x04,
	PAGE_WRITE_COPY = 0x08,
	PAGE_EXECUTE_ONLY = 0x10,
	PAGE_EXECUTE_READ = 0x20,
	PAGE_EXECUTE_READ_WRITE = 0x40,
	PAGE_EXECUTE_WRITE_COPY = 0x80,
};

static uint32_t make_fault(const struct etw_kernel_cpu_maker *maker,
			   const struct etw_kernel_cpu_record *record, int64_t time_raw,
			   uint8_t *to)
{
	const struct etw_kernel_fault *fault = (const void *)(record + 1);
	uint8_t *at;

	if (fault->type < ETW_KERNEL_FAULT_TRANSITION ||
	    fault->type > ETW_KERNEL_FAULT_ACCESS_VIOLATION)
		return 0;
	if (maker->seen)
		etw_kernel_seen_add(maker->seen, fault->pc);
	at = etw_kernel_event_begin_of(to, GROUP_MEMORY, (uint8_t)fault->type, PERFINFO_VERSION,
				       record->stack_tid, record->stack_pid, FAULT_BYTES, time_raw);
	at = put64(at, fault->address);
	at = put64(at, fault->pc);
	return (uint32_t)(at - to);
}

/* A start that is not known is the end: no time is claimed that nobody measured. */
static uint32_t make_hard_fault(const struct etw_kernel_cpu_maker *maker,
				const struct etw_kernel_cpu_record *record, int64_t time_raw,
				uint8_t *to)
{
	const struct etw_kernel_hard_fault *fault = (const void *)(record + 1);
	uint8_t *at = etw_kernel_event_begin(to, GROUP_MEMORY, HARD_FAULT_TYPE, HARD_FAULT_BYTES,
					     time_raw);
	int64_t start_raw = time_raw;

	if (fault->start_ns &&
	    maker->host->to_raw(maker->host->context, fault->start_ns, &start_raw))
		start_raw = time_raw;
	at = put64(at, (uint64_t)start_raw);
	at = put64(at, fault->offset);
	at = put64(at, fault->address);
	at = put64(at, fault->file_key);
	at = put32(at, record->stack_tid);
	at = put32(at, fault->byte_count);
	return (uint32_t)(at - to);
}

static uint32_t make_memory(const struct etw_kernel_cpu_record *record, int64_t time_raw,
			    uint8_t *to)
{
	const struct etw_kernel_memory *memory = (const void *)(record + 1);
	uint8_t type = memory->flags & ETW_KERNEL_MEMORY_FREES ? VIRTUAL_FREE_TYPE
							       : VIRTUAL_ALLOC_TYPE;
	uint8_t *at = etw_kernel_event_begin_of(to, GROUP_MEMORY, type, PERFINFO_VERSION,
						memory->tid, record->stack_pid, MEMORY_BYTES,
						time_raw);

	at = put64(at, memory->base);
	at = put64(at, memory->byte_count);
	at = put32(at, memory->pid);
	at = put32(at, memory->flags);
	return (uint32_t)(at - to);
}

uint64_t etw_kernel_view_misc(uint64_t page_offset, uint32_t rights)
{
	bool is_copied = rights & ETW_KERNEL_VIEW_WRITE && !(rights & ETW_KERNEL_VIEW_SHARED);
	uint32_t protection;

	if (rights & ETW_KERNEL_VIEW_WRITE)
		protection = is_copied ? PAGE_WRITE_COPY : PAGE_READ_WRITE;
	else
		protection = rights & ETW_KERNEL_VIEW_READ ? PAGE_READ_ONLY : PAGE_NO_ACCESS;
	/* Those that allow execution come in the same order, higher up. */
	if (rights & ETW_KERNEL_VIEW_EXECUTE)
		protection <<= 4;
	return page_offset << 32 | protection;
}

static uint32_t make_view(const struct etw_kernel_cpu_record *record, int64_t time_raw, uint8_t *to)
{
	const struct etw_kernel_view *view = (const void *)(record + 1);
	uint8_t type = view->is_unmapped ? UNMAP_FILE_TYPE : MAP_FILE_TYPE;
	uint8_t *at = etw_kernel_event_begin_of(to, GROUP_FILE, type, PERFINFO_VERSION, view->tid,
						record->stack_pid, VIEW_BYTES, time_raw);

	at = put64(at, view->base);
	at = put64(at, view->file_key);
	at = put64(at, etw_kernel_view_misc(view->page_offset, view->rights));
	at = put64(at, view->byte_count);
	at = put32(at, view->pid);
	return (uint32_t)(at - to);
}

uint32_t etw_kernel_cpu_memory_event(const struct etw_kernel_cpu_maker *maker,
				     const struct etw_kernel_cpu_record *record, int64_t time_raw,
				     uint8_t *to)
{
	switch (record->kind) {
	case ETW_KERNEL_FAULT:
		return record->payload_bytes >= sizeof(struct etw_kernel_fault)
			       ? make_fault(maker, record, time_raw, to)
			       : 0;
	case ETW_KERNEL_HARD_FAULT:
		return record->payload_bytes >= sizeof(struct etw_kernel_hard_fault)
			       ? make_hard_fault(maker, record, time_raw, to)
			       : 0;
	case ETW_KERNEL_MEMORY:
		return record->payload_bytes >= sizeof(struct etw_kernel_memory)
			       ? make_memory(record, time_raw, to)
			       : 0;
	case ETW_KERNEL_VIEW:
		return record->payload_bytes >= sizeof(struct etw_kernel_view)
			       ? make_view(record, time_raw, to)
			       : 0;
	default:
		return 0;
	}
}
