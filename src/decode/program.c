/* SPDX-License-Identifier: MIT */
/*
 * Runs a program over a payload. A run of fixed fields copies its prepared items; everything else is
 * one item at a time. A step returns 0 to go on, STOP when the walk ends here (status and reason are
 * set by fail()), or -ENOMEM. Containers that were entered are closed on the way out, so that the
 * items are well-formed whenever the walk ends; a container without any element is taken back.
 */
#include "decode/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/utf.h"
#include "decode/program_internal.h"

#define STOP                1
#define NO_RUN              UINT32_MAX
#define SID_HEAD_BYTES      8
#define SID_AUTHORITIES_MAX 15

static const char reason_before[] = "the payload ends before this field";
static const char reason_within[] = "the payload ends within this field";

/* Stands for the payload of an event without one, so that offset 0 exists. */
static const uint8_t no_payload[1];

struct runner {
	const struct etw_program *program;
	struct etw_walk *walk;
};

static int run_block(struct runner *runner, uint32_t first, uint32_t count);

static int fail(struct etw_walk *walk, enum etw_decode_status status, uint16_t field,
		const char *reason)
{
	walk->status = status;
	walk->failed_field = field;
	walk->reason = reason;
	return STOP;
}

static int fail_short(struct etw_walk *walk, uint16_t field)
{
	return fail(walk, ETW_DECODE_TRUNCATED, field,
		    walk->at == walk->bytes ? reason_before : reason_within);
}

static int grow_items(struct etw_walk *walk, size_t need)
{
	size_t room = walk->room ? walk->room : 64;

	while (room < need)
		room *= 2;
	struct etw_item *grown = reallocarray(walk->items, room, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	walk->items = grown;
	walk->room = room;
	return 0;
}

/* Makes room for @more items; the limit ends the walk. */
static int reserve_items(struct etw_walk *walk, uint64_t more, uint16_t field)
{
	if (LIKELY(more <= walk->room - walk->count))
		return 0;
	if (more > ETW_PROGRAM_ITEMS_MAX - walk->count)
		return fail(walk, ETW_DECODE_MALFORMED, field,
			    "the event has more values than the decoder allows");
	return grow_items(walk, walk->count + (size_t)more);
}

/*
 * The items of a run that the payload ends in: those that lie in it, without containers that have
 * no element. Their ends and counts are cut to what is there.
 */
static int run_partial(struct etw_walk *walk, const struct step *step, const struct etw_item *from)
{
	uint32_t base = walk->count;
	uint32_t left = walk->bytes - walk->at;
	uint32_t done = 0;
	uint32_t end_of_values = 0;
	uint16_t failed = step->field;

	for (; done < step->items; done++) {
		failed = from[done].field;
		if (from[done].kind == ETW_ITEM_VALUE &&
		    from[done].offset + from[done].taken > left)
			break;
		if (from[done].kind == ETW_ITEM_VALUE)
			end_of_values = from[done].offset + from[done].taken;
	}
	while (done > 0 && from[done - 1].kind != ETW_ITEM_VALUE && from[done - 1].end > done)
		done--;
	for (uint32_t i = 0; i < done; i++) {
		struct etw_item *item = &walk->items[base + i];

		*item = from[i];
		if (item->end > done) {
			uint32_t children = 0;

			for (uint32_t k = i + 1; k < done; k++)
				children += from[k].depth == item->depth + 1;
			item->end = done;
			item->count = item->kind == ETW_ITEM_ARRAY ? children : 0;
			item->bytes = item->taken = end_of_values - item->offset;
		}
		item->offset += walk->at;
		item->end += base;
	}
	walk->count = base + done;
	walk->at += end_of_values;
	return fail_short(walk, failed);
}

static int run_fixed(struct runner *runner, const struct step *step)
{
	struct etw_walk *walk = runner->walk;
	const struct etw_item *from = runner->program->prepared + step->first;
	uint32_t at = walk->at;
	uint32_t base = walk->count;

	int r = reserve_items(walk, step->items, step->field);

	if (UNLIKELY(r))
		return r;
	if (UNLIKELY(step->size > walk->bytes - at))
		return run_partial(walk, step, from);
	struct etw_item *to = walk->items + base;

	for (uint32_t i = 0; i < step->items; i++) {
		to[i] = from[i];
		to[i].offset += at;
		to[i].end += base;
	}
	walk->count = base + step->items;
	walk->run_base = at;
	walk->at = at + step->size;
	return 0;
}

/* A negative count or length is larger than any payload; SLOT_UNSET is taken for "no value yet". */
static void save_integer(struct etw_walk *walk, const struct step *step)
{
	const uint8_t *at = walk->payload + walk->run_base + step->first;
	uint64_t value = step->flags & STEP_SIGNED ? (uint64_t)etw_load_signed(at, step->size)
						   : etw_load_unsigned(at, step->size);

	walk->slots[step->count] = value == SLOT_UNSET ? SLOT_UNSET - 1 : value;
}

static int load_slot(struct etw_walk *walk, const struct step *step, uint32_t slot, uint64_t *ret)
{
	*ret = walk->slots[slot];
	if (*ret == SLOT_UNSET)
		return fail(walk, ETW_DECODE_MALFORMED, step->field,
			    "the count or length refers to a field that comes later");
	return 0;
}

static uint32_t text_bytes(const uint8_t *at, uint32_t bytes, unsigned unit)
{
	if (unit == 2)
		return (uint32_t)(2 * etw_utf16_length(at, bytes / 2));
	const uint8_t *nul = bytes ? memchr(at, 0, bytes) : NULL;

	return nul ? (uint32_t)(nul - at) : bytes;
}

/* A run of @bytes of which text ends at the first NUL. */
static int measure_units(struct etw_walk *walk, const struct step *step, uint64_t units,
			 struct span *ret)
{
	uint32_t left = walk->bytes - walk->at;

	if (units > left / step->unit)
		return fail_short(walk, step->field);
	ret->taken = (uint32_t)units * step->unit;
	ret->bytes = ret->taken;
	if (step->rule != SIZE_BYTES_SLOT)
		ret->bytes = text_bytes(walk->payload + walk->at, ret->taken, step->unit);
	return 0;
}

static int measure_terminated(struct etw_walk *walk, const struct step *step, struct span *ret)
{
	uint32_t left = walk->bytes - walk->at;

	if (left == 0)
		return fail_short(walk, step->field);
	ret->bytes = text_bytes(walk->payload + walk->at, left, step->unit);
	/* Without a NUL the rest is the text; an odd last byte of UTF-16 goes with it. */
	ret->taken = ret->bytes + step->unit;
	if (ret->taken > left)
		ret->taken = left;
	return 0;
}

static int measure_counted(struct etw_walk *walk, const struct step *step, struct span *ret)
{
	const uint8_t *at = walk->payload + walk->at;
	uint32_t left = walk->bytes - walk->at;
	uint32_t prefix = step->rule == SIZE_COUNT32 ? 4 : 2;
	uint32_t count;

	if (left < prefix)
		return fail_short(walk, step->field);
	if (step->rule == SIZE_COUNT32)
		count = etw_load32(at);
	else if (step->rule == SIZE_COUNT16_BIG)
		count = (uint32_t)at[0] << 8 | at[1];
	else
		count = etw_load16(at);
	if (count > left - prefix)
		return fail_short(walk, step->field);
	*ret = (struct span){prefix, count, prefix + count};
	return 0;
}

static int measure_sid(struct etw_walk *walk, const struct step *step, uint32_t prefix,
		       struct span *ret)
{
	uint32_t left = walk->bytes - walk->at;

	if (left < prefix + 2)
		return fail_short(walk, step->field);
	uint32_t authorities = walk->payload[walk->at + prefix + 1];
	uint32_t bytes = SID_HEAD_BYTES + 4 * authorities;

	if (authorities > SID_AUTHORITIES_MAX)
		return fail(walk, ETW_DECODE_MALFORMED, step->field,
			    "the SID has more than 15 sub-authorities");
	if (left - prefix < bytes)
		return fail_short(walk, step->field);
	*ret = (struct span){prefix, bytes, prefix + bytes};
	return 0;
}

/* Whether a SID of revision 1 stands whole behind the next @prefix bytes. */
static bool is_sid_behind(const struct etw_walk *walk, uint32_t prefix)
{
	uint32_t left = walk->bytes - walk->at;
	const uint8_t *at;

	if (left < prefix + SID_HEAD_BYTES)
		return false;
	at = walk->payload + walk->at + prefix;
	return at[0] == 1 && at[1] <= SID_AUTHORITIES_MAX &&
	       left - prefix >= SID_HEAD_BYTES + 4u * at[1];
}

/*
 * TOKEN_USER and a SID. A first word of zero stands for both being absent; but some files have a
 * TOKEN_USER of zeros in front of a SID that is there.
 */
static int measure_wbem_sid(struct etw_walk *walk, const struct step *step, struct span *ret)
{
	if (walk->bytes - walk->at < 4)
		return fail_short(walk, step->field);
	if (etw_load32(walk->payload + walk->at) == 0 && !is_sid_behind(walk, step->unit)) {
		*ret = (struct span){.prefix = 4, .taken = 4};
		return 0;
	}
	return measure_sid(walk, step, step->unit, ret);
}

int etw_step_measure(struct etw_walk *walk, const struct step *step, struct span *ret)
{
	uint32_t left = walk->bytes - walk->at;
	uint64_t units;
	int r;

	*ret = (struct span){0};
	switch (step->rule) {
	case SIZE_FIXED:
		if (step->size > left)
			return fail_short(walk, step->field);
		ret->bytes = ret->taken = step->size;
		return 0;
	case SIZE_TEXT_UNITS:
		return measure_units(walk, step, step->size, ret);
	case SIZE_BYTES_SLOT:
	case SIZE_TEXT_SLOT:
		r = load_slot(walk, step, step->size, &units);
		return r ? r : measure_units(walk, step, units, ret);
	case SIZE_TEXT_NUL:
		return measure_terminated(walk, step, ret);
	case SIZE_TO_END:
		ret->bytes = ret->taken = left;
		return 0;
	case SIZE_SID:
		return measure_sid(walk, step, 0, ret);
	case SIZE_WBEM_SID:
		return measure_wbem_sid(walk, step, ret);
	default:
		return measure_counted(walk, step, ret);
	}
}

/* Ends a container: everything after it belongs to it. Taken back when it is empty and @failed. */
static void close_container(struct etw_walk *walk, uint32_t self, uint32_t elements, bool failed)
{
	struct etw_item *item = &walk->items[self];

	if (failed && walk->count == self + 1) {
		walk->count = self;
		return;
	}
	item->end = walk->count;
	item->count = elements;
	item->bytes = item->taken = walk->at - item->offset;
}

static int run_struct(struct runner *runner, const struct step *step, uint32_t index, uint8_t depth)
{
	struct etw_walk *walk = runner->walk;
	uint32_t self = walk->count;
	int r = reserve_items(walk, 1, step->field);

	if (r)
		return r;
	walk->items[walk->count++] = (struct etw_item){
		.kind = ETW_ITEM_STRUCT,
		.depth = depth,
		.field = step->field,
		.index = index,
		.offset = walk->at,
	};
	r = run_block(runner, step->first, step->items);
	if (r >= 0)
		close_container(walk, self, 0, r != 0);
	return r;
}

static int run_element(struct runner *runner, const struct step *step, uint32_t index,
		       uint8_t depth)
{
	struct etw_walk *walk = runner->walk;
	struct span span;

	if (step->rule == SIZE_STRUCT)
		return run_struct(runner, step, index, depth);
	int r = etw_step_measure(walk, step, &span);

	if (UNLIKELY(r))
		return r;
	r = reserve_items(walk, 1, step->field);
	if (UNLIKELY(r))
		return r;
	walk->items[walk->count] = (struct etw_item){
		.kind = ETW_ITEM_VALUE,
		.depth = depth,
		.field = step->field,
		.index = index,
		.end = walk->count + 1,
		.offset = walk->at + span.prefix,
		.bytes = span.bytes,
		.taken = span.taken,
	};
	walk->count++;
	walk->at += span.taken;
	return 0;
}

/* Elements of one known size: no question is left but how many there are. */
static int run_plain_elements(struct etw_walk *walk, const struct step *step, uint64_t count,
			      uint32_t *ret_done)
{
	uint32_t left = walk->bytes - walk->at;
	uint64_t fit = step->size ? left / step->size : count;
	uint64_t done = count < fit ? count : fit;
	int r = reserve_items(walk, done, step->field);

	if (r)
		return r;
	for (uint32_t i = 0; i < done; i++) {
		walk->items[walk->count] = (struct etw_item){
			.kind = ETW_ITEM_VALUE,
			.depth = (uint8_t)(step->depth + 1),
			.field = step->field,
			.index = i,
			.end = walk->count + 1,
			.offset = walk->at,
			.bytes = step->size,
			.taken = step->size,
		};
		walk->count++;
		walk->at += step->size;
	}
	*ret_done = (uint32_t)done;
	return count > fit ? fail_short(walk, step->field) : 0;
}

/* How many elements a to-the-end array has at most; what is left over of a fixed size stays extra. */
static uint64_t count_to_end(const struct etw_walk *walk, const struct step *step)
{
	uint32_t left = walk->bytes - walk->at;
	uint32_t size = step->rule == SIZE_FIXED ? step->size : step->fixed_bytes;

	if (step->rule == SIZE_FIXED && size == 0)
		return 0;
	return size ? left / size : UINT64_MAX;
}

static int run_elements(struct runner *runner, const struct step *step, uint64_t count,
			uint32_t *ret_done)
{
	struct etw_walk *walk = runner->walk;
	bool is_to_end = step->flags & STEP_TO_END;
	uint32_t i;
	int r = 0;

	for (i = 0; i < count; i++) {
		uint32_t at = walk->at;
		uint32_t self = walk->count;

		if (is_to_end && at == walk->bytes)
			break;
		r = run_element(runner, step, i, (uint8_t)(step->depth + 1));
		if (r) {
			i += walk->count > self;
			break;
		}
		if (is_to_end && walk->at == at) {
			i++;
			break;
		}
	}
	*ret_done = i;
	return r;
}

static int run_array(struct runner *runner, const struct step *step)
{
	struct etw_walk *walk = runner->walk;
	uint64_t count = step->count;
	uint32_t self = walk->count;
	uint32_t done = 0;
	int r = 0;

	if (step->flags & STEP_TO_END)
		count = count_to_end(walk, step);
	else if (step->flags & STEP_COUNT_SLOT)
		r = load_slot(walk, step, step->count, &count);
	if (!r)
		r = reserve_items(walk, 1, step->field);
	if (r)
		return r;
	walk->items[walk->count++] = (struct etw_item){
		.kind = ETW_ITEM_ARRAY,
		.depth = step->depth,
		.field = step->field,
		.offset = walk->at,
	};
	if (step->rule == SIZE_FIXED)
		r = run_plain_elements(walk, step, count, &done);
	else
		r = run_elements(runner, step, count, &done);
	if (r >= 0)
		close_container(walk, self, done, r != 0);
	return r;
}

static int run_block(struct runner *runner, uint32_t first, uint32_t count)
{
	struct etw_walk *walk = runner->walk;
	const struct step *step = &runner->program->steps[first];
	const struct step *end = step + count;

	for (; step < end; step++) {
		int r = 0;

		if (UNLIKELY(++walk->work > ETW_PROGRAM_WORK_MAX))
			return fail(walk, ETW_DECODE_MALFORMED, step->field,
				    "the event has more values than the decoder allows");
		if ((step->flags & STEP_OPTIONAL) && walk->at == walk->bytes) {
			walk->run_base = NO_RUN;
			continue;
		}
		switch (step->kind) {
		case STEP_RUN:
			r = run_fixed(runner, step);
			break;
		case STEP_SAVE:
			if (walk->run_base != NO_RUN)
				save_integer(walk, step);
			break;
		case STEP_FIELD:
			r = step->flags & STEP_ARRAY ? run_array(runner, step)
						     : run_element(runner, step, 0, step->depth);
			break;
		default:
			r = fail(walk, ETW_DECODE_MALFORMED, step->field, step->reason);
		}
		if (UNLIKELY(r))
			return r;
	}
	return 0;
}

static int prepare_walk(const struct etw_program *program, struct etw_walk *walk,
			const uint8_t *payload, uint32_t bytes)
{
	if (program->slot_count > walk->slot_room) {
		uint64_t *grown = reallocarray(walk->slots, program->slot_count, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		walk->slots = grown;
		walk->slot_room = program->slot_count;
	}
	for (uint32_t i = 0; i < program->slot_count; i++)
		walk->slots[i] = SLOT_UNSET;
	walk->payload = payload ? payload : no_payload;
	walk->bytes = bytes;
	walk->at = 0;
	walk->count = 0;
	walk->run_base = NO_RUN;
	walk->work = 0;
	walk->failed_field = 0;
	walk->status = ETW_DECODE_COMPLETE;
	walk->reason = NULL;
	return 0;
}

static void finish(struct etw_decoding *ret, const struct etw_item *items, size_t count,
		   uint32_t consumed, uint32_t bytes)
{
	bool is_complete = consumed == bytes;

	ret->items = items;
	ret->item_count = count;
	ret->consumed = consumed;
	ret->failed_field = 0;
	ret->status = is_complete ? ETW_DECODE_COMPLETE : ETW_DECODE_EXTRA;
	ret->reason = is_complete ? NULL : "bytes follow the last field of the schema";
}

int etw_program_run(const struct etw_program *program, struct etw_walk *walk,
		    const uint8_t *payload, uint32_t bytes, struct etw_decoding *ret)
{
	struct runner runner = {program, walk};

	ret->wpp_form = program->wpp_form;
	if (program->is_fixed && LIKELY(program->steps[0].size <= bytes)) {
		finish(ret, program->prepared, program->steps[0].items, program->steps[0].size,
		       bytes);
		return 0;
	}
	TRY(prepare_walk(program, walk, payload, bytes));
	TRY(run_block(&runner, 0, program->top_steps));
	finish(ret, walk->items, walk->count, walk->at, bytes);
	if (walk->status != ETW_DECODE_COMPLETE) {
		ret->status = walk->status;
		ret->failed_field = walk->failed_field;
		ret->reason = walk->reason;
	}
	return 0;
}

void etw_walk_done(struct etw_walk *walk)
{
	free(walk->items);
	free(walk->slots);
	etw_walk_init(walk);
}
