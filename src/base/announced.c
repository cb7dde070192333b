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
	image->charge = NULL;
	image->charges = NULL;
	memcpy(image->bytes, path, head->path_bytes);
	image->bytes[head->path_bytes] = '\0';
	if (head->symbol_bytes)
		memcpy(image->bytes + head->path_bytes + 1, symbols, head->symbol_bytes);
	return image;
}

struct etw_announced_charges *etw_announced_charges_new(void)
{
	struct etw_announced_charges *charges = calloc(1, sizeof(*charges));

	if (charges)
		charges->refs = 1;
	return charges;
}

void etw_announced_charges_unref(struct etw_announced_charges *charges)
{
	if (!charges || add_acq_rel(&charges->refs, UINT32_MAX) != 1)
		return;
	while (charges->returned)
		free(etw_announced_charges_take(charges));
	free(charges);
}

/* There is one taker: nothing that lies here is freed and added again while the first is looked at. */
struct etw_announced_charge *etw_announced_charges_take(struct etw_announced_charges *charges)
{
	struct etw_announced_charge *first = load_acquire(&charges->returned);

	/* Pairs with return_charge(). */
	while (first && !cas_acq_rel(&charges->returned, &first, first->next))
		;
	return first;
}

/* Pairs with etw_announced_charges_take(). */
static void return_charge(struct etw_announced_charges *charges,
			  struct etw_announced_charge *charge)
{
	charge->next = load_relaxed(&charges->returned);
	while (!cas_acq_rel(&charges->returned, &charge->next, charge))
		;
}

int etw_announced_image_charge(struct etw_announced_image *image,
			       struct etw_announced_charges *charges, uint32_t uid, uint64_t bytes)
{
	image->charge = malloc(sizeof(*image->charge));
	if (!image->charge)
		return -ENOMEM;
	*image->charge = (struct etw_announced_charge){NULL, uid, bytes};
	image->charges = charges;
	(void)add_relaxed(&charges->refs, 1);
	return 0;
}

struct etw_announced_image *etw_announced_image_ref(struct etw_announced_image *image)
{
	(void)add_relaxed(&image->refs, 1);
	return image;
}

void etw_announced_image_unref(struct etw_announced_image *image)
{
	if (!image || add_acq_rel(&image->refs, UINT32_MAX) != 1)
		return;
	if (image->charge) {
		return_charge(image->charges, image->charge);
		etw_announced_charges_unref(image->charges);
	}
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
