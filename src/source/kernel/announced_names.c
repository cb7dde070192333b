/* SPDX-License-Identifier: MIT */
#include "source/kernel/announced_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"
#include "source/kernel/symbol_events.h"

struct etw_kernel_names *etw_kernel_names_new(void)
{
	struct etw_kernel_names *names = calloc(1, sizeof(*names));

	if (names)
		names->refs = 1;
	return names;
}

struct etw_kernel_names *etw_kernel_names_ref(struct etw_kernel_names *names)
{
	if (names)
		names->refs++;
	return names;
}

void etw_kernel_names_unref(struct etw_kernel_names *names)
{
	if (!names || --names->refs)
		return;
	for (uint32_t i = 0; i < names->count; i++)
		etw_announced_image_unref(names->at[i]);
	free(names->at);
	free(names);
}

int etw_kernel_names_add(struct etw_kernel_names *names, struct etw_announced_image *image)
{
	if (names->count == names->room) {
		uint32_t room = names->room ? names->room * 2 : 1;
		void *more = reallocarray(names->at, room, sizeof(struct etw_announced_image *));

		if (!more)
			return -ENOMEM;
		names->at = more;
		names->room = room;
	}
	names->at[names->count++] = etw_announced_image_ref(image);
	return 0;
}

void etw_kernel_names_write_one(const struct etw_announced_image *image, struct etw_kernel_out *out,
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

void etw_kernel_names_write(const struct etw_kernel_names *names, struct etw_kernel_out *out,
			    uint32_t pid)
{
	for (uint32_t i = 0; names && i < names->count; i++)
		etw_kernel_names_write_one(names->at[i], out, pid);
}
