/* SPDX-License-Identifier: MIT */
#include "source/kernel/events/symbol_events.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/time.h"
#include "wire/etl_event.h"

void etw_kernel_write_symbols(struct etw_kernel_out *out, uint32_t pid, uint64_t image_base,
			      const struct etw_image_symbol *symbols, uint32_t count)
{
	struct etw_image_symbols_part part = {
		.image_base = image_base,
		.process_id = pid,
		.total = count,
	};

	/* Tables of hosts that came one after the other are to differ. */
	if (!out->tables)
		out->tables = (uint32_t)(etw_monotonic_ns() >> 20);
	part.table = out->tables++;
	while (part.first < count) {
		const struct etw_image_symbol *from = symbols + part.first;
		uint32_t bytes;
		uint8_t *room;

		part.count = etw_image_symbols_fit(from, count - part.first, &bytes);
		room = etw_kernel_out_add(out, bytes, offsetof(struct wire_event_header, time_raw));
		if (room)
			etw_image_symbols_encode(&part, from, room);
		part.first += part.count;
	}
}

void etw_kernel_write_announced(const struct etw_announced_image *image, struct etw_kernel_out *out,
				uint32_t pid)
{
	const struct etw_bytes packed = {etw_announced_symbols(image), image->symbol_bytes};
	uint32_t count = etw_image_symbols_unpack(packed, image->byte_count, NULL, 0);
	CLEANUP(freep) struct etw_image_symbol *symbols = NULL;

	if (!count || count == UINT32_MAX)
		return;
	symbols = calloc(count, sizeof(*symbols));
	if (!symbols) {
		out->no_memory++;
		return;
	}
	(void)etw_image_symbols_unpack(packed, image->byte_count, symbols, count);
	etw_kernel_write_symbols(out, pid, image->base, symbols, count);
}

void etw_kernel_write_names(const struct etw_kernel_names *names, struct etw_kernel_out *out,
			    uint32_t pid)
{
	for (uint32_t i = 0; names && i < names->count; i++)
		etw_kernel_write_announced(names->at[i], out, pid);
}

void etw_kernel_write_heir(struct etw_kernel_out *out, uint32_t pid, uint64_t image_base,
			   uint32_t of_pid)
{
	const struct etw_image_symbols_heir heir = {image_base, pid, of_pid};
	uint8_t *room = etw_kernel_out_add(out, etw_image_symbols_heir_bytes(),
					   offsetof(struct wire_event_header, time_raw));

	if (room)
		etw_image_symbols_heir_encode(&heir, room);
}
