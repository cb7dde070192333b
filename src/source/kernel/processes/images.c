/* SPDX-License-Identifier: MIT */
/* What a process has mapped. See images.h. */
#include "source/kernel/processes/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/macros.h"

/* Kernels before 5.10 map the pieces of a program at fixed places, with gaps. */
#define GAP_MAX_BYTES (UINT64_C(64) << 20)

static bool is_same_file(const struct etw_kernel_image *image,
			 const struct etw_kernel_mapping *mapping)
{
	if (image->names)
		return false; /* a file's pieces are none of it, whatever it is called */
	if (image->build_id_bytes && mapping->build_id_bytes &&
	    (image->build_id_bytes != mapping->build_id_bytes ||
	     memcmp(image->build_id, mapping->build_id, image->build_id_bytes) != 0))
		return false;
	return strcmp(etw_kernel_text_string(image->path), mapping->path) == 0;
}

/* Of the images that a piece may belong to: the one that it lies in, else the nearest one in front of it. */
struct search {
	const struct etw_kernel_mapping *mapping;
	struct etw_kernel_image *inside, *near;
};

static void look_at(struct search *search, struct etw_kernel_image *image)
{
	const struct etw_kernel_mapping *mapping = search->mapping;
	bool is_near;

	if (search->inside || mapping->start < image->base)
		return;
	/* Behind its end: a further piece, unless a new copy begins there. */
	is_near = mapping->start >= image->end && mapping->file_offset &&
		  mapping->start - image->end < GAP_MAX_BYTES &&
		  (!search->near || image->end > search->near->end);
	/* Names are compared last: they are long, and often those of the same folder. */
	if ((mapping->start >= image->end && !is_near) || !is_same_file(image, mapping))
		return;
	if (is_near)
		search->near = image;
	else
		search->inside = image;
}

/* The object that this piece belongs to. Candidates first, the youngest before others: addresses are used again. */
static struct etw_kernel_image *find_object(struct etw_kernel_images *list,
					    const struct etw_kernel_mapping *mapping)
{
	struct search search = {.mapping = mapping};
	uint32_t above;

	if (!list)
		return NULL;
	for (uint32_t i = list->candidate_count; i-- > 0;)
		look_at(&search, &list->at[list->candidates[i]]);
	above = etw_kernel_images_above(list, mapping->start);
	for (uint32_t i = above; i > 0 && above - i < ETW_KERNEL_IMAGE_LOOKS; i--)
		look_at(&search, &list->at[list->loaded[i - 1]]);
	for (uint32_t i = above; i < list->loaded_count && i - above < ETW_KERNEL_IMAGE_LOOKS; i++)
		look_at(&search, &list->at[list->loaded[i]]);
	return search.inside ? search.inside : search.near;
}

/* A shared list is copied when the first one goes: places stay what they are. */
static int remove_candidates(struct etw_kernel_images **list, uint64_t start, uint64_t end,
			     const uint64_t *kept_base)
{
	for (uint32_t i = (*list)->candidate_count; i-- > 0;) {
		const struct etw_kernel_image *image = &(*list)->at[(*list)->candidates[i]];

		if (start > image->base || end < image->end ||
		    (kept_base && image->base == *kept_base))
			continue;
		TRY(etw_kernel_images_own(list, 0));
		etw_kernel_images_remove(*list, &(*list)->at[(*list)->candidates[i]]);
	}
	return 0;
}

/* What lies over the code of an image ends it. @kept_base: of the one that is left; NULL: none is */
static int remove_range(struct etw_kernel_images **list, uint64_t start, uint64_t end,
			const uint64_t *kept_base, etw_kernel_image_told told, void *context)
{
	uint32_t looks = 0;

	if (!*list)
		return 0;
	TRY(remove_candidates(list, start, end, kept_base));
	for (uint32_t i = etw_kernel_images_above(*list, end - 1);
	     i-- > 0 && looks < ETW_KERNEL_IMAGE_LOOKS;) {
		struct etw_kernel_image *image = &(*list)->at[(*list)->loaded[i]];

		if (image->code_end <= start) {
			looks++;
			continue;
		}
		if (kept_base && image->base == *kept_base)
			continue;
		TRY(etw_kernel_images_own(list, 0));
		image = &(*list)->at[(*list)->loaded[i]];
		if (told)
			told(context, image, false);
		etw_kernel_images_remove(*list, image);
	}
	return 0;
}

static int add_object(struct etw_kernel_images *list, const struct etw_kernel_mapping *mapping,
		      struct etw_kernel_image **ret)
{
	struct etw_kernel_image image = {
		.base = mapping->start,
		.end = mapping->start + mapping->byte_count,
		.path = etw_kernel_text_new(mapping->path, strlen(mapping->path)),
		.wide = etw_kernel_text_new_wide(mapping->path),
	};
	int r = image.path && image.wide ? 0 : -ENOMEM;

	/* The pieces before this one were mapped when nobody looked. */
	if (mapping->is_executable && mapping->file_offset <= image.base)
		image.base -= mapping->file_offset;
	if (!r)
		r = etw_kernel_images_add(list, &image, ret);
	if (r)
		etw_kernel_image_done(&image);
	return r;
}

/* Text that is no object's: what code generators and kernel areas map. */
static bool is_pseudo_file(const char *path)
{
	static const char *const prefixes[] = {"//",    "/memfd:",        "/dev/",
					       "/SYSV", "/anon_hugepage", "/[aio]",
					       "/i915", "/drm mm object"};

	if (etw_kernel_is_vdso(path))
		return false;
	if (path[0] != '/')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

int etw_kernel_images_map(struct etw_kernel_images **list, const struct etw_kernel_mapping *mapping,
			  etw_kernel_image_told told, void *context)
{
	uint64_t end = mapping->start + mapping->byte_count;
	struct etw_kernel_image *image;
	uint64_t kept_base = 0;

	if (is_pseudo_file(mapping->path) || end <= mapping->start)
		return 0;
	image = find_object(*list, mapping);
	if (image)
		kept_base = image->base;
	TRY(remove_range(list, mapping->start, end, image ? &kept_base : NULL, told, context));
	image = find_object(*list, mapping);
	if (!image && !mapping->is_executable && mapping->file_offset)
		return 0; /* a piece of a data file */
	if (image && end <= image->end && !mapping->is_executable)
		return 0;
	TRY(etw_kernel_images_own(list, 1));
	image = find_object(*list, mapping);
	if (!image)
		TRY(add_object(*list, mapping, &image));
	if (end > image->end)
		image->end = end;
	if (mapping->build_id_bytes) {
		image->build_id_bytes = mapping->build_id_bytes;
		memcpy(image->build_id, mapping->build_id, sizeof(image->build_id));
	}
	if (!mapping->is_executable)
		return 0;
	if (etw_kernel_image_is_loaded(image)) {
		etw_kernel_images_set_code(*list, image, MIN(image->code_start, mapping->start),
					   MAX(image->code_end, end));
		return 0;
	}
	etw_kernel_images_set_code(*list, image, mapping->start, end);
	if (told)
		told(context, image, true);
	return 0;
}

int etw_kernel_images_unmap(struct etw_kernel_images **list, uint64_t start, uint64_t byte_count,
			    etw_kernel_image_told told, void *context)
{
	uint64_t end = start + byte_count;

	if (end < start)
		end = UINT64_MAX;
	if (end == start)
		return 0;
	return remove_range(list, start, end, NULL, told, context);
}

void etw_kernel_images_tell(const struct etw_kernel_images *list, bool is_loaded,
			    etw_kernel_image_told told, void *context)
{
	for (uint32_t i = 0; list && i < list->loaded_count; i++)
		told(context, &list->at[list->loaded[i]], is_loaded);
}

static struct etw_kernel_image *find_announced(struct etw_kernel_images *list,
					       const struct etw_announced_image *announced)
{
	uint32_t above;

	if (!list)
		return NULL;
	above = etw_kernel_images_above(list, announced->base);
	for (uint32_t i = above; i-- > 0;) {
		struct etw_kernel_image *image = &list->at[list->loaded[i]];

		if (image->code_start != announced->base)
			break;
		if (image->names && image->base == announced->base)
			return image;
	}
	return NULL;
}

/* An image of its own, not in any list. Returns 0 or -ENOMEM; to be done in any case. */
static int make_announced(struct etw_announced_image *announced, struct etw_kernel_image *ret)
{
	const char *path = etw_announced_path(announced);

	*ret = (struct etw_kernel_image){
		.base = announced->base,
		.end = announced->base + announced->byte_count,
		.code_start = announced->base,
		.code_end = announced->base + announced->byte_count,
		.path = etw_kernel_text_new(path, announced->path_bytes),
		.wide = etw_kernel_text_new_wide(path),
		.build_id_bytes = (uint8_t)announced->build_id_bytes,
		.names = etw_kernel_names_new(),
	};
	memcpy(ret->build_id, announced->build_id, sizeof(ret->build_id));
	if (!ret->path || !ret->wide || !ret->names)
		return -ENOMEM;
	/* Without symbols, too: whoever announced it pays for its path as long as it is here. */
	return etw_kernel_names_add(ret->names, announced);
}

int etw_kernel_images_announce(struct etw_kernel_images **list,
			       struct etw_announced_image *announced, enum etw_announced_act act,
			       etw_kernel_image_told told, void *context)
{
	uint64_t end = announced->base + announced->byte_count;
	const struct etw_kernel_image *known = find_announced(*list, announced);
	struct etw_kernel_image image, *added;
	int r;

	if (known && act == ETW_ANNOUNCED_IS_THERE && known->end == end)
		return 0;
	r = make_announced(announced, &image);
	if (!r)
		r = remove_range(list, announced->base, end, NULL, told, context);
	if (!r)
		r = etw_kernel_images_own(list, 1);
	if (!r)
		r = etw_kernel_images_add(*list, &image, &added);
	if (r) {
		etw_kernel_image_done(&image);
		return r;
	}
	told(context, added, true);
	return 0;
}

int etw_kernel_images_withdraw(struct etw_kernel_images **list,
			       const struct etw_announced_image *announced,
			       etw_kernel_image_told told, void *context)
{
	struct etw_kernel_image *image;

	if (!find_announced(*list, announced))
		return 0;
	TRY(etw_kernel_images_own(list, 0));
	image = find_announced(*list, announced);
	told(context, image, false);
	etw_kernel_images_remove(*list, image);
	return 0;
}

int etw_kernel_images_add_names(struct etw_kernel_images *list,
				struct etw_announced_image *announced)
{
	struct etw_kernel_image *image = find_announced(list, announced);

	return image ? etw_kernel_names_add(image->names, announced) : -ENOENT;
}
