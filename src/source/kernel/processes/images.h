/* SPDX-License-Identifier: MIT */
/*
 * What a process has mapped, as Windows sees it: one image for each ELF object. The loader maps an object
 * piece by piece; the first piece (offset 0) opens a candidate, and the candidate becomes an image when a
 * piece of it may be executed. So data files that are mapped never become images.
 *
 * Source: docs/kernel-events/image.md.
 */
#ifndef ETW_SOURCE_KERNEL_PROCESSES_IMAGES_H
#define ETW_SOURCE_KERNEL_PROCESSES_IMAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "source/kernel/processes/image_list.h"

/* A piece of a file that came into a process. */
struct etw_kernel_mapping {
	uint64_t start, byte_count;
	uint64_t file_offset;
	const char *path; /* borrowed */
	bool is_executable;
	uint8_t build_id_bytes; /* 0: none, or not readable */
	uint8_t build_id[ETW_KERNEL_BUILD_ID_BYTES];
};

/* etw_kernel_is_vdso() - whether a mapping of this name is the vDSO (source/kernel/procfs/vdso.h). */
static inline bool etw_kernel_is_vdso(const char *path)
{
	return strcmp(path, "[vdso]") == 0;
}

/* Told of what became an image, or stopped being one. @image is borrowed during the call. */
typedef void (*etw_kernel_image_told)(void *context, const struct etw_kernel_image *image,
				      bool is_loaded);

/*
 * etw_kernel_images_map() - a piece was mapped.
 *
 * @list: the process' list, NULL when empty; replaced as needed
 * @told: may be NULL
 *
 * Returns 0; -ENOMEM; -E2BIG as etw_kernel_images_add().
 */
int etw_kernel_images_map(struct etw_kernel_images **list, const struct etw_kernel_mapping *mapping,
			  etw_kernel_image_told told, void *context);

/*
 * etw_kernel_images_unmap() - a range was unmapped; images whose code is in it are gone.
 *
 * Returns 0 or -ENOMEM.
 */
int etw_kernel_images_unmap(struct etw_kernel_images **list, uint64_t start, uint64_t byte_count,
			    etw_kernel_image_told told, void *context);

/*
 * etw_kernel_images_announce() - the process says that code of its own lies somewhere; what lay there is gone.
 *
 * @act:  LOADED, or IS_THERE: then one that is known already is no news
 * @told: not NULL, as of etw_kernel_images_withdraw()
 *
 * Returns as etw_kernel_images_map().
 */
int etw_kernel_images_announce(struct etw_kernel_images **list, struct etw_announced_image *image,
			       enum etw_announced_act act, etw_kernel_image_told told,
			       void *context);

/* etw_kernel_images_withdraw() - such code is gone. Returns 0, also when it is not known; -ENOMEM. */
int etw_kernel_images_withdraw(struct etw_kernel_images **list,
			       const struct etw_announced_image *image, etw_kernel_image_told told,
			       void *context);

/* etw_kernel_images_add_names() - more symbols of announced code. Returns 0; -ENOENT: it is not known; -ENOMEM. */
int etw_kernel_images_add_names(struct etw_kernel_images *list, struct etw_announced_image *image);

/* etw_kernel_images_tell() - tells @told of every image of the list by address; @list may be NULL, @told not. */
void etw_kernel_images_tell(const struct etw_kernel_images *list, bool is_loaded,
			    etw_kernel_image_told told, void *context);

#endif
