/* SPDX-License-Identifier: MIT */
#include "source/kernel/unwind/unwind_walk.h"

#include <stddef.h>

#include "base/bytes.h"

struct walk {
	struct etw_kernel_tables *tables;
	const struct etw_kernel_stack_owner *owner;
	const struct etw_kernel_images *images;
	const struct etw_kernel_image *image; /* where the last place lay; may be NULL */
	const struct etw_kernel_stack_copy *copy;
	const uint8_t *bytes;
	uint64_t pc, stack, frame, link; /* link: of arm64, in the innermost frame alone */
	bool is_exact; /* the place is where code was interrupted, not where a call returns to */
};

static bool read_word(const struct walk *walk, uint64_t address, uint64_t *ret)
{
	uint64_t offset = address - walk->copy->stack;

	if (address < walk->copy->stack || offset > walk->copy->byte_count ||
	    walk->copy->byte_count - offset < sizeof(*ret))
		return false;
	*ret = etw_load64(walk->bytes + offset);
	return true;
}

static bool is_within(const struct etw_kernel_image *image, uint64_t pc)
{
	return pc >= image->base && pc < image->end && etw_kernel_image_is_loaded(image);
}

/* Of several that lie there, the one that was found before: it is another only where images overlap. */
static const struct etw_kernel_image *find_image(struct walk *walk, uint64_t pc)
{
	if (walk->image && is_within(walk->image, pc))
		return walk->image;
	walk->image = etw_kernel_images_find(walk->images, pc);
	return walk->image;
}

static uint64_t base_of(const struct walk *walk, uint8_t base, uint64_t cfa)
{
	if (base == ETW_UNWIND_STACK)
		return walk->stack;
	return base == ETW_UNWIND_FRAME ? walk->frame : cfa;
}

/* Returns whether the value could be had; SAME leaves it as it is. */
static bool take_place(const struct walk *walk, const struct etw_unwind_place *place, uint64_t cfa,
		       uint64_t *value)
{
	if (place->kind == ETW_UNWIND_SAME)
		return true;
	return place->kind == ETW_UNWIND_SAVED &&
	       read_word(walk, base_of(walk, place->base, cfa) + (uint64_t)(int64_t)place->offset,
			 value);
}

/* The caller's stack lies above, but for that of what a signal interrupted. */
static bool move_to(struct walk *walk, const struct walk *next, bool is_signal)
{
	if (next->stack <= walk->stack && !is_signal)
		return false;
	walk->pc = next->pc;
	walk->stack = next->stack;
	walk->frame = next->frame;
	walk->link = 0;
	walk->is_exact = is_signal;
	return walk->pc != 0;
}

static bool step_by_rule(struct walk *walk, const struct etw_unwind_rule *rule)
{
	struct walk next = *walk;
	uint64_t cfa = base_of(walk, rule->cfa.base, 0) + (uint64_t)(int64_t)rule->cfa.offset;

	if (rule->cfa.kind == ETW_UNWIND_SAVED && !read_word(walk, cfa, &cfa))
		return false;
	next.pc = walk->link;
	if (!take_place(walk, &rule->address, cfa, &next.pc))
		return false;
	if (!take_place(walk, &rule->frame, cfa, &next.frame))
		next.frame = 0;
	next.stack = cfa;
	return move_to(walk, &next, rule->is_signal);
}

/* A frame of two words: the caller's frame pointer, and where it goes on. */
static bool step_by_frame(struct walk *walk)
{
	struct walk next = *walk;

	if (walk->frame % sizeof(uint64_t) != 0 || !read_word(walk, walk->frame, &next.frame) ||
	    !read_word(walk, walk->frame + sizeof(uint64_t), &next.pc))
		return false;
	next.stack = walk->frame + 2 * sizeof(uint64_t);
	return move_to(walk, &next, /* is_signal= */ false);
}

static bool has_rule(struct walk *walk, uint64_t pc)
{
	const struct etw_kernel_image *image = find_image(walk, pc);
	struct etw_unwind_rule rule;

	return image && etw_kernel_tables_find_rule(walk->tables, walk->owner, image, pc, &rule);
}

/*
 * Where a thread is made the C library's tables end in the middle of a function, so that stacks of the new thread end
 * there. The function has put nothing onto the maker's stack: where it returns to is on top, if it is code with tables.
 */
static bool step_by_return(struct walk *walk)
{
	uint64_t pc = walk->link, stack = walk->stack;

	if (!walk->is_exact || walk->stack != walk->copy->stack)
		return false;
	if (!pc) {
		if (!read_word(walk, stack, &pc))
			return false;
		stack += sizeof(uint64_t);
	}
	if (!pc || !has_rule(walk, pc - 1))
		return false;
	walk->pc = pc;
	walk->stack = stack;
	walk->link = 0;
	walk->is_exact = false;
	return true;
}

static bool step(struct walk *walk)
{
	/* A call may be the last instruction of its function: what it returns to is another one's. */
	uint64_t pc = walk->pc - (walk->is_exact ? 0 : 1);
	const struct etw_kernel_image *image = find_image(walk, pc);
	struct etw_unwind_rule rule;

	if (image && etw_kernel_tables_find_rule(walk->tables, walk->owner, image, pc, &rule))
		return step_by_rule(walk, &rule);
	return (image && step_by_return(walk)) || step_by_frame(walk);
}

uint32_t etw_kernel_unwind_walk(struct etw_kernel_tables *tables,
				const struct etw_kernel_stack_owner *owner,
				const struct etw_kernel_images *images,
				const struct etw_kernel_stack_copy *copy, uint64_t *frames,
				uint32_t room)
{
	struct walk walk = {
		.tables = tables,
		.owner = owner,
		.images = images,
		.copy = copy,
		.bytes = (const uint8_t *)(copy + 1),
		.pc = copy->pc,
		.stack = copy->stack,
		.frame = copy->frame,
		.link = copy->link,
		.is_exact = true,
	};
	uint32_t count = 0;

	etw_kernel_tables_begin(tables);
	while (count < room) {
		frames[count++] = walk.pc;
		if (!step(&walk))
			break;
	}
	return count;
}
