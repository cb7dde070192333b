/* SPDX-License-Identifier: MIT */
#include "source/kernel/processes/image_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define FIRST_ROOM 8

_Static_assert(ETW_KERNEL_IMAGES_MAX <= UINT16_MAX, "places are 16 bits wide");

void etw_kernel_image_done(struct etw_kernel_image *image)
{
	etw_kernel_text_unref(image->path);
	etw_kernel_text_unref(image->wide);
	etw_kernel_names_unref(image->names);
}

struct etw_kernel_images *etw_kernel_images_ref(struct etw_kernel_images *list)
{
	if (list)
		list->refs++;
	return list;
}

void etw_kernel_images_unref(struct etw_kernel_images *list)
{
	if (!list || --list->refs)
		return;
	for (uint32_t i = 0; i < list->count; i++)
		etw_kernel_image_done(&list->at[i]);
	free(list);
}

static struct etw_kernel_images *make_list(uint32_t room)
{
	struct etw_kernel_images *list =
		calloc(1, sizeof(*list) + room * (sizeof(list->at[0]) + sizeof(list->loaded[0])));

	if (!list)
		return NULL;
	list->refs = 1;
	list->room = room;
	list->loaded = (uint16_t *)(void *)&list->at[room];
	return list;
}

static void copy_list(struct etw_kernel_images *to, const struct etw_kernel_images *from)
{
	to->count = from->count;
	to->loaded_count = from->loaded_count;
	to->candidate_count = from->candidate_count;
	to->text_bytes = from->text_bytes;
	memcpy(to->candidates, from->candidates, sizeof(to->candidates));
	memcpy(to->loaded, from->loaded, from->loaded_count * sizeof(to->loaded[0]));
	memcpy(to->at, from->at, from->count * sizeof(to->at[0]));
	for (uint32_t i = 0; i < to->count; i++) {
		etw_kernel_text_ref(to->at[i].path);
		etw_kernel_text_ref(to->at[i].wide);
		etw_kernel_names_ref(to->at[i].names);
	}
}

int etw_kernel_images_own(struct etw_kernel_images **list, uint32_t more)
{
	struct etw_kernel_images *old = *list, *copy;
	uint32_t room = old ? old->room : FIRST_ROOM;

	if (old && old->refs == 1 && old->count + more <= room)
		return 0;
	while (room < (old ? old->count : 0) + more)
		room *= 2;
	copy = make_list(room);
	if (!copy)
		return -ENOMEM;
	if (old)
		copy_list(copy, old);
	etw_kernel_images_unref(old);
	*list = copy;
	return 0;
}

static const struct etw_kernel_image *loaded_at(const struct etw_kernel_images *list,
						uint32_t place)
{
	return &list->at[list->loaded[place]];
}

uint32_t etw_kernel_images_above(const struct etw_kernel_images *list, uint64_t address)
{
	uint32_t low = 0, high = list->loaded_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (loaded_at(list, middle)->code_start > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void take_out(uint16_t *places, uint32_t *count, uint32_t at)
{
	(*count)--;
	memmove(&places[at], &places[at + 1], (*count - at) * sizeof(places[0]));
}

/* Where the number of an image stands among the candidates or the loaded ones. */
static uint16_t *find_place(struct etw_kernel_images *list, const struct etw_kernel_image *image)
{
	const uint32_t number = (uint32_t)(image - list->at);
	uint32_t place;

	if (!etw_kernel_image_is_loaded(image)) {
		for (place = 0; list->candidates[place] != number; place++)
			;
		return &list->candidates[place];
	}
	/* Of those that begin at one address, which the next one's code begins behind. */
	place = etw_kernel_images_above(list, image->code_start) - 1;
	while (list->loaded[place] != number)
		place--;
	return &list->loaded[place];
}

/* Leaves the image in @at, and in no order. */
static void take_from_order(struct etw_kernel_images *list, const struct etw_kernel_image *image)
{
	uint16_t *place = find_place(list, image);

	if (etw_kernel_image_is_loaded(image))
		take_out(list->loaded, &list->loaded_count, (uint32_t)(place - list->loaded));
	else
		take_out(list->candidates, &list->candidate_count,
			 (uint32_t)(place - list->candidates));
}

static uint32_t text_bytes_of(const struct etw_kernel_image *image)
{
	return (image->path ? image->path->byte_count : 0) +
	       (image->wide ? image->wide->byte_count : 0);
}

void etw_kernel_images_remove(struct etw_kernel_images *list, struct etw_kernel_image *image)
{
	const struct etw_kernel_image *last = &list->at[list->count - 1];

	take_from_order(list, image);
	list->text_bytes -= text_bytes_of(image);
	etw_kernel_image_done(image);
	if (image != last) {
		*find_place(list, last) = (uint16_t)(image - list->at);
		*image = *last;
	}
	list->count--;
}

static void put_in_order(struct etw_kernel_images *list, const struct etw_kernel_image *image)
{
	const uint32_t place = etw_kernel_images_above(list, image->code_start);

	memmove(&list->loaded[place + 1], &list->loaded[place],
		(list->loaded_count - place) * sizeof(list->loaded[0]));
	list->loaded[place] = (uint16_t)(image - list->at);
	list->loaded_count++;
}

int etw_kernel_images_add(struct etw_kernel_images *list, const struct etw_kernel_image *image,
			  struct etw_kernel_image **ret)
{
	const uint32_t bytes = text_bytes_of(image);
	struct etw_kernel_image *to;

	/* Programs that map many data files must not fill the list. */
	if (!etw_kernel_image_is_loaded(image) &&
	    list->candidate_count == ETW_KERNEL_CANDIDATES_MAX)
		etw_kernel_images_remove(list, &list->at[list->candidates[0]]);
	if (list->count >= ETW_KERNEL_IMAGES_MAX ||
	    bytes > ETW_KERNEL_IMAGE_TEXT_BYTES - list->text_bytes)
		return -E2BIG;
	to = &list->at[list->count++];
	*to = *image;
	list->text_bytes += bytes;
	if (etw_kernel_image_is_loaded(to))
		put_in_order(list, to);
	else
		list->candidates[list->candidate_count++] = (uint16_t)(to - list->at);
	*ret = to;
	return 0;
}

void etw_kernel_images_set_code(struct etw_kernel_images *list, struct etw_kernel_image *image,
				uint64_t start, uint64_t end)
{
	take_from_order(list, image);
	image->code_start = start;
	image->code_end = end;
	put_in_order(list, image);
}

static bool lies_in(const struct etw_kernel_image *image, uint64_t address)
{
	return address >= image->base && address < image->end;
}

const struct etw_kernel_image *etw_kernel_images_find(const struct etw_kernel_images *list,
						      uint64_t address)
{
	uint32_t above;

	if (!list)
		return NULL;
	above = etw_kernel_images_above(list, address);
	for (uint32_t i = above; i > 0 && above - i < ETW_KERNEL_IMAGE_LOOKS; i--)
		if (lies_in(loaded_at(list, i - 1), address))
			return loaded_at(list, i - 1);
	/* In front of its code. */
	for (uint32_t i = above; i < list->loaded_count && i - above < ETW_KERNEL_IMAGE_LOOKS; i++)
		if (lies_in(loaded_at(list, i), address))
			return loaded_at(list, i);
	return NULL;
}
