/* SPDX-License-Identifier: MIT */
#include "source/kernel/processes/announced_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"

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
	names->symbol_bytes += image->symbol_bytes;
	return 0;
}
