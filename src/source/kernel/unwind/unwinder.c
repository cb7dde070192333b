/* SPDX-License-Identifier: MIT */
#include "source/kernel/unwind/unwinder.h"

#include <stdlib.h>

#include "source/kernel/unwind/unwind_walk.h"

struct etw_kernel_unwinder *etw_kernel_unwinder_new(const char *root)
{
	struct etw_kernel_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	if (etw_kernel_tables_init(&unwinder->tables, root) ||
	    etw_kernel_stacks_init(&unwinder->stacks)) {
		etw_kernel_unwinder_free(unwinder);
		return NULL;
	}
	return unwinder;
}

void etw_kernel_unwinder_free(struct etw_kernel_unwinder *unwinder)
{
	if (!unwinder)
		return;
	etw_kernel_tables_done(&unwinder->tables);
	etw_kernel_stacks_done(&unwinder->stacks);
	free(unwinder);
}

void etw_kernel_unwinder_add(struct etw_kernel_unwinder *unwinder,
			     const struct etw_kernel_stack_owner *owner,
			     const struct etw_kernel_images *images,
			     const struct etw_kernel_stack_copy *copy)
{
	uint64_t frames[ETW_KERNEL_USER_FRAMES];
	uint32_t count = etw_kernel_unwind_walk(&unwinder->tables, owner, images, copy, frames,
						ETW_KERNEL_USER_FRAMES);

	/* One that there was no memory for is counted as missing when its event asks for it. */
	(void)etw_kernel_stacks_add(&unwinder->stacks, copy->tid, copy->key_ns, frames, count);
}
