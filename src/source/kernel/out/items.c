/* SPDX-License-Identifier: MIT */
/* Records on their way. See items.h. */
#include "source/kernel/out/items.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 1024

static bool comes_before(const struct etw_kernel_item *left, const struct etw_kernel_item *right)
{
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns;
	return left->order < right->order;
}

static int grow(struct etw_kernel_heap *heap)
{
	size_t room = heap->room ? heap->room * 2 : FIRST_ROOM;
	struct etw_kernel_heap_slot *at = reallocarray(heap->at, room, sizeof(*at));

	if (!at)
		return -ENOMEM;
	heap->at = at;
	heap->room = room;
	return 0;
}

int etw_kernel_heap_add(struct etw_kernel_heap *heap, struct etw_kernel_stream *stream,
			struct etw_kernel_item *item)
{
	size_t place = heap->count;

	if (heap->count == heap->room && grow(heap))
		return -ENOMEM;
	item->next = NULL;
	item->order = heap->next_order++;
	item->outstanding = 0;
	item->is_applied = false;
	if (stream->last)
		stream->last->next = item;
	else
		stream->first = item;
	stream->last = item;
	heap->count++;
	while (place && comes_before(item, heap->at[(place - 1) / 2].item)) {
		heap->at[place] = heap->at[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	heap->at[place].item = item;
	return 0;
}

struct etw_kernel_item *etw_kernel_heap_peek(const struct etw_kernel_heap *heap)
{
	return heap->count ? heap->at[0].item : NULL;
}

struct etw_kernel_item *etw_kernel_heap_take(struct etw_kernel_heap *heap)
{
	struct etw_kernel_item *first = heap->at[0].item, *moved = heap->at[--heap->count].item;
	size_t place = 0;

	for (;;) {
		size_t child = 2 * place + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    comes_before(heap->at[child + 1].item, heap->at[child].item))
			child++;
		if (!comes_before(heap->at[child].item, moved))
			break;
		heap->at[place] = heap->at[child];
		place = child;
	}
	heap->at[place].item = moved;
	return first;
}

void etw_kernel_heap_done(struct etw_kernel_heap *heap)
{
	free(heap->at);
	*heap = (struct etw_kernel_heap){0};
}

bool etw_kernel_stream_release(struct etw_kernel_stream *stream, uint64_t *ret_position)
{
	bool was_any = false;

	while (stream->first && stream->first->is_applied && !stream->first->outstanding) {
		struct etw_kernel_item *item = stream->first;

		*ret_position = item->end;
		was_any = true;
		stream->first = item->next;
		if (!stream->first)
			stream->last = NULL;
		free(item);
	}
	return was_any;
}

void etw_kernel_stream_done(struct etw_kernel_stream *stream)
{
	while (stream->first) {
		struct etw_kernel_item *item = stream->first;

		stream->first = item->next;
		free(item);
	}
	stream->last = NULL;
}
