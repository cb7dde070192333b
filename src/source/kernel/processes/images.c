/* SPDX-License-Identifier: MIT */
/* What a process has mapped. See images.h. */
#include "source/kernel/processes/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define FIRST_ROOM 8
/* Kernels before 5.10 map the pieces of a program at fixed places, with gaps. */
#define GAP_MAX_BYTES (UINT64_C(64) << 20)

struct etw_kernel_images *etw_kernel_images_ref(struct etw_kernel_images *list)
{
	if (list)
		list->refs++;
	return list;
}

static void done_image(struct etw_kernel_image *image)
{
	etw_kernel_text_unref(image->path);
	etw_kernel_text_unref(image->wide);
	etw_kernel_names_unref(image->names);
}

void etw_kernel_images_unref(struct etw_kernel_images *list)
{
	if (!list || --list->refs)
		return;
	for (uint32_t i = 0; i < list->count; i++)
		done_image(&list->at[i]);
	free(list);
}

/* Makes the list this process' own, with room for @more images. */
static int own(struct etw_kernel_images **list, uint32_t more)
{
	struct etw_kernel_images *old = *list, *copy;
	uint32_t count = old ? old->count : 0;
	uint32_t room = old ? old->room : FIRST_ROOM;

	if (old && old->refs == 1 && count + more <= room)
		return 0;
	while (room < count + more)
		room *= 2;
	copy = calloc(1, sizeof(*copy) + room * sizeof(copy->at[0]));
	if (!copy)
		return -ENOMEM;
	copy->refs = 1;
	copy->room = room;
	copy->count = count;
	for (uint32_t i = 0; i < count; i++) {
		copy->at[i] = old->at[i];
		etw_kernel_text_ref(copy->at[i].path);
		etw_kernel_text_ref(copy->at[i].wide);
		etw_kernel_names_ref(copy->at[i].names);
	}
	etw_kernel_images_unref(old);
	*list = copy;
	return 0;
}

static void remove_at(struct etw_kernel_images *list, uint32_t place)
{
	done_image(&list->at[place]);
	list->count--;
	memmove(&list->at[place], &list->at[place + 1],
		(list->count - place) * sizeof(list->at[0]));
}

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

/* The object that this piece belongs to. The youngest first: addresses are used again. */
static struct etw_kernel_image *find_object(struct etw_kernel_images *list,
					    const struct etw_kernel_mapping *mapping)
{
	struct etw_kernel_image *near = NULL;

	for (uint32_t i = list ? list->count : 0; i-- > 0;) {
		struct etw_kernel_image *image = &list->at[i];

		if (!is_same_file(image, mapping) || mapping->start < image->base)
			continue;
		if (mapping->start < image->end)
			return image;
		/* Behind its end: a further piece, unless a new copy begins there. */
		if (mapping->file_offset && mapping->start - image->end < GAP_MAX_BYTES &&
		    (!near || image->end > near->end))
			near = image;
	}
	return near;
}

static bool is_overlaid(const struct etw_kernel_image *image, uint64_t start, uint64_t end)
{
	if (etw_kernel_image_is_loaded(image))
		return start < image->code_end && end > image->code_start;
	return start <= image->base && end >= image->end;
}

static int remove_range(struct etw_kernel_images **list, uint64_t start, uint64_t end,
			const struct etw_kernel_image *except, etw_kernel_image_told told,
			void *context)
{
	uint64_t kept_base = except ? except->base : 0;

	for (uint32_t i = *list ? (*list)->count : 0; i-- > 0;) {
		if (!is_overlaid(&(*list)->at[i], start, end))
			continue;
		if (except && (*list)->at[i].base == kept_base)
			continue;
		TRY(own(list, 0));
		if (told && etw_kernel_image_is_loaded(&(*list)->at[i]))
			told(context, &(*list)->at[i], false);
		remove_at(*list, i);
	}
	return 0;
}

/* Programs that map many data files must not fill the list: the oldest candidate goes. */
static void drop_candidate(struct etw_kernel_images *list)
{
	uint32_t count = 0, oldest = UINT32_MAX;

	for (uint32_t i = 0; i < list->count; i++) {
		if (etw_kernel_image_is_loaded(&list->at[i]))
			continue;
		count++;
		if (oldest == UINT32_MAX)
			oldest = i;
	}
	if (count >= ETW_KERNEL_CANDIDATES_MAX)
		remove_at(list, oldest);
}

static int add_object(struct etw_kernel_images **list, const struct etw_kernel_mapping *mapping,
		      struct etw_kernel_image **ret)
{
	struct etw_kernel_image *image;

	TRY(own(list, 1));
	drop_candidate(*list);
	if ((*list)->count >= ETW_KERNEL_IMAGES_MAX)
		return -E2BIG;
	image = &(*list)->at[(*list)->count];
	*image = (struct etw_kernel_image){
		.base = mapping->start,
		.end = mapping->start + mapping->byte_count,
		.path = etw_kernel_text_new(mapping->path, strlen(mapping->path)),
		.wide = etw_kernel_text_new_wide(mapping->path),
	};
	if (!image->path || !image->wide) {
		done_image(image);
		return -ENOMEM;
	}
	/* The pieces before this one were mapped when nobody looked. */
	if (mapping->is_executable && mapping->file_offset <= image->base)
		image->base -= mapping->file_offset;
	(*list)->count++;
	*ret = image;
	return 0;
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

	if (is_pseudo_file(mapping->path) || end <= mapping->start)
		return 0;
	image = find_object(*list, mapping);
	TRY(remove_range(list, mapping->start, end, image, told, context));
	image = find_object(*list, mapping);
	if (!image && !mapping->is_executable && mapping->file_offset)
		return 0; /* a piece of a data file */
	if (image && end <= image->end && !mapping->is_executable)
		return 0;
	TRY(own(list, 1));
	image = find_object(*list, mapping);
	if (!image)
		TRY(add_object(list, mapping, &image));
	if (end > image->end)
		image->end = end;
	if (mapping->build_id_bytes) {
		image->build_id_bytes = mapping->build_id_bytes;
		memcpy(image->build_id, mapping->build_id, sizeof(image->build_id));
	}
	if (!mapping->is_executable)
		return 0;
	if (etw_kernel_image_is_loaded(image)) {
		if (mapping->start < image->code_start)
			image->code_start = mapping->start;
		if (end > image->code_end)
			image->code_end = end;
		return 0;
	}
	image->code_start = mapping->start;
	image->code_end = end;
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
	return remove_range(list, start, end, NULL, told, context);
}

void etw_kernel_images_tell(const struct etw_kernel_images *list, bool is_loaded,
			    etw_kernel_image_told told, void *context)
{
	for (uint32_t i = 0; list && i < list->count; i++)
		if (etw_kernel_image_is_loaded(&list->at[i]))
			told(context, &list->at[i], is_loaded);
}

static struct etw_kernel_image *find_announced(struct etw_kernel_images *list,
					       const struct etw_announced_image *announced)
{
	for (uint32_t i = list ? list->count : 0; i-- > 0;)
		if (list->at[i].names && list->at[i].base == announced->base)
			return &list->at[i];
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
	return announced->symbol_bytes ? etw_kernel_names_add(ret->names, announced) : 0;
}

int etw_kernel_images_announce(struct etw_kernel_images **list,
			       struct etw_announced_image *announced, enum etw_announced_act act,
			       etw_kernel_image_told told, void *context)
{
	uint64_t end = announced->base + announced->byte_count;
	const struct etw_kernel_image *known = find_announced(*list, announced);
	struct etw_kernel_image image;
	int r;

	if (known && act == ETW_ANNOUNCED_IS_THERE && known->end == end)
		return 0;
	r = make_announced(announced, &image);
	if (!r)
		r = remove_range(list, announced->base, end, NULL, told, context);
	if (!r)
		r = own(list, 1);
	if (!r && (*list)->count >= ETW_KERNEL_IMAGES_MAX)
		r = -E2BIG;
	if (r) {
		done_image(&image);
		return r;
	}
	(*list)->at[(*list)->count++] = image;
	told(context, &image, true);
	return 0;
}

int etw_kernel_images_withdraw(struct etw_kernel_images **list,
			       const struct etw_announced_image *announced,
			       etw_kernel_image_told told, void *context)
{
	struct etw_kernel_image *image;

	if (!find_announced(*list, announced))
		return 0;
	TRY(own(list, 0));
	image = find_announced(*list, announced);
	told(context, image, false);
	remove_at(*list, (uint32_t)(image - (*list)->at));
	return 0;
}

int etw_kernel_images_add_names(struct etw_kernel_images *list,
				struct etw_announced_image *announced)
{
	struct etw_kernel_image *image = find_announced(list, announced);

	return image ? etw_kernel_names_add(image->names, announced) : -ENOENT;
}
