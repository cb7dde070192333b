/* SPDX-License-Identifier: MIT */
#include "api/friendly/loss.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

void etw_loss_begin(struct etw_loss_source *source, int64_t start_ft)
{
	for (size_t i = 0; i < source->processor_count; i++)
		source->processors[i] = (struct etw_loss_processor){0};
	source->marks = 0;
	source->start_ft = start_ft;
	source->now_ft = start_ft;
}

static struct etw_loss_processor *processor_of(struct etw_loss_source *source, uint16_t number)
{
	struct etw_loss_processor *grown;
	size_t count = source->processor_count;

	if (number < count)
		return &source->processors[number];
	while (count <= number)
		count = count ? 2 * count : 16;
	grown = realloc(source->processors, count * sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + source->processor_count, 0,
	       (count - source->processor_count) * sizeof(*grown));
	source->processors = grown;
	source->processor_count = count;
	return &grown[number];
}

/* Puts the two neighbours together that are closest. */
static void make_room(struct etw_loss *loss)
{
	size_t best = 0;

	for (size_t i = 0; i + 1 < loss->count; i++) {
		if (loss->ranges[i + 1].from_ft - loss->ranges[i].to_ft <
		    loss->ranges[best + 1].from_ft - loss->ranges[best].to_ft)
			best = i;
	}
	loss->ranges[best].to_ft = loss->ranges[best + 1].to_ft;
	loss->count--;
	memmove(&loss->ranges[best + 1], &loss->ranges[best + 2],
		(loss->count - best - 1) * sizeof(*loss->ranges));
}

static int reserve(struct etw_loss *loss)
{
	size_t room = loss->room ? 2 * loss->room : 16;
	struct etw_loss_range *grown;

	if (loss->count < loss->room)
		return 0;
	if (loss->count >= ETW_LOSS_RANGES_MAX) {
		make_room(loss);
		return 0;
	}
	grown = realloc(loss->ranges, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	loss->ranges = grown;
	loss->room = room;
	return 0;
}

/* Adds a stretch, and puts it together with those that it touches. */
static int add(struct etw_loss *loss, int64_t from_ft, int64_t to_ft)
{
	size_t first = 0, end;

	TRY(reserve(loss));
	while (first < loss->count && loss->ranges[first].to_ft < from_ft)
		first++;
	for (end = first; end < loss->count && loss->ranges[end].from_ft <= to_ft; end++) {
		if (loss->ranges[end].from_ft < from_ft)
			from_ft = loss->ranges[end].from_ft;
		if (loss->ranges[end].to_ft > to_ft)
			to_ft = loss->ranges[end].to_ft;
	}
	memmove(&loss->ranges[first + 1], &loss->ranges[end],
		(loss->count - end) * sizeof(*loss->ranges));
	loss->ranges[first] = (struct etw_loss_range){from_ft, to_ft};
	loss->count = loss->count - (end - first) + 1;
	return 0;
}

int etw_loss_mark(struct etw_loss *loss, struct etw_loss_source *source, uint16_t number,
		  int64_t at_ft)
{
	struct etw_loss_processor *processor = processor_of(source, number);

	if (!processor)
		return -ENOMEM;
	source->marks++;
	if (!processor->is_open) {
		processor->from_ft = processor->has_last ? processor->last_ft : source->start_ft;
		if (processor->from_ft > at_ft)
			processor->from_ft = at_ft;
		processor->is_open = true;
	}
	/* Already now, for who asks before the buffer is through, or never gets so far. */
	return add(loss, processor->from_ft, at_ft);
}

int etw_loss_buffer(struct etw_loss *loss, struct etw_loss_source *source, uint16_t number)
{
	struct etw_loss_processor *processor = processor_of(source, number);

	if (!processor)
		return -ENOMEM;
	processor->last_ft = source->now_ft;
	processor->has_last = true;
	if (!processor->is_open)
		return 0;
	processor->is_open = false;
	return add(loss, processor->from_ft, source->now_ft);
}

int etw_loss_cut(struct etw_loss *loss, const struct etw_loss_source *source, int64_t end_ft)
{
	int64_t from_ft = source->now_ft;

	for (size_t i = 0; i < source->processor_count; i++) {
		const struct etw_loss_processor *processor = &source->processors[i];

		if (processor->has_last && processor->last_ft < from_ft)
			from_ft = processor->last_ft;
	}
	return add(loss, from_ft, end_ft > from_ft ? end_ft : from_ft);
}

void etw_loss_done(struct etw_loss *loss)
{
	free(loss->ranges);
	*loss = (struct etw_loss){0};
}

void etw_loss_source_done(struct etw_loss_source *source)
{
	free(source->processors);
	*source = (struct etw_loss_source){0};
}
