/* SPDX-License-Identifier: MIT */
#include "base/announced.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"

struct etw_announced_image *etw_announced_image_new(const struct etw_announced_image *head,
						    const char *path, const uint8_t *symbols)
{
	size_t bytes = sizeof(*head) + head->path_bytes + 1 + head->symbol_bytes;
	struct etw_announced_image *image = malloc(bytes);

	if (!image)
		return NULL;
	memcpy(image, head, sizeof(*image));
	image->refs = 1;
	memcpy(image->bytes, path, head->path_bytes);
	image->bytes[head->path_bytes] = '\0';
	if (head->symbol_bytes)
		memcpy(image->bytes + head->path_bytes + 1, symbols, head->symbol_bytes);
	return image;
}

struct etw_announced_image *etw_announced_image_ref(struct etw_announced_image *image)
{
	(void)add_relaxed(&image->refs, 1);
	return image;
}

void etw_announced_image_unref(struct etw_announced_image *image)
{
	if (image && add_acq_rel(&image->refs, UINT32_MAX) == 1)
		free(image);
}

int etw_announced_put(struct etw_announced_queue *queue, struct etw_announced_image *image,
		      enum etw_announced_act act, uint64_t time_ns)
{
	struct etw_announced_news *news = malloc(sizeof(*news));
	struct etw_announced_queue one = {news, news};

	if (!news)
		return -ENOMEM;
	*news = (struct etw_announced_news){NULL, etw_announced_image_ref(image), act, time_ns};
	etw_announced_append(queue, &one);
	return 0;
}

void etw_announced_append(struct etw_announced_queue *to, struct etw_announced_queue *from)
{
	if (!from->first)
		return;
	if (to->last)
		to->last->next = from->first;
	else
		to->first = from->first;
	to->last = from->last;
	*from = (struct etw_announced_queue){0};
}

void etw_announced_drop(struct etw_announced_queue *queue)
{
	struct etw_announced_news *news = queue->first;

	queue->first = news->next;
	if (!queue->first)
		queue->last = NULL;
	etw_announced_image_unref(news->image);
	free(news);
}

void etw_announced_clear(struct etw_announced_queue *queue)
{
	while (queue->first)
		etw_announced_drop(queue);
}
