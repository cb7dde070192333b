/* SPDX-License-Identifier: MIT */
#include "etl/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "etl/block.h"

#define WINDOW_BYTES (256u * 1024)

/* A body is judged at most so often per byte of the file, and small files get some of it for free. */
#define BUDGET_PER_BYTE 8
#define BUDGET_FREE     (256u * 1024)

void etw_etl_search_init(struct etw_etl_search *search, const struct etw_etl_file *file)
{
	uint64_t bytes = file->bytes < UINT64_MAX / 16 ? file->bytes : UINT64_MAX / 16;

	*search = (struct etw_etl_search){.file = file,
					  .budget = BUDGET_FREE + bytes * BUDGET_PER_BYTE};
}

/* Cheap tests on fields that hold few values in any genuine file; most places fail here. */
static bool is_plausible(const uint8_t *at, struct etw_etl_buffer *ret)
{
	/* The high bytes of ReferenceCount, State, BufferFlag and BufferType. */
	if (at[0x0C] | at[0x0D] | at[0x0E] | at[0x0F] | at[0x2D] | at[0x2F] | at[0x35] | at[0x37])
		return false;
	etw_etl_buffer_read(at, ret);
	return !etw_etl_buffer_fault(ret) && ret->valid_bytes > WIRE_BUFFER_HEADER_BYTES &&
	       ret->valid_bytes % 4 == 0 && etw_etl_buffer_holds_events(ret) && ret->sequence >= 0;
}

static int judge_body(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer,
		      uint64_t *ret_spent)
{
	CLEANUP(etw_etl_block_done) struct etw_etl_block block = {0};
	struct etw_findings findings = {0};
	int result = etw_etl_block_load(file, buffer, &block, &findings);

	if (result)
		return result;
	*ret_spent = (uint64_t)buffer->stride + block.event_bytes;
	return block.count && !block.packed_rest && !etw_findings_total(&findings) ? 0 : ETW_END;
}

int etw_etl_search_body(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer)
{
	uint64_t spent;

	return judge_body(file, buffer, &spent);
}

/* Judges the body behind a plausible header. */
static int judge_place(struct etw_etl_search *search, struct etw_etl_buffer *buffer,
		       uint64_t offset, struct etw_etl_buffer *ret)
{
	uint64_t spent = 0;
	int result;

	buffer->offset = offset;
	if (buffer->stride > search->file->bytes - offset)
		return ETW_END;
	if (!search->budget) {
		search->gave_up = true;
		return ETW_END;
	}
	result = judge_body(search->file, buffer, &spent);
	/* A sound one is the next that the walk takes: all of them together cost what reading the file does. */
	if (result == ETW_END)
		search->budget -= spent < search->budget ? spent : search->budget;
	if (!result)
		*ret = *buffer;
	return result;
}

static bool is_barren(const struct etw_etl_search *search, uint64_t offset)
{
	return offset >= search->barren_from && offset < search->barren_to;
}

/* What a search learned: nothing is sound from @from up to @to, where @found is, or NULL. */
static void remember(struct etw_etl_search *search, uint64_t from, uint64_t to,
		     const struct etw_etl_buffer *found)
{
	if (from < search->barren_from || from > search->barren_to)
		search->barren_from = from;
	search->barren_to = to;
	search->has_found = found != NULL;
	if (found)
		search->found = *found;
}

int etw_etl_search_is_sound(struct etw_etl_search *search, uint64_t offset,
			    struct etw_etl_buffer *ret)
{
	uint8_t raw[WIRE_BUFFER_HEADER_BYTES];
	struct etw_etl_buffer buffer;
	size_t count;

	if (is_barren(search, offset))
		return ETW_END;
	TRY(etw_etl_file_read(search->file, offset, raw, sizeof(raw), &count));
	if (count < sizeof(raw) || !is_plausible(raw, &buffer))
		return ETW_END;
	return judge_place(search, &buffer, offset, ret);
}

/* The first sound buffer of a span, the bytes of which are looked at one by one. */
static int scan(struct etw_etl_search *search, uint64_t from, uint64_t to,
		struct etw_etl_buffer *ret)
{
	size_t step = to - from < WINDOW_BYTES ? (size_t)(to - from) : WINDOW_BYTES;
	CLEANUP(freep) uint8_t *window = malloc(step + WIRE_BUFFER_HEADER_BYTES);
	struct etw_etl_buffer buffer;

	if (!window)
		return -ENOMEM;
	for (uint64_t base = from; base < to; base += step) {
		size_t count, places;

		TRY(etw_etl_file_read(search->file, base, window, step + WIRE_BUFFER_HEADER_BYTES,
				      &count));
		if (count < WIRE_BUFFER_HEADER_BYTES)
			return ETW_END;
		places = count - WIRE_BUFFER_HEADER_BYTES + 1;
		if (places > step)
			places = step;
		if (places > to - base)
			places = (size_t)(to - base);
		for (size_t i = 0; i < places; i++) {
			if (!is_plausible(window + i, &buffer))
				continue;
			int result = judge_place(search, &buffer, base + i, ret);

			if (result != ETW_END || search->gave_up)
				return result;
		}
	}
	return ETW_END;
}

int etw_etl_search_buffer(struct etw_etl_search *search, uint64_t from, uint64_t to,
			  struct etw_etl_buffer *ret)
{
	int result;

	if (is_barren(search, from))
		from = search->barren_to;
	if (from >= to || search->gave_up)
		return ETW_END;
	if (search->has_found && from == search->barren_to) {
		*ret = search->found;
		return 0;
	}
	result = scan(search, from, to, ret);
	if (result >= 0 && !search->gave_up)
		remember(search, from, result ? to : ret->offset, result ? NULL : ret);
	return result;
}
