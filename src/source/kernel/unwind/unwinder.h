/* SPDX-License-Identifier: MIT */
/*
 * Stacks of user code by unwind tables (ETW_SOURCE_UNWIND), from copies that programs of BPF took to the events that ask
 * for them.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_UNWIND_UNWINDER_H
#define ETW_SOURCE_KERNEL_UNWIND_UNWINDER_H

#include <stdint.h>

#include "source/kernel/bpf/cpu_records.h"
#include "source/kernel/processes/images.h"
#include "source/kernel/unwind/unwind_stacks.h"
#include "source/kernel/unwind/unwind_tables.h"

struct etw_kernel_unwinder {
	struct etw_kernel_tables tables;
	struct etw_kernel_stacks stacks;
};

/* etw_kernel_unwinder_new() - @root: "/proc", borrowed. Returns it, owned, or NULL without memory. */
struct etw_kernel_unwinder *etw_kernel_unwinder_new(const char *root);

/* etw_kernel_unwinder_free() - takes NULL. */
void etw_kernel_unwinder_free(struct etw_kernel_unwinder *unwinder);

/* etw_kernel_unwinder_add() - @owner: whose stack it is. @images: of the process when the copy was made; NULL: none are known. @copy: whole */
void etw_kernel_unwinder_add(struct etw_kernel_unwinder *unwinder,
			     const struct etw_kernel_stack_owner *owner,
			     const struct etw_kernel_images *images,
			     const struct etw_kernel_stack_copy *copy);

#endif
