/* SPDX-License-Identifier: MIT */
#include "etl/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "etl/block.h"
#include "etl/walk.h"

#define WINDOW_BYTES (256u * 1024)

/* Cheap tests on fields that hold few values in any genuine file; most places fail here. */
static bool is_plausible(const uint8_t *at, struct etw_etl_buffer *ret)
{
	struct wire_buffer_header header;

	memcpy(&header, at, sizeof(header));
	if (le16_get(header.type) >= WIRE_BUFFER_TYPES || le32_get(header.reference_count) ||
	    le32_get(header.valid_bytes) % 4)
		return false;
	etw_etl_buffer_read(at, ret);
	return !etw_etl_buffer_fault(ret) && ret->valid_bytes > WIRE_BUFFER_HEADER_BYTES &&
	       etw_etl_buffer_holds_events(ret) && ret->sequence >= 0;
}

/* Loads the buffer and looks whether anything in it had to be skipped. */
static int check_body(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer)
{
	CLEANUP(etw_etl_block_done) struct etw_etl_block block = {0};
	CLEANUP(freep) struct etw_findings *findings = calloc(1, sizeof(*findings));

	if (!findings)
		return -ENOMEM;
	TRY(etw_etl_block_load(file, buffer, &block, findings));
	return block.count && !etw_findings_total(findings) ? 0 : ETW_END;
}

int etw_etl_search_is_sound(const struct etw_etl_file *file, uint64_t offset,
			    struct etw_etl_buffer *ret)
{
	uint8_t raw[WIRE_BUFFER_HEADER_BYTES];
	struct etw_etl_buffer buffer;
	size_t count;

	TRY(etw_etl_file_read(file, offset, raw, sizeof(raw), &count));
	if (count < sizeof(raw) || !is_plausible(raw, &buffer))
		return ETW_END;
	buffer.offset = offset;
	if (buffer.stride > file->bytes - offset)
		return ETW_END;

	int result = check_body(file, &buffer);

	if (!result)
		*ret = buffer;
	return result;
}

int etw_etl_search_buffer(const struct etw_etl_file *file, uint64_t from, uint64_t to,
			  uint32_t step, struct etw_etl_buffer *ret)
{
	CLEANUP(freep) uint8_t *window = malloc(WINDOW_BYTES + WIRE_BUFFER_HEADER_BYTES);
	struct etw_etl_buffer buffer;

	if (!window)
		return -ENOMEM;
	for (uint64_t base = from; base < to;) {
		uint64_t at = base;
		size_t count;

		TRY(etw_etl_file_read(file, base, window, WINDOW_BYTES + WIRE_BUFFER_HEADER_BYTES,
				      &count));
		for (; at < to && at - base + WIRE_BUFFER_HEADER_BYTES <= count; at += step) {
			if (at - base >= WINDOW_BYTES)
				break;
			if (!is_plausible(window + (at - base), &buffer))
				continue;
			int result = etw_etl_search_is_sound(file, at, ret);

			if (result != ETW_END)
				return result;
		}
		if (at == base || count < WINDOW_BYTES + WIRE_BUFFER_HEADER_BYTES)
			return ETW_END;
		base = at;
	}
	return ETW_END;
}
