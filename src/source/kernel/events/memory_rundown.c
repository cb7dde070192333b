/* SPDX-License-Identifier: MIT */
/* The bytes of what is mapped at the start and at the end, and of how memory is used. See memory_rundown.h. */
#include "source/kernel/events/memory_rundown.h"

#include <stddef.h>
#include <string.h>
#include <sys/param.h>

#include "source/kernel/bpf/memory_records.h"
#include "source/kernel/events/cpu_events_internal.h"

#define ALLOC_DC_START_TYPE 128 /* and behind it DCEnd */
#define MAP_DC_START_TYPE   39  /* likewise */
#define MEM_INFO_TYPE       112
#define MEM_INFO_WS_TYPE    125

#define MEMORY_BYTES   24
#define VIEW_BYTES     36
#define MEM_INFO_BYTES (1 + 5 * 8 + 2 * ETW_KERNEL_MEMORY_PRIORITIES * 8 + 8)
#define WS_HEAD_BYTES  4
#define WS_ENTRY_BYTES (4 + 8 * 8)

/* A PERFINFO header in the queue; returns its payload, or NULL. */
static uint8_t *begin(struct etw_kernel_out *out, uint8_t group, uint8_t type, size_t payload_bytes)
{
	uint32_t bytes = (uint32_t)(sizeof(struct wire_perfinfo_header) + payload_bytes);
	uint8_t *at = etw_kernel_out_add(out, bytes,
					 offsetof(struct wire_perfinfo_header, time_raw));

	return at ? etw_kernel_event_begin(at, group, type, (uint32_t)payload_bytes, 0) : NULL;
}

void etw_kernel_write_mapping(struct etw_kernel_out *out, bool is_end,
			      const struct etw_kernel_mapped *mapping)
{
	const bool has_rights = mapping->rights & (ETW_KERNEL_VIEW_READ | ETW_KERNEL_VIEW_WRITE |
						   ETW_KERNEL_VIEW_EXECUTE);
	uint8_t *at;

	if (mapping->file_key) {
		at = begin(out, GROUP_FILE, (uint8_t)(MAP_DC_START_TYPE + is_end), VIEW_BYTES);
		if (!at)
			return;
		at = put64(at, mapping->base);
		at = put64(at, mapping->file_key);
		at = put64(at, etw_kernel_view_misc(mapping->page_offset, mapping->rights));
		at = put64(at, mapping->byte_count);
		(void)put32(at, mapping->pid);
		return;
	}
	at = begin(out, GROUP_MEMORY, (uint8_t)(ALLOC_DC_START_TYPE + is_end), MEMORY_BYTES);
	if (!at)
		return;
	at = put64(at, mapping->base);
	at = put64(at, mapping->byte_count);
	at = put32(at, mapping->pid);
	(void)put32(at, ETW_KERNEL_MEMORY_RESERVE | (has_rights ? ETW_KERNEL_MEMORY_COMMIT : 0));
}

void etw_kernel_write_memory_use(struct etw_kernel_out *out,
				 const struct etw_kernel_memory_use *use)
{
	uint8_t *at = begin(out, GROUP_MEMORY, MEM_INFO_TYPE, MEM_INFO_BYTES);

	if (!at)
		return;
	at = put8(at, ETW_KERNEL_MEMORY_PRIORITIES);
	at = put64(at, 0); /* ZeroPageCount: Linux keeps no pages of zeros */
	at = put64(at, use->free_pages);
	at = put64(at, use->dirty_pages);
	at = put64(at, 0); /* ModifiedNoWritePageCount */
	at = put64(at, use->bad_pages);
	for (int i = 0; i < ETW_KERNEL_MEMORY_PRIORITIES; i++)
		at = put64(at, i == ETW_KERNEL_MEMORY_PRIORITY ? use->cached_pages : 0);
	for (int i = 0; i < ETW_KERNEL_MEMORY_PRIORITIES; i++)
		at = put64(at, i == ETW_KERNEL_MEMORY_PRIORITY ? use->reclaimed_pages : 0);
	(void)put64(at, use->swap_cached_pages);
}

void etw_kernel_write_working_sets(struct etw_kernel_out *out,
				   const struct etw_kernel_working_set *sets, uint32_t count)
{
	uint8_t *at;

	count = MIN(count, ETW_KERNEL_WORKING_SETS_MAX);
	at = begin(out, GROUP_MEMORY, MEM_INFO_WS_TYPE,
		   WS_HEAD_BYTES + (size_t)count * WS_ENTRY_BYTES);
	if (!at)
		return;
	at = put32(at, count);
	for (uint32_t i = 0; i < count; i++) {
		at = put32(at, sets[i].pid);
		at = put64(at, sets[i].resident_pages);
		at = put64(at, sets[i].writable_pages);
		at = put64(at, sets[i].virtual_pages);
		at = put64(at, sets[i].private_pages);
		/* What is compressed, and shared commitment: Linux does not count them by process. */
		memset(at, 0, 4 * sizeof(uint64_t));
		at += 4 * sizeof(uint64_t);
	}
}
