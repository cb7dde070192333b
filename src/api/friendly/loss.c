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

static int compare_ranges(const void *left, const void *right)
{
	const struct etw_loss_range *a = left, *b = right;

	return (a->from_ft > b->from_ft) - (a->from_ft < b->from_ft);
}

static int compare_gaps(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* From the end of one of the ordered ranges to the next; a file may tell of times at both ends of 64 bits. */
static uint64_t gap_behind(const struct etw_loss *loss, size_t i)
{
	return (uint64_t)loss->ranges[i + 1].from_ft - (uint64_t)loss->ranges[i].to_ft;
}

/* Puts the ordered ranges that touch together. */
static void unite(struct etw_loss *loss)
{
	size_t kept = 0;

	if (loss->count)
		qsort(loss->ranges, loss->count, sizeof(*loss->ranges), compare_ranges);
	for (size_t i = 0; i < loss->count; i++) {
		const struct etw_loss_range range = loss->ranges[i];

		if (!kept || loss->ranges[kept - 1].to_ft < range.from_ft)
			loss->ranges[kept++] = range;
		else if (loss->ranges[kept - 1].to_ft < range.to_ft)
			loss->ranges[kept - 1].to_ft = range.to_ft;
	}
	loss->count = kept;
}

/* Of more ranges than are kept, puts those together that are nearest to each other. */
static int thin_out(struct etw_loss *loss)
{
	size_t excess = loss->count - ETW_LOSS_RANGES_MAX, kept = 0, equal = 0;
	CLEANUP(freep) uint64_t *gaps = malloc((loss->count - 1) * sizeof(*gaps));
	uint64_t widest; /* that is closed */

	if (!gaps)
		return -ENOMEM;
	for (size_t i = 0; i + 1 < loss->count; i++)
		gaps[i] = gap_behind(loss, i);
	qsort(gaps, loss->count - 1, sizeof(*gaps), compare_gaps);
	widest = gaps[excess - 1];
	while (equal < excess && gaps[excess - 1 - equal] == widest)
		equal++;
	for (size_t i = 0; i < loss->count; i++) {
		uint64_t gap = i > 0 ? gap_behind(loss, i - 1) : UINT64_MAX;
		bool is_closed = i > 0 && (gap < widest || (gap == widest && equal > 0));

		equal -= is_closed && gap == widest;
		if (is_closed)
			loss->ranges[kept - 1].to_ft = loss->ranges[i].to_ft;
		else
			loss->ranges[kept++] = loss->ranges[i];
	}
	loss->count = kept;
	return 0;
}

int etw_loss_settle(struct etw_loss *loss)
{
	if (loss->count == loss->settled)
		return 0;
	unite(loss);
	if (loss->count > ETW_LOSS_RANGES_MAX)
		TRY(thin_out(loss));
	loss->settled = loss->count;
	return 0;
}

/* Half of the room is free again afterwards: what sorting costs is shared by as many stretches. */
static int make_room(struct etw_loss *loss)
{
	struct etw_loss_range *grown;
	size_t room;

	TRY(etw_loss_settle(loss));
	if (loss->count < loss->room - loss->room / 2)
		return 0;
	room = loss->room ? 2 * loss->room : 16;
	if (room > 2 * ETW_LOSS_RANGES_MAX)
		return 0;
	grown = realloc(loss->ranges, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	loss->ranges = grown;
	loss->room = room;
	return 0;
}

/* Adds a stretch behind the others; mostly it continues the latest, and then nothing more is needed. */
static int add(struct etw_loss *loss, int64_t from_ft, int64_t to_ft)
{
	struct etw_loss_range *latest;

	/* The latest may not grow into others once all are in order. */
	if (loss->count > loss->settled) {
		latest = &loss->ranges[loss->count - 1];
		if (from_ft <= latest->to_ft && to_ft >= latest->from_ft) {
			latest->from_ft = from_ft < latest->from_ft ? from_ft : latest->from_ft;
			latest->to_ft = to_ft > latest->to_ft ? to_ft : latest->to_ft;
			return 0;
		}
	}
	if (loss->count == loss->room)
		TRY(make_room(loss));
	loss->ranges[loss->count++] = (struct etw_loss_range){from_ft, to_ft};
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
