/* SPDX-License-Identifier: MIT */
/*
 * What code the kernel consists of, as images of process 0: itself, its modules, and what it makes at run time, such as
 * BPF programs and trampolines, as far as its list of functions names them.
 */
#ifndef ETW_SOURCE_KERNEL_KERNEL_IMAGES_H
#define ETW_SOURCE_KERNEL_KERNEL_IMAGES_H

#include <stdint.h>

#include "source/kernel/functions.h"
#include "source/kernel/images.h"

#define ETW_KERNEL_OWN_IMAGES_MAX 4096

struct etw_kernel_own_images {
	struct etw_kernel_image *at; /* owned; in the order of addresses, none overlaps another */
	uint32_t count, room;
};

/*
 * etw_kernel_own_images_gather() - reads what is there.
 *
 * @root:    "", or where a made-up machine is
 * @symbols: of the same machine
 * @ret:     to be done in any case
 *
 * What cannot be read is left out: a build id, a path, the modules. Returns 0 or -ENOMEM.
 */
int etw_kernel_own_images_gather(const char *root, const struct etw_kernel_functions *symbols,
				 struct etw_kernel_own_images *ret);

/* etw_kernel_own_images_done() - frees everything. */
void etw_kernel_own_images_done(struct etw_kernel_own_images *images);

/* etw_kernel_own_images_has() - whether the list has an image of this name at this place. */
bool etw_kernel_own_images_has(const struct etw_kernel_own_images *images,
			       const struct etw_kernel_image *image);

#endif
