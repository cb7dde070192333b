/* SPDX-License-Identifier: MIT */
/*
 * The images of a process, by address. Loaded images are in order of where their code begins, so that one is found, added
 * and removed without a look at all others: a process may have thousands, and a user may have them mapped without end.
 * Candidates, which may become images, are few and apart.
 *
 * A list is shared by parent and child after a fork, and copied when one of them changes it.
 */
#ifndef ETW_SOURCE_KERNEL_PROCESSES_IMAGE_LIST_H
#define ETW_SOURCE_KERNEL_PROCESSES_IMAGE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/processes/announced_names.h"
#include "source/kernel/processes/shared_text.h"

#define ETW_KERNEL_BUILD_ID_BYTES 20
#define ETW_KERNEL_IMAGES_MAX     8192 /* of one process, candidates included */
#define ETW_KERNEL_IMAGE_TEXT_BYTES \
	(4 << 20) /* of the names of one process' images, in both encodings */
#define ETW_KERNEL_CANDIDATES_MAX 32

/*
 * How many images are looked at on either side of an address. Objects lie in each other where a loader left a gap between
 * two pieces of one; never in such numbers.
 */
#define ETW_KERNEL_IMAGE_LOOKS 64

struct etw_kernel_image {
	uint64_t base, end;
	uint64_t code_start, code_end; /* empty: a candidate */
	struct etw_kernel_text
		*path; /* UTF-8; owned; no two images that were mapped have one in common */
	struct etw_kernel_text *wide; /* the same as UTF-16LE; owned */
	uint8_t build_id_bytes;
	uint8_t build_id[ETW_KERNEL_BUILD_ID_BYTES];
	struct etw_kernel_names *names; /* of an announced image; owned; else NULL */
};

struct etw_kernel_images {
	uint32_t refs;
	uint32_t count, room; /* of @at, which is in no order */
	uint32_t loaded_count, candidate_count;
	uint32_t text_bytes;
	uint16_t candidates[ETW_KERNEL_CANDIDATES_MAX]; /* places in @at, oldest first */
	uint16_t *loaded;                               /* likewise, by code_start; behind @at */
	struct etw_kernel_image at[];
};

static inline bool etw_kernel_image_is_loaded(const struct etw_kernel_image *image)
{
	return image->code_end > image->code_start;
}

/* etw_kernel_image_done() - gives back what an image owns that is in no list. */
void etw_kernel_image_done(struct etw_kernel_image *image);

/* etw_kernel_images_ref() / _unref() - one more, one less owner; both take NULL. */
struct etw_kernel_images *etw_kernel_images_ref(struct etw_kernel_images *list);
void etw_kernel_images_unref(struct etw_kernel_images *list);

/*
 * etw_kernel_images_own() - makes a list one owner's alone, with room for @more images; images move.
 *
 * @list: NULL: an empty one is made
 *
 * Returns 0 or -ENOMEM.
 */
int etw_kernel_images_own(struct etw_kernel_images **list, uint32_t more);

/*
 * etw_kernel_images_add() - takes over what @image owns, on success; a list of one owner, with room.
 *
 * The oldest candidate goes where there are ETW_KERNEL_CANDIDATES_MAX, so images move.
 *
 * Returns 0; -E2BIG: the process has as many images as one may have, or names of as many bytes.
 */
int etw_kernel_images_add(struct etw_kernel_images *list, const struct etw_kernel_image *image,
			  struct etw_kernel_image **ret);

/* etw_kernel_images_set_code() - where the code of an image of the list lies; makes a candidate a loaded image. */
void etw_kernel_images_set_code(struct etw_kernel_images *list, struct etw_kernel_image *image,
				uint64_t start, uint64_t end);

/* etw_kernel_images_remove() - an image of the list, with what it owns; others move. */
void etw_kernel_images_remove(struct etw_kernel_images *list, struct etw_kernel_image *image);

/* etw_kernel_images_above() - place in `loaded` of the first image whose code begins behind @address. */
uint32_t etw_kernel_images_above(const struct etw_kernel_images *list, uint64_t address);

/* etw_kernel_images_find() - the loaded image that @address lies in; NULL: none, also where @list is NULL. */
const struct etw_kernel_image *etw_kernel_images_find(const struct etw_kernel_images *list,
						      uint64_t address);

#endif
