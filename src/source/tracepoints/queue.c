/* SPDX-License-Identifier: MIT */
#include "source/tracepoints/queue.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/etl_event.h"

/* Both headers that the source makes have it there. */
#define TIME_AT 0x10
static_assert(offsetof(struct wire_event_header, time_raw) == TIME_AT, "layout");
static_assert(offsetof(struct wire_full_header, time_raw) == TIME_AT, "layout");

struct etw_tracepoint_item *etw_tracepoint_item_new(uint32_t byte_count)
{
	struct etw_tracepoint_item *item = malloc(sizeof(*item) + byte_count);

	if (!item)
		return NULL;
	memset(item, 0, sizeof(*item));
	item->byte_count = byte_count;
	return item;
}

void etw_tracepoint_item_set_time(struct etw_tracepoint_item *item, int64_t time_raw)
{
	item->time_raw = time_raw;
	item->is_timed = true;
	etw_store64(item->bytes + TIME_AT, (uint64_t)time_raw);
}

void etw_tracepoint_queue_add(struct etw_tracepoint_queue *queue, struct etw_tracepoint_item *item)
{
	struct etw_tracepoint_item *before = queue->last;

	if (item->time_ns < queue->floor_ns)
		item->time_ns = queue->floor_ns;
	item->number = queue->next_number++;
	while (before && before->time_ns > item->time_ns)
		before = before->before;
	item->before = before;
	item->next = before ? before->next : queue->first;
	if (item->next)
		item->next->before = item;
	else
		queue->last = item;
	if (before)
		before->next = item;
	else
		queue->first = item;
}

bool etw_tracepoint_queue_peek(struct etw_tracepoint_queue *queue,
			       const struct etw_source_host *host, struct etw_source_event *ret)
{
	struct etw_tracepoint_item *item = queue->first;

	if (!item)
		return false;
	if (!item->is_timed) {
		int64_t time_raw;

		if (host->to_raw(host->context, item->time_ns, &time_raw) != 0)
			return false;
		etw_tracepoint_item_set_time(item, time_raw);
	}
	*ret = (struct etw_source_event){item->bytes, item->byte_count, item->time_raw};
	return true;
}

struct etw_tracepoint_item *etw_tracepoint_queue_pop(struct etw_tracepoint_queue *queue)
{
	struct etw_tracepoint_item *item = queue->first;

	queue->first = item->next;
	if (item->next)
		item->next->before = NULL;
	else
		queue->last = NULL;
	if (queue->floor_ns < item->time_ns)
		queue->floor_ns = item->time_ns;
	return item;
}

void etw_tracepoint_queue_done(struct etw_tracepoint_queue *queue)
{
	while (queue->first)
		free(etw_tracepoint_queue_pop(queue));
}
