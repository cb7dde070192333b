/* SPDX-License-Identifier: MIT */
/* See wire/filter_header.h. */
#include "wire/filter_header.h"

#include <string.h>

#include <evntprov.h>

#include "base/macros.h"

#define INSTANCE_AT offsetof(EVENT_FILTER_HEADER, InstanceId)
#define SIZE_AT     offsetof(EVENT_FILTER_HEADER, Size)
#define NEXT_AT     offsetof(EVENT_FILTER_HEADER, NextOffset)

bool wire_filter_header_is_sound(struct etw_bytes block)
{
	uint32_t size;

	if (block.left < sizeof(EVENT_FILTER_HEADER))
		return false;
	size = etw_load32(block.at + SIZE_AT);
	return size >= sizeof(EVENT_FILTER_HEADER) && size <= block.left;
}

bool wire_filter_blocks_add(struct wire_filter_blocks *blocks, struct etw_bytes block,
			    uint64_t instance)
{
	const size_t start = ALIGN_UP(blocks->bytes, 8);

	if (start > blocks->room || block.left > blocks->room - start)
		return false;
	if (blocks->bytes)
		etw_store32(blocks->at + blocks->last + NEXT_AT, (uint32_t)(start - blocks->last));
	memset(blocks->at + blocks->bytes, 0, start - blocks->bytes);
	memcpy(blocks->at + start, block.at, block.left);
	etw_store64(blocks->at + start + INSTANCE_AT, instance);
	etw_store32(blocks->at + start + NEXT_AT, 0);
	blocks->last = start;
	blocks->bytes = start + block.left;
	return true;
}

void wire_filter_blocks_shift(uint8_t *at, size_t bytes, unsigned bits)
{
	while (wire_filter_header_is_sound((struct etw_bytes){at, bytes})) {
		const uint32_t next = etw_load32(at + NEXT_AT);

		etw_store64(at + INSTANCE_AT, etw_load64(at + INSTANCE_AT) << bits);
		if (next < sizeof(EVENT_FILTER_HEADER) || next > bytes)
			break;
		at += next;
		bytes -= next;
	}
}
