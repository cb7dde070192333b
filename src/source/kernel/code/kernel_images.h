/* SPDX-License-Identifier: MIT */
/*
 * What code the kernel consists of, as images of process 0: itself, its modules, and what it makes at run time, such as
 * BPF programs and trampolines, as far as its list of functions names them.
 */
#ifndef ETW_SOURCE_KERNEL_CODE_KERNEL_IMAGES_H
#define ETW_SOURCE_KERNEL_CODE_KERNEL_IMAGES_H

#include <stdint.h>

#include "source/kernel/code/functions.h"
#include "source/kernel/processes/images.h"

#define ETW_KERNEL_OWN_IMAGES_MAX 4096

struct etw_kernel_own_images {
	/* Owned; in the order of addresses. One that came later may lie in one of several functions. */
	struct etw_kernel_image *at;
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

/*
 * etw_kernel_own_images_of_module() - the image of a module that has just come, with its path and build id as far as they can be
 * read; goes into the list. Returns it, borrowed until the list changes; NULL without memory or room.
 */
const struct etw_kernel_image *etw_kernel_own_images_of_module(struct etw_kernel_own_images *images,
							       const char *root, const char *name,
							       uint64_t base, uint64_t byte_count);

/* etw_kernel_own_images_add() - the same of any other image. */
const struct etw_kernel_image *etw_kernel_own_images_add(struct etw_kernel_own_images *images,
							 uint64_t base, uint64_t byte_count,
							 const char *name);

/* etw_kernel_own_images_at() - the youngest image that begins at @base. @byte_count: its size; 0: any. Borrowed; NULL: none. */
const struct etw_kernel_image *etw_kernel_own_images_at(const struct etw_kernel_own_images *images,
							uint64_t base, uint64_t byte_count);

/*
 * etw_kernel_own_images_part() - takes apart images that lie in each other, as when code was made in the image that a look at the
 * list of functions made of several: what came later keeps its place. Returns 0; -ENOMEM; -E2BIG.
 */
int etw_kernel_own_images_part(struct etw_kernel_own_images *images);

/* etw_kernel_own_images_remove() - @image: of the list, which does not have it any more. */
void etw_kernel_own_images_remove(struct etw_kernel_own_images *images,
				  const struct etw_kernel_image *image);

/*
 * etw_kernel_own_images_has() - whether the list has an image of this name at this place. Sources differ on where a module
 * ends, and do not say where code ends that the kernel made at run time: images of one name that overlap are the same one.
 */
bool etw_kernel_own_images_has(const struct etw_kernel_own_images *images,
			       const struct etw_kernel_image *image);

#endif
