/* SPDX-License-Identifier: MIT */
/* Events that wait for the engine. See out.h. */
#include "source/kernel/out/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "source/kernel/out/stack_account.h"
#include "wire/etl_event.h"

#define STACKWALK_GROUP 0x18
#define STACKWALK_TYPE  32

struct etw_kernel_event {
	struct etw_kernel_event *next;
	struct etw_kernel_item *item; /* holds its place in the stream; NULL: rundown */
	uint64_t time_ns;
	uint64_t number;
	int64_t time_raw;
	bool has_raw;
	uint32_t time_at;
	uint32_t again_at;    /* 0: the time stands in one place */
	uint32_t stack_event; /* enum etw_kernel_stack_event; 0: no stack was asked for */
	enum wire_stack_fate stack_fate;
	bool lacks_user;
	uint32_t byte_count;
	uint8_t bytes[] __attribute__((aligned(8)));
};

int etw_kernel_out_init(struct etw_kernel_out *out, const struct etw_source_host *host,
			const struct etw_source_mark *marks)
{
	*out = (struct etw_kernel_out){.host = host};
	out->queues = calloc(host->cpu_count ? host->cpu_count : 1, sizeof(*out->queues));
	if (!out->queues)
		return -ENOMEM;
	for (uint32_t i = 0; marks && i < host->cpu_count; i++)
		out->queues[i].mark = marks[i];
	return 0;
}

void etw_kernel_out_done(struct etw_kernel_out *out)
{
	for (uint32_t i = 0; out->queues && i < out->host->cpu_count; i++) {
		struct etw_kernel_queue *queue = &out->queues[i];

		while (queue->first) {
			struct etw_kernel_event *event = queue->first;

			queue->first = event->next;
			free(event);
		}
	}
	free(out->queues);
	*out = (struct etw_kernel_out){0};
}

void etw_kernel_out_begin(struct etw_kernel_out *out, uint64_t time_ns, uint32_t cpu,
			  struct etw_kernel_item *item)
{
	out->time_ns = time_ns;
	out->cpu = cpu < out->host->cpu_count ? cpu : 0;
	out->item = item;
	out->number = 0;
	out->stack = NULL;
	out->is_of_others = false;
	out->added = NULL;
}

void etw_kernel_out_slot(struct etw_kernel_out *out, enum etw_kernel_slot slot)
{
	uint64_t first = (uint64_t)slot << ETW_KERNEL_SLOT_BITS;

	if (out->number < first)
		out->number = first;
}

static bool is_behind(const struct etw_kernel_queue *queue, uint64_t time_ns, uint64_t number)
{
	if (time_ns != queue->mark.moment)
		return time_ns > queue->mark.moment;
	return number > queue->mark.number;
}

uint8_t *etw_kernel_out_add(struct etw_kernel_out *out, uint32_t byte_count, uint32_t time_at)
{
	struct etw_kernel_queue *queue = &out->queues[out->cpu];
	uint64_t number = out->number++;
	struct etw_kernel_event *event;

	out->added = NULL;
	if (!is_behind(queue, out->time_ns, number))
		return NULL;
	event = byte_count <= UINT16_MAX ? calloc(1, sizeof(*event) + byte_count) : NULL;
	if (!event) {
		out->no_memory++;
		return NULL;
	}
	event->item = out->item;
	if (event->item)
		event->item->outstanding++;
	event->time_ns = out->time_ns;
	event->number = number;
	event->time_at = time_at;
	event->byte_count = byte_count;
	if (queue->last)
		queue->last->next = event;
	else
		queue->first = event;
	queue->last = event;
	out->added = event;
	out->held_bytes += byte_count;
	return event->bytes;
}

void etw_kernel_out_repeat_time(struct etw_kernel_out *out, uint32_t time_at)
{
	out->added->again_at = time_at;
}

void etw_kernel_out_skip(struct etw_kernel_out *out)
{
	out->number++;
}

void etw_kernel_out_account(struct etw_kernel_out *out, uint32_t event, enum wire_stack_fate fate,
			    bool lacks_user)
{
	if (!out->added)
		return; /* a former host counted it */
	out->added->stack_event = event;
	out->added->stack_fate = fate;
	out->added->lacks_user = lacks_user;
}

bool etw_kernel_out_is_new(const struct etw_kernel_out *out, uint32_t cpu, uint64_t time_ns,
			   uint64_t number)
{
	return is_behind(&out->queues[cpu], time_ns, number);
}

uint64_t etw_kernel_out_next_ns(const struct etw_kernel_out *out, uint32_t cpu)
{
	const struct etw_kernel_event *event = out->queues[cpu].first;

	return event ? event->time_ns : UINT64_MAX;
}

/* To queue->last_raw; false: not yet. */
static bool convert(const struct etw_kernel_out *out, struct etw_kernel_queue *queue,
		    uint64_t time_ns)
{
	if (queue->has_last && queue->last_ns == time_ns)
		return true;
	queue->has_last = !out->host->to_raw(out->host->context, time_ns, &queue->last_raw);
	queue->last_ns = time_ns;
	return queue->has_last;
}

bool etw_kernel_out_peek(struct etw_kernel_out *out, uint32_t cpu, struct etw_source_event *ret)
{
	struct etw_kernel_queue *queue = &out->queues[cpu];
	struct etw_kernel_event *event = queue->first;

	if (!event)
		return false;
	if (!event->has_raw) {
		if (!convert(out, queue, event->time_ns))
			return false;
		event->time_raw = queue->last_raw;
		event->has_raw = true;
		etw_store64(event->bytes + event->time_at, (uint64_t)event->time_raw);
		if (event->again_at)
			etw_store64(event->bytes + event->again_at, (uint64_t)event->time_raw);
	}
	*ret = (struct etw_source_event){
		.bytes = event->bytes,
		.byte_count = event->byte_count,
		.time_raw = event->time_raw,
	};
	return true;
}

void etw_kernel_out_stack(const struct etw_kernel_out *out, uint32_t cpu,
			  struct etw_source_event *ret)
{
	const struct etw_kernel_event *first = out->queues[cpu].first;
	const struct etw_kernel_event *next = first ? first->next : NULL;
	struct wire_perfinfo_header header;

	if (!next || next->time_ns != first->time_ns || next->byte_count < sizeof(header))
		return;
	memcpy(&header, next->bytes, sizeof(header));
	if (header.header_type == WIRE_HEADER_PERFINFO64 && header.group == STACKWALK_GROUP &&
	    header.type == STACKWALK_TYPE)
		*ret = (struct etw_source_event){next->bytes, next->byte_count, first->time_raw};
}

void etw_kernel_out_pop(struct etw_kernel_out *out, uint32_t cpu, struct etw_source_mark *ret_mark)
{
	struct etw_kernel_queue *queue = &out->queues[cpu];
	struct etw_kernel_event *event = queue->first;

	*ret_mark = (struct etw_source_mark){event->time_ns, event->number};
	if (event->item)
		event->item->outstanding--;
	if (event->stack_event && out->account)
		etw_kernel_stack_account_add(out->account, event->bytes, event->stack_fate,
					     event->lacks_user);
	out->held_bytes -= event->byte_count;
	queue->first = event->next;
	if (!queue->first)
		queue->last = NULL;
	free(event);
}
