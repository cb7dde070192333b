/* SPDX-License-Identifier: MIT */
/*
 * A stack of user code by unwind tables: from the registers and the copy of the stack that a program of BPF took, by the
 * images that the process had then. Where no table says more, a frame pointer leads on, as it does through the code of
 * JIT compilers.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_UNWIND_UNWIND_WALK_H
#define ETW_SOURCE_KERNEL_UNWIND_UNWIND_WALK_H

#include <stdint.h>

#include "source/kernel/bpf/cpu_records.h"
#include "source/kernel/unwind/unwind_tables.h"

/*
 * etw_kernel_unwind_walk() - the addresses of a stack, innermost first.
 *
 * @owner:  whose stack it is
 * @images: of the process; NULL: none are known
 * @copy:   with its bytes behind it
 * @frames: room for @room addresses
 *
 * Returns how many there are, at least the innermost.
 */
uint32_t etw_kernel_unwind_walk(struct etw_kernel_tables *tables,
				const struct etw_kernel_stack_owner *owner,
				const struct etw_kernel_images *images,
				const struct etw_kernel_stack_copy *copy, uint64_t *frames,
				uint32_t room);

#endif
