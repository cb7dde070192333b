/* SPDX-License-Identifier: MIT */
#include "provider/own_images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "provider/lock.h"

/* Whose request it is. */
struct pending {
	uint32_t request, number;
};

#define PENDING_MAX 64 /* more than are under way */

static struct pending pending[ETW_PROVIDER_HOSTS][PENDING_MAX]; /* the lock */
struct etw_own_image *etw_own_images;
static struct wire_image body; /* that is being sent */

struct etw_own_image *etw_own_image_find(uint32_t number)
{
	struct etw_own_image *image = etw_own_images;

	while (image && image->number != number)
		image = image->next;
	return image;
}

uint32_t etw_own_image_messages(const struct etw_own_image *image)
{
	return 1 + image->run_count;
}

static const struct etw_image_run *run_at(const struct etw_own_image *image, uint32_t number)
{
	const struct etw_image_run *run = image->runs;

	while (run && number--)
		run = run->next;
	return run;
}

/* One message: the image, or a further run of its symbols. */
static int send_next(struct etw_link *link, struct etw_own_image *image)
{
	struct etw_image_told *told = &image->told[link->index];
	struct wire_message head = {.type = WIRE_IMAGE};
	const struct etw_image_run *run = told->messages ? run_at(image, told->messages - 1) : NULL;

	body = (struct wire_image){
		.image = image->number,
		.code = told->messages  ? WIRE_IMAGE_MORE
			: image->is_new ? WIRE_IMAGE_LOADED
					: WIRE_IMAGE_IS_THERE,
		.base = image->base,
		.byte_count = image->byte_count,
	};
	if (run)
		body.symbols = (struct etw_bytes){run->bytes, run->byte_count};
	if (!told->messages) {
		memcpy(body.path, image->path, strlen(image->path) + 1);
		body.build_id = (struct etw_bytes){image->build_id, image->build_id_bytes};
	}
	TRY(etw_link_send_image(link, &head, &body));
	told->messages++;
	told->request = head.request;
	pending[link->index][head.request % PENDING_MAX] = (struct pending){head.request,
									    image->number};
	return 0;
}

/* The oldest first, so that a younger one that lies where an older one did holds. */
void etw_own_images_pump(struct etw_link *link)
{
	uint32_t passed = 0;

	for (;;) {
		struct etw_own_image *next = NULL;

		for (struct etw_own_image *image = etw_own_images; image; image = image->next)
			if (image->number > passed && (!next || image->number < next->number))
				next = image;
		if (!next)
			return;
		passed = next->number;
		while (!next->told[link->index].status &&
		       next->told[link->index].messages < etw_own_image_messages(next))
			if (send_next(link, next) < 0)
				return;
	}
}

void etw_own_images_meet(struct etw_link *link)
{
	if (!etw_own_images)
		return;
	for (struct etw_own_image *image = etw_own_images; image; image = image->next)
		image->told[link->index] = (struct etw_image_told){0};
	etw_own_images_pump(link);
}

void etw_own_images_replied(struct etw_link *link, uint32_t request, int status)
{
	const struct pending *asked = &pending[link->index][request % PENDING_MAX];

	if (!etw_own_images)
		return;
	if (status < 0 && asked->request == request) {
		struct etw_own_image *image = etw_own_image_find(asked->number);

		if (image && !image->told[link->index].status)
			image->told[link->index].status = status;
	}
	etw_own_images_pump(link);
	etw_provider_wake();
}

void etw_own_image_free(struct etw_own_image *image)
{
	while (image->runs) {
		struct etw_image_run *run = image->runs;

		image->runs = run->next;
		free(run);
	}
	free(image);
}

/* Packs symbols into runs of one message each. Returns 0, -E2BIG or -ENOMEM; what was packed stays. */
int etw_own_image_add(struct etw_own_image *image, const struct etw_image_symbol *symbols,
		      uint32_t count)
{
	static uint8_t room[WIRE_IMAGE_SYMBOL_BYTES_MAX]; /* the lock */

	while (count) {
		uint32_t bytes,
			packed = etw_image_symbols_pack(symbols, count, room, sizeof(room), &bytes);
		struct etw_image_run *run;

		if (image->run_count >= ETW_IMAGES_SYMBOL_RUNS_MAX)
			return -E2BIG;
		run = malloc(sizeof(*run) + bytes);
		if (!run)
			return -ENOMEM;
		run->next = NULL;
		run->byte_count = bytes;
		memcpy(run->bytes, room, bytes);
		*image->last_run = run;
		image->last_run = &run->next;
		image->run_count++;
		symbols += packed;
		count -= packed;
	}
	return 0;
}

int etw_own_image_make(const struct etw_images_request *request, struct etw_own_image **ret)
{
	size_t path_bytes = strlen(request->path) + 1;
	struct etw_own_image *image = calloc(1, sizeof(*image) + path_bytes);
	int r;

	if (!image)
		return -ENOMEM;
	image->base = request->base;
	image->byte_count = request->byte_count;
	image->build_id_bytes = request->build_id_bytes;
	if (request->build_id_bytes)
		memcpy(image->build_id, request->build_id, request->build_id_bytes);
	memcpy(image->path, request->path, path_bytes);
	image->last_run = &image->runs;
	r = etw_own_image_add(image, request->symbols, request->symbol_count);
	if (r < 0) {
		etw_own_image_free(image);
		return r;
	}
	*ret = image;
	return 0;
}
