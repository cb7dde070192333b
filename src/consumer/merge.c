/* SPDX-License-Identifier: MIT */
/*
 * A binary heap of cursors, one per loaded buffer, ordered by (time, buffer number). The root keeps
 * delivering without any heap work while it stays below the horizon, the earliest (time, buffer number) that
 * anything else could have: the better of the root's children and the next buffer of the directory.
 */
#include "consumer/merge.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"

/*
 * Buffers that overlap in time are loaded together, which no genuine file makes expensive. Beyond this much a
 * buffer has to wait, and its events are delivered late.
 */
#define LOADED_BYTES_MAX ((size_t)256 * 1024 * 1024)

/* A lane that is not in use keeps its memory for the next buffer, up to this much. */
#define KEPT_BYTES_MAX ((size_t)4 * 1024 * 1024)

/* What buffers are handed back by when the order of their flushes is kept. */
struct rank {
	int64_t flushed_raw;
	uint32_t number;
};

/* A loaded buffer and the place in it. */
struct lane {
	const struct etw_etl_block *block; /* `own`, or one that is kept for later passes too */
	struct etw_etl_block own;
	struct etw_etl_cursor cursor;
	struct etw_pin *pin; /* of the block, a reference; NULL while nobody has asked for one */
	uint16_t losses;     /* flags still to be reported, before the current event */
	bool is_empty;       /* no event follows the losses */
	struct rank rank;
	struct lane *next; /* free, or done */
};

/* A lane on the heap, with what it is ordered by. */
struct node {
	int64_t time_raw; /* of the lane's current event */
	uint32_t number;  /* of its buffer */
	struct lane *lane;
};

struct etw_merge {
	const struct etw_etl_file *file;
	const struct etw_etl_directory *directory;
	struct etw_etl_kept *kept;
	struct etw_findings *findings;
	int64_t to_raw; /* the last time to deliver */
	uint32_t next_entry;
	struct node *heap; /* owned, and the lanes in it */
	uint32_t heap_count;
	uint32_t heap_room;
	struct lane *free_lanes; /* owned */
	size_t loaded_bytes;     /* of memory that the lanes on the heap hold */
	int64_t horizon;         /* the root may deliver while its time is below, or equal and */
	uint32_t horizon_number; /* its buffer's number below */
	bool has_horizon;
	int64_t last_raw; /* of the latest event that was popped */
	/* Lanes whose events all went out, and whose bytes are still there; owned. */
	struct lane *done;  /* by rank */
	struct lane *shown; /* the one that etw_merge_next_done() gave */
	size_t done_bytes;
	bool is_ordered;
	void (*give_back)(void *context,
			  const struct etw_etl_block *block); /* NULL: nothing is borrowed */
	void *lender;
	struct rank *
		lowest; /* owned; of the directory's entries from each one on; NULL: there are none */
};

static inline bool is_before(const struct node *left, const struct node *right)
{
	if (left->time_raw != right->time_raw)
		return left->time_raw < right->time_raw;
	return left->number < right->number;
}

/* The block's events are not needed here any more; others may have pinned them. */
static void leave_pin(struct lane *lane)
{
	if (LIKELY(!lane->pin))
		return;
	etw_pin_leave(lane->pin, &lane->own);
	lane->pin = NULL;
}

/* What it has borrowed of its block goes back. */
static void leave_loan(const struct etw_merge *merge, struct lane *lane)
{
	if (!merge->give_back || !lane->own.raw || lane->own.raw == lane->own.memory)
		return;
	merge->give_back(merge->lender, &lane->own);
	lane->own.raw = NULL;
}

static void lane_free(const struct etw_merge *merge, struct lane *lane)
{
	if (!lane)
		return;
	leave_pin(lane);
	leave_loan(merge, lane);
	etw_etl_block_done(&lane->own);
	free(lane);
}

static void free_list(const struct etw_merge *merge, struct lane *list)
{
	while (list) {
		struct lane *lane = list;

		list = lane->next;
		lane_free(merge, lane);
	}
}

int etw_merge_create(const struct etw_etl_file *file, const struct etw_etl_directory *directory,
		     struct etw_etl_kept *kept, int64_t to_raw, struct etw_findings *findings,
		     struct etw_merge **ret)
{
	CLEANUP(etw_merge_freep) struct etw_merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return -ENOMEM;
	merge->file = file;
	merge->directory = directory;
	merge->kept = kept;
	merge->findings = findings;
	merge->to_raw = to_raw;
	merge->last_raw = INT64_MIN;
	*ret = TAKE(merge);
	return 0;
}

void etw_merge_free(struct etw_merge *merge)
{
	if (!merge)
		return;
	for (uint32_t i = 0; i < merge->heap_count; i++)
		lane_free(merge, merge->heap[i].lane);
	free_list(merge, merge->free_lanes);
	free_list(merge, merge->done);
	lane_free(merge, merge->shown);
	free(merge->lowest);
	free(merge->heap);
	free(merge);
}

void etw_merge_freep(struct etw_merge **merge)
{
	etw_merge_free(*merge);
}

static void sift_up(struct etw_merge *merge, uint32_t at)
{
	struct node moving = merge->heap[at];

	while (at) {
		uint32_t parent = (at - 1) / 2;

		if (!is_before(&moving, &merge->heap[parent]))
			break;
		merge->heap[at] = merge->heap[parent];
		at = parent;
	}
	merge->heap[at] = moving;
}

static void sift_down(struct etw_merge *merge)
{
	struct node moving = merge->heap[0];
	uint32_t at = 0;

	for (uint32_t child; (child = 2 * at + 1) < merge->heap_count; at = child) {
		if (child + 1 < merge->heap_count &&
		    is_before(&merge->heap[child + 1], &merge->heap[child]))
			child++;
		if (!is_before(&merge->heap[child], &moving))
			break;
		merge->heap[at] = merge->heap[child];
	}
	merge->heap[at] = moving;
}

static void lower_horizon(struct etw_merge *merge, int64_t time_raw, uint32_t number)
{
	if (merge->has_horizon && (time_raw > merge->horizon ||
				   (time_raw == merge->horizon && number > merge->horizon_number)))
		return;
	merge->horizon = time_raw;
	merge->horizon_number = number;
	merge->has_horizon = true;
}

static void set_horizon(struct etw_merge *merge)
{
	const struct etw_etl_directory *directory = merge->directory;

	merge->has_horizon = false;
	if (merge->next_entry < directory->count)
		lower_horizon(merge, directory->entries[merge->next_entry].first_raw,
			      directory->entries[merge->next_entry].number);
	for (uint32_t child = 1; child <= 2 && child < merge->heap_count; child++)
		lower_horizon(merge, merge->heap[child].time_raw, merge->heap[child].number);
}

/* Whether something else comes before the root's event. */
static inline bool is_past_horizon(const struct etw_merge *merge)
{
	const struct node *root = &merge->heap[0];

	if (root->time_raw < merge->horizon || !merge->has_horizon)
		return false;
	return root->time_raw > merge->horizon || root->number > merge->horizon_number;
}

/* Bytes that are borrowed count too: somebody else holds them for it. */
static size_t lane_bytes(const struct lane *lane)
{
	const struct etw_etl_block *own = &lane->own;

	return (own->memory ? own->memory_room : own->raw_bytes) + own->unpacked_room +
	       own->places_room * sizeof(*own->places);
}

static struct lane *take_lane(struct etw_merge *merge)
{
	struct lane *lane = merge->free_lanes;

	if (!lane)
		return calloc(1, sizeof(*lane));
	merge->free_lanes = lane->next;
	lane->losses = 0;
	return lane;
}

static void give_lane(struct etw_merge *merge, struct lane *lane)
{
	leave_pin(lane);
	leave_loan(merge, lane);
	/* A merge that borrows needs memory of its own in an emergency alone. */
	if (lane_bytes(lane) > KEPT_BYTES_MAX || (merge->give_back && !merge->is_ordered))
		etw_etl_block_done(&lane->own);
	lane->next = merge->free_lanes;
	merge->free_lanes = lane;
}

/* Nobody needs the bytes of what is done any more, but for those that wait for their turn to be shown. */
static void reclaim(struct etw_merge *merge)
{
	struct lane *lane;

	if (merge->shown)
		give_lane(merge, merge->shown);
	merge->shown = NULL;
	while (!merge->is_ordered && (lane = merge->done) != NULL) {
		merge->done = lane->next;
		merge->done_bytes -= lane_bytes(lane);
		give_lane(merge, lane);
	}
}

static int reserve_heap(struct etw_merge *merge)
{
	struct node *grown;
	uint32_t room;

	if (merge->heap_count < merge->heap_room)
		return 0;
	room = merge->heap_room ? 2 * merge->heap_room : 16;
	grown = realloc(merge->heap, room * sizeof(struct node));
	if (!grown)
		return -ENOMEM;
	merge->heap = grown;
	merge->heap_room = room;
	return 0;
}

/*
 * Puts a lane on the heap, which has room for it, at its first event. One without events is there for the losses that
 * its flags tell of, at @empty_raw. Returns false when it has neither.
 */
static bool push_lane(struct etw_merge *merge, struct lane *lane, int64_t empty_raw)
{
	int64_t time_raw = empty_raw;

	lane->losses = lane->block->buffer.flags & ETW_BUFFER_LOSS_FLAGS;
	lane->rank.number = lane->block->buffer.number;
	lane->rank.flushed_raw = merge->lowest ? lane->block->buffer.time_raw : 0;
	lane->is_empty = !etw_etl_cursor_start(&lane->cursor, lane->block);
	if (!lane->is_empty)
		time_raw = lane->cursor.event.time_raw;
	else if (!lane->losses)
		return false;
	merge->loaded_bytes += lane_bytes(lane);
	merge->heap[merge->heap_count++] = (struct node){time_raw, lane->block->buffer.number,
							 lane};
	sift_up(merge, merge->heap_count - 1);
	return true;
}

/* Loads the next entry of the directory and puts it on the heap. */
static int load_next(struct etw_merge *merge)
{
	const struct etw_etl_entry *entry = &merge->directory->entries[merge->next_entry++];
	struct lane *lane;
	int result;

	TRY(reserve_heap(merge));
	reclaim(merge);
	lane = take_lane(merge);
	if (!lane)
		return -ENOMEM;
	result = etw_etl_directory_load(merge->kept, merge->file, entry, &lane->own,
					merge->findings, &lane->block);
	if (result || !push_lane(merge, lane, entry->first_raw)) {
		if (!result)
			etw_etl_cursor_tell(&lane->cursor, merge->findings);
		give_lane(merge, lane);
	}
	return result;
}

/* Whether the directory's next buffer is to be loaded: it could hold an event before the root's. */
static bool is_next_earlier(const struct etw_merge *merge)
{
	const struct etw_etl_entry *entry = &merge->directory->entries[merge->next_entry];
	const struct node *root = merge->heap;

	if (!merge->heap_count)
		return true;
	if (merge->loaded_bytes >= LOADED_BYTES_MAX)
		return false;
	return entry->first_raw < root->time_raw ||
	       (entry->first_raw == root->time_raw && entry->number < root->number);
}

/* Loads every buffer that could hold the next event, and no other: memory is bounded by that. */
static int refill(struct etw_merge *merge)
{
	while (merge->next_entry < merge->directory->count && is_next_earlier(merge))
		TRY(load_next(merge));
	set_horizon(merge);
	return 0;
}

/* An event goes out: whether it should have done so before. */
static inline void note_order(struct etw_merge *merge, const struct lane *lane, int64_t time_raw)
{
	if (LIKELY(time_raw >= merge->last_raw)) {
		merge->last_raw = time_raw;
		return;
	}
	etw_findings_add(merge->findings, ETW_FINDING_LATE, lane->block->buffer.offset, 0,
			 lane->block->buffer.number, "an event is older than one before it");
}

int etw_merge_peek(struct etw_merge *merge, struct etw_merge_event *ret)
{
	struct lane *lane;
	int64_t time_raw;

	if (!merge->heap_count || is_past_horizon(merge)) {
		TRY(refill(merge));
		if (!merge->heap_count)
			return ETW_END;
	}
	lane = merge->heap[0].lane;
	time_raw = merge->heap[0].time_raw;
	if (time_raw > merge->to_raw)
		return ETW_END;
	ret->block = lane->block;
	ret->event = &lane->cursor.event;
	ret->offset = lane->cursor.offset;
	ret->time_raw = time_raw;
	ret->loss = lane->losses & (uint16_t)-lane->losses;
	return 0;
}

static inline bool ranks_before(const struct rank *left, const struct rank *right)
{
	if (left->flushed_raw != right->flushed_raw)
		return left->flushed_raw < right->flushed_raw;
	return left->number < right->number;
}

static void add_done(struct etw_merge *merge, struct lane *lane)
{
	struct lane **at = &merge->done;

	while (*at && ranks_before(&(*at)->rank, &lane->rank))
		at = &(*at)->next;
	lane->next = *at;
	*at = lane;
	merge->done_bytes += lane_bytes(lane);
}

/* The root's buffer has nothing more to deliver. */
static const struct etw_etl_buffer *finish_root(struct etw_merge *merge)
{
	struct lane *lane = merge->heap[0].lane;

	etw_etl_cursor_tell(&lane->cursor, merge->findings);
	merge->loaded_bytes -= lane_bytes(lane);
	reclaim(merge);
	add_done(merge, lane);
	merge->heap[0] = merge->heap[--merge->heap_count];
	if (merge->heap_count)
		sift_down(merge);
	set_horizon(merge);
	return &lane->block->buffer;
}

const struct etw_etl_buffer *etw_merge_pop(struct etw_merge *merge)
{
	struct lane *lane = merge->heap[0].lane;

	if (UNLIKELY(lane->losses)) {
		lane->losses &= (uint16_t)(lane->losses - 1);
		return lane->is_empty && !lane->losses ? finish_root(merge) : NULL;
	}
	note_order(merge, lane, merge->heap[0].time_raw);
	if (LIKELY(etw_etl_cursor_next(&lane->cursor))) {
		merge->heap[0].time_raw = lane->cursor.event.time_raw;
		if (is_past_horizon(merge)) {
			sift_down(merge);
			set_horizon(merge);
		}
		return NULL;
	}
	return finish_root(merge);
}

/* The memory of a pinned block may outlive the merge, so that it is not for later passes any more. */
static int pin_lane(struct etw_merge *merge, struct lane *lane, struct etw_pin_account *account)
{
	const struct etw_etl_block *block = lane->block;

	/* What is borrowed is not ours to keep. */
	if (merge->give_back && block->raw != block->memory)
		return -ENODATA;
	TRY(etw_pin_create(account, block, &lane->pin));
	if (block == &lane->own)
		return 0;
	etw_etl_block_done(&lane->own);
	etw_etl_kept_take(merge->kept, block, &lane->own);
	lane->block = lane->cursor.block = &lane->own;
	return 0;
}

int etw_merge_pin(struct etw_merge *merge, struct etw_pin_account *account, struct etw_pin **ret)
{
	struct lane *lane;

	if (!merge->heap_count)
		return -ENODATA;
	lane = merge->heap[0].lane;
	if (lane->losses)
		return -ENODATA;
	if (!lane->pin) {
		size_t before = lane_bytes(lane);

		TRY(pin_lane(merge, lane, account));
		merge->loaded_bytes += lane_bytes(lane) - before;
	}
	*ret = etw_pin_ref(lane->pin);
	return 0;
}

int etw_merge_add(struct etw_merge *merge, struct etw_etl_block *block)
{
	struct etw_etl_block spare;
	struct lane *lane;

	TRY(reserve_heap(merge));
	reclaim(merge);
	lane = take_lane(merge);
	if (!lane)
		return -ENOMEM;
	spare = lane->own;
	lane->own = *block;
	lane->block = &lane->own;
	*block = spare;
	if (push_lane(merge, lane, lane->block->buffer.time_raw))
		set_horizon(merge);
	else
		give_lane(merge, lane);
	return 0;
}

int etw_merge_keep_order(struct etw_merge *merge)
{
	const struct etw_etl_directory *directory = merge->directory;
	struct rank *lowest;

	merge->is_ordered = true;
	if (!directory->count)
		return 0;
	lowest = calloc(directory->count, sizeof(*lowest));
	if (!lowest)
		return -ENOMEM;
	for (uint32_t i = directory->count; i-- > 0;) {
		const struct etw_etl_entry *entry = &directory->entries[i];

		lowest[i] = (struct rank){etw_etl_directory_flushed(merge->file, entry),
					  entry->number};
		if (i + 1 < directory->count && ranks_before(&lowest[i + 1], &lowest[i]))
			lowest[i] = lowest[i + 1];
	}
	merge->lowest = lowest;
	return 0;
}

/* Whether a buffer that was flushed before has events to deliver yet. */
static bool is_held_up(const struct etw_merge *merge, const struct lane *lane)
{
	if (merge->done_bytes >= LOADED_BYTES_MAX)
		return false;
	if (merge->next_entry < merge->directory->count &&
	    ranks_before(&merge->lowest[merge->next_entry], &lane->rank))
		return true;
	for (uint32_t i = 0; i < merge->heap_count; i++) {
		if (ranks_before(&merge->heap[i].lane->rank, &lane->rank))
			return true;
	}
	return false;
}

const struct etw_etl_block *etw_merge_next_done(struct etw_merge *merge)
{
	struct lane *lane = merge->done;

	if (merge->shown)
		give_lane(merge, merge->shown);
	merge->shown = NULL;
	if (!lane || (merge->is_ordered && is_held_up(merge, lane)))
		return NULL;
	merge->done = lane->next;
	merge->done_bytes -= lane_bytes(lane);
	merge->shown = lane;
	return lane->block;
}

int etw_merge_pin_done(struct etw_merge *merge, struct etw_pin_account *account,
		       struct etw_pin **ret)
{
	struct lane *lane = merge->shown;

	if (!lane)
		return -ENODATA;
	if (!lane->pin)
		TRY(pin_lane(merge, lane, account));
	*ret = etw_pin_ref(lane->pin);
	return 0;
}

void etw_merge_lend(struct etw_merge *merge,
		    void (*give_back)(void *context, const struct etw_etl_block *block),
		    void *context)
{
	merge->give_back = give_back;
	merge->lender = context;
}

static int own_lane(struct etw_merge *merge, struct lane *lane)
{
	struct etw_etl_block *own = &lane->own;
	struct etw_etl_block before = *own;
	size_t bytes = lane_bytes(lane);

	TRY(etw_etl_block_own(own));
	if (!lane->is_empty)
		lane->cursor.event.at = own->events + (lane->cursor.event.at - before.events);
	merge->give_back(merge->lender, &before);
	merge->loaded_bytes += lane_bytes(lane) - bytes;
	return 0;
}

static bool is_owned(const struct lane *lane)
{
	return lane->own.raw == lane->own.memory;
}

static int compare_numbers(const void *left, const void *right)
{
	const struct lane *const *a = left, *const *b = right;
	uint32_t before = (*a)->rank.number, behind = (*b)->rank.number;

	return before < behind ? -1 : before > behind;
}

int etw_merge_own(struct etw_merge *merge, size_t limit_bytes)
{
	CLEANUP(freep)
	struct lane **borrowed = malloc((merge->heap_count + 1) * sizeof(struct lane *));
	size_t owned_bytes = 0;
	uint32_t count = 0;

	if (!borrowed)
		return -ENOMEM;
	for (uint32_t i = 0; i < merge->heap_count; i++) {
		struct lane *lane = merge->heap[i].lane;

		if (is_owned(lane))
			owned_bytes += lane_bytes(lane);
		else
			borrowed[count++] = lane;
	}
	/* Who lends gets nothing back before the first one. */
	qsort(borrowed, count, sizeof(struct lane *), compare_numbers);
	for (uint32_t i = 0; i < count && owned_bytes < limit_bytes; i++) {
		TRY(own_lane(merge, borrowed[i]));
		owned_bytes += lane_bytes(borrowed[i]);
	}
	return 0;
}

void etw_merge_set_end(struct etw_merge *merge, int64_t to_raw)
{
	merge->to_raw = to_raw;
}

size_t etw_merge_bytes(const struct etw_merge *merge)
{
	return merge->loaded_bytes;
}
