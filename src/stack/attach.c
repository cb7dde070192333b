/* SPDX-License-Identifier: MIT */
#include "stack/attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "stack/halves.h"
#include "stack/window.h"

enum {
	KERNEL,
	USER,
	HALVES
};

/* That an event waits for the frames of a half: a link in the half's list. */
struct waiter {
	struct etw_stack_link link; /* first: the list knows no more */
	struct etw_stack_target *target;
};

/* An event with a part of its stack, or all of it. */
struct etw_stack_target {
	struct etw_stack_link age;    /* among all of them, the oldest first */
	struct etw_stack_link thread; /* among those of a thread that is in the kernel */
	struct waiter waiters[HALVES];
	struct etw_stack_half *halves[HALVES];
	struct etw_stack_entry *entry; /* NULL: the window has moved on */
	uint64_t token;
	uint64_t match;
	uint32_t pid, tid;
};

struct thread {
	struct etw_stack_link
		in_kernel; /* events that want the stack at the way out of the kernel */
	uint32_t tid;
};

struct etw_stacks {
	struct etw_stack_window window;
	struct etw_stack_halves halves;
	struct etw_stack_link targets;
	struct etw_table threads; /* in the arena of the halves */
	size_t pending;
	struct etw_stack_counts counts;
	unsigned pointer_bytes;
	etw_stacks_done_fn done;
	void *context;
	uint64_t *frames; /* owned; of the stack that is being told of */
	size_t room;
};

/* The target whose link this is; @member is the link's name. */
#define TARGET_OF(link, member) \
	((struct etw_stack_target *)((uint8_t *)(link)-offsetof(struct etw_stack_target, member)))

static void free_target(struct etw_stacks *stacks, struct etw_stack_target *target)
{
	etw_stack_link_remove(&target->age);
	etw_stack_link_remove(&target->thread);
	for (int i = 0; i < HALVES; i++) {
		etw_stack_link_remove(&target->waiters[i].link);
		etw_stack_half_drop(&stacks->halves, target->halves[i]);
	}
	if (target->entry)
		target->entry->target = NULL;
	free(target);
	stacks->pending--;
}

int etw_stacks_create(unsigned pointer_bytes, etw_stacks_done_fn done, void *context,
		      struct etw_stacks **ret)
{
	struct etw_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	etw_stack_link_init(&stacks->targets);
	stacks->pointer_bytes = pointer_bytes;
	stacks->done = done;
	stacks->context = context;
	if (etw_stack_window_init(&stacks->window, ETW_STACK_WINDOW_EVENTS)) {
		etw_stacks_free(stacks);
		return -ENOMEM;
	}
	*ret = stacks;
	return 0;
}

void etw_stacks_free(struct etw_stacks *stacks)
{
	if (!stacks)
		return;
	while (!etw_stack_link_is_alone(&stacks->targets))
		free_target(stacks, TARGET_OF(stacks->targets.next, age));
	etw_stack_window_done(&stacks->window);
	etw_table_done(&stacks->threads);
	etw_stack_halves_done(&stacks->halves);
	free(stacks->frames);
	free(stacks);
}

const struct etw_stack_counts *etw_stacks_counts(const struct etw_stacks *stacks)
{
	return &stacks->counts;
}

static bool is_kernel(const struct etw_stacks *stacks, uint64_t address)
{
	return etw_stack_in_kernel(address, stacks->pointer_bytes);
}

/* Makes one run of a target's frames. */
static int join(struct etw_stacks *stacks, const struct etw_stack_target *target,
		struct etw_callstack *ret)
{
	uint32_t count = 0;

	for (int i = 0; i < HALVES; i++)
		count += target->halves[i] ? target->halves[i]->count : 0;
	if (count > stacks->room) {
		uint64_t *grown = realloc(stacks->frames, 2 * count * sizeof(uint64_t));

		if (!grown)
			return -ENOMEM;
		stacks->frames = grown;
		stacks->room = (size_t)2 * count;
	}
	*ret = (struct etw_callstack){
		.frames = stacks->frames, .pid = target->pid, .tid = target->tid};
	for (int i = 0; i < HALVES; i++) {
		const struct etw_stack_half *half = target->halves[i];

		if (!half || !half->count)
			continue;
		memcpy(stacks->frames + ret->count, half->frames, half->count * sizeof(uint64_t));
		ret->count += half->count;
	}
	while (ret->kernel_count < ret->count && is_kernel(stacks, ret->frames[ret->kernel_count]))
		ret->kernel_count++;
	return 0;
}

/* Tells of a target as it is, and frees it. */
static int finish(struct etw_stacks *stacks, struct etw_stack_target *target)
{
	const bool is_waiting = !etw_stack_link_is_alone(&target->thread);
	const uint64_t token = target->token;
	enum etw_stack_fate fate = ETW_STACK_WHOLE;
	struct etw_callstack stack;
	unsigned lacking = 0;

	for (int i = 0; i < HALVES; i++)
		lacking += target->halves[i] && !target->halves[i]->is_defined;
	stacks->counts.undefined += lacking;
	TRY(join(stacks, target, &stack));
	if (!stack.count)
		fate = ETW_STACK_UNDEFINED;
	else if ((lacking || is_waiting) && stack.kernel_count == stack.count)
		fate = ETW_STACK_KERNEL_ONLY;
	if (target->entry)
		target->entry->is_wanted = false;
	free_target(stacks, target);
	return stacks->done(stacks->context, token, fate, &stack);
}

static bool is_complete(const struct etw_stack_target *target)
{
	for (int i = 0; i < HALVES; i++) {
		if (target->halves[i] && !target->halves[i]->is_defined)
			return false;
	}
	return etw_stack_link_is_alone(&target->thread);
}

static int finish_if_complete(struct etw_stacks *stacks, struct etw_stack_target *target)
{
	return is_complete(target) ? finish(stacks, target) : 0;
}

static void give_half(struct etw_stack_target *target, int which, struct etw_stack_half *half)
{
	target->halves[which] = half;
	half->references++;
	if (!half->is_defined)
		etw_stack_link_append(&half->waiting, &target->waiters[which].link);
}

/* The target of an event that is wanted; made when it has none. NULL when memory ran out. */
static struct etw_stack_target *target_of(struct etw_stacks *stacks, struct etw_stack_entry *entry,
					  const struct etw_stack_part *part)
{
	struct etw_stack_target *target = entry->target;

	if (target)
		return target;
	target = calloc(1, sizeof(*target));
	if (!target)
		return NULL;
	etw_stack_link_init(&target->age);
	etw_stack_link_init(&target->thread);
	for (int i = 0; i < HALVES; i++) {
		etw_stack_link_init(&target->waiters[i].link);
		target->waiters[i].target = target;
	}
	etw_stack_link_append(&stacks->targets, &target->age);
	target->entry = entry;
	target->token = entry->token;
	target->match = part->match;
	target->pid = part->pid;
	target->tid = part->tid;
	entry->target = target;
	stacks->pending++;
	return target;
}

static bool is_thread(const void *item, const void *tid)
{
	return ((const struct thread *)item)->tid == *(const uint32_t *)tid;
}

/* NULL where there is none, and @wants says that none is to be made. */
static int find_thread(struct etw_stacks *stacks, uint32_t tid, bool wants, struct thread **ret)
{
	const uint64_t hash = etw_hash_mix(etw_hash_seed(), tid);

	*ret = etw_table_find(&stacks->threads, hash, is_thread, &tid);
	if (*ret || !wants)
		return 0;
	if (stacks->threads.count >= ETW_STACK_KEYS_MAX) {
		stacks->counts.left_out++;
		return 0;
	}
	*ret = etw_arena_alloc(&stacks->halves.arena, sizeof(**ret));
	if (!*ret || etw_table_insert(&stacks->threads, hash, *ret))
		return -ENOMEM;
	(*ret)->tid = tid;
	etw_stack_link_init(&(*ret)->in_kernel);
	return 0;
}

/* Threads of the system itself never leave the kernel. */
static bool leaves_kernel(uint32_t pid)
{
	return pid != 0 && pid != 4;
}

/* All of a stack, or the half of it in the kernel. */
static int take_inner(struct etw_stacks *stacks, struct etw_stack_entry *entry,
		      const struct etw_stack_part *part, struct etw_stack_half *half, bool is_whole)
{
	struct etw_stack_target *target;
	struct thread *thread;

	if (!entry || !entry->is_wanted)
		return 0;
	target = target_of(stacks, entry, part);
	if (!target)
		return -ENOMEM;
	if (target->halves[KERNEL]) {
		stacks->counts.late++;
		return 0;
	}
	give_half(target, KERNEL, half);
	if (!is_whole && leaves_kernel(part->pid)) {
		TRY(find_thread(stacks, part->tid, /* wants= */ true, &thread));
		if (thread)
			etw_stack_link_append(&thread->in_kernel, &target->thread);
	}
	return finish_if_complete(stacks, target);
}

/* The half in the process: what has happened in the kernel since the thread entered it has it, too. */
static int take_outer(struct etw_stacks *stacks, struct etw_stack_entry *entry,
		      const struct etw_stack_part *part, struct etw_stack_half *half)
{
	struct etw_stack_target *target = NULL;
	struct thread *thread;
	struct etw_stack_link *link;

	if (entry && entry->is_wanted) {
		target = target_of(stacks, entry, part);
		if (!target)
			return -ENOMEM;
		if (target->halves[USER])
			stacks->counts.late++;
		else
			give_half(target, USER, half);
	}
	TRY(find_thread(stacks, part->tid, /* wants= */ false, &thread));
	link = thread ? thread->in_kernel.next : NULL;
	while (link && link != &thread->in_kernel) {
		struct etw_stack_target *other = TARGET_OF(link, thread);

		link = link->next;
		if (part->match && other->match && part->match != other->match)
			continue;
		etw_stack_link_remove(&other->thread);
		if (!other->halves[USER])
			give_half(other, USER, half);
		if (other != target)
			TRY(finish_if_complete(stacks, other));
	}
	return target ? finish_if_complete(stacks, target) : 0;
}

/* A half that nobody took is given back. */
static int take_half(struct etw_stacks *stacks, struct etw_stack_entry *entry,
		     const struct etw_stack_part *part, struct etw_stack_half *half, bool is_whole,
		     bool is_inner)
{
	int result;

	half->references++;
	result = is_whole || is_inner ? take_inner(stacks, entry, part, half, is_whole)
				      : take_outer(stacks, entry, part, half);
	etw_stack_half_drop(&stacks->halves, half);
	return result;
}

static bool ends_in_kernel(const struct etw_stacks *stacks, const struct etw_stack_part *part)
{
	return part->count && is_kernel(stacks, etw_stack_frame(part, part->count - 1));
}

static int take_frames(struct etw_stacks *stacks, struct etw_stack_entry *entry,
		       const struct etw_stack_part *part, bool is_whole)
{
	const bool is_inner = ends_in_kernel(stacks, part);
	struct etw_stack_half *half;

	if (!part->count)
		return 0;
	half = etw_stack_half_of_frames(&stacks->halves, part);
	if (!half)
		return -ENOMEM;
	if (!is_inner && is_kernel(stacks, etw_stack_frame(part, 0)))
		is_whole = true;
	return take_half(stacks, entry, part, half, is_whole, is_inner);
}

/* A key that either half may have is one of an item, and all that there is. */
static int take_key(struct etw_stacks *stacks, struct etw_stack_entry *entry,
		    const struct etw_stack_part *part, enum etw_stack_side side, bool is_whole)
{
	struct etw_stack_half *half;
	int result = etw_stack_half_of_key(&stacks->halves, part->key, side, &half);

	if (result == -ENOBUFS) {
		stacks->counts.left_out++;
		return 0;
	}
	TRY(result);
	return take_half(stacks, entry, part, half, is_whole, side == ETW_STACK_SIDE_KERNEL);
}

static int define_side(struct etw_stacks *stacks, const struct etw_stack_part *part,
		       enum etw_stack_side side)
{
	struct etw_stack_half *half;
	int result = 0;

	TRY(etw_stack_half_define(&stacks->halves, part, side, &half));
	if (!half)
		return 0;
	/* Its last event would take it along. */
	half->references++;
	while (!result && !etw_stack_link_is_alone(&half->waiting)) {
		const struct waiter *waiter = (const struct waiter *)half->waiting.next;

		etw_stack_link_remove(half->waiting.next);
		result = finish_if_complete(stacks, waiter->target);
	}
	etw_stack_half_drop(&stacks->halves, half);
	return result;
}

static int define(struct etw_stacks *stacks, const struct etw_stack_part *part)
{
	stacks->counts.definitions++;
	if (!part->count)
		return 0;
	TRY(define_side(stacks, part,
			ends_in_kernel(stacks, part) ? ETW_STACK_SIDE_KERNEL
						     : ETW_STACK_SIDE_USER));
	return define_side(stacks, part, ETW_STACK_SIDE_EITHER);
}

static int take_walk(struct etw_stacks *stacks, const EVENT_RECORD *record, int64_t time_raw)
{
	struct etw_stack_entry *entry;
	struct etw_stack_part part;
	bool is_whole;

	if (!etw_stack_part_read(record, &part)) {
		stacks->counts.damaged++;
		return 0;
	}
	if (part.kind == ETW_STACK_DEFINITION)
		return define(stacks, &part);
	entry = etw_stack_window_find(&stacks->window, part.time_raw, part.tid,
				      (uint16_t)GetEventProcessorIndex(record));
	if (part.kind == ETW_STACK_FRAMES)
		stacks->counts.walks++;
	else
		stacks->counts.references++;
	stacks->counts.strays += !entry;
	/* Windows walks a stack after it wrote the event; who does both at once has all of it. */
	is_whole = part.time_raw == time_raw;
	if (part.kind == ETW_STACK_FRAMES)
		return take_frames(stacks, entry, &part, is_whole);
	return take_key(stacks, entry, &part,
			part.kind == ETW_STACK_KEY_KERNEL ? ETW_STACK_SIDE_KERNEL
							  : ETW_STACK_SIDE_USER,
			is_whole);
}

static int take_items(struct etw_stacks *stacks, const EVENT_RECORD *record,
		      struct etw_stack_entry *entry)
{
	struct etw_stack_part part;
	unsigned index = 0;

	while (etw_stack_item_read(record, &index, &part)) {
		stacks->counts.items++;
		if (part.kind == ETW_STACK_FRAMES)
			TRY(take_frames(stacks, entry, &part,
					entry && !ends_in_kernel(stacks, &part)));
		else
			TRY(take_key(stacks, entry, &part, ETW_STACK_SIDE_EITHER,
				     /* is_whole= */ entry != NULL));
	}
	return 0;
}

/* Nothing can refer to the oldest event any more. */
static int move_window(struct etw_stacks *stacks)
{
	static const struct etw_callstack none = {0};
	struct etw_stack_entry *oldest = etw_stack_window_oldest(&stacks->window);

	if (!oldest)
		return 0;
	if (oldest->target) {
		oldest->target->entry = NULL;
		oldest->target = NULL;
		return 0;
	}
	return oldest->is_wanted
		       ? stacks->done(stacks->context, oldest->token, ETW_STACK_NONE, &none)
		       : 0;
}

static int make_room(struct etw_stacks *stacks)
{
	while (stacks->pending > ETW_STACK_PENDING_MAX ||
	       (stacks->pending && stacks->halves.bytes > ETW_STACK_PENDING_BYTES_MAX)) {
		stacks->counts.given_up++;
		TRY(finish(stacks, TARGET_OF(stacks->targets.next, age)));
	}
	return 0;
}

int etw_stacks_add(struct etw_stacks *stacks, const EVENT_RECORD *record, int64_t time_raw,
		   bool is_wanted, uint64_t token)
{
	static const struct etw_callstack none = {0};
	struct etw_stack_entry entry = {
		.time_raw = time_raw,
		.token = token,
		.processor = (uint16_t)GetEventProcessorIndex(record),
		.is_wanted = is_wanted,
	};
	struct etw_stack_entry *place;

	if (etw_stack_is_walk(record)) {
		TRY(take_walk(stacks, record, time_raw));
	} else if (UNLIKELY(etw_stack_is_user_half(record))) {
		TRY(take_items(stacks, record, NULL));
	} else if (etw_stack_is_subject(record)) {
		entry.tid = etw_stack_owner(record);
		TRY(move_window(stacks));
		place = etw_stack_window_add(&stacks->window, &entry);
		if (UNLIKELY(record->ExtendedDataCount))
			TRY(take_items(stacks, record, place));
		return make_room(stacks);
	}
	TRY(make_room(stacks));
	/* It is no event that can have one. */
	return is_wanted ? stacks->done(stacks->context, token, ETW_STACK_NONE, &none) : 0;
}

int etw_stacks_end(struct etw_stacks *stacks)
{
	static const struct etw_callstack none = {0};
	struct etw_stack_link *link = stacks->targets.next, *next;

	/* What the window has left behind is older than all that is in it. */
	for (; link != &stacks->targets; link = next) {
		struct etw_stack_target *target = TARGET_OF(link, age);

		next = link->next;
		if (!target->entry)
			TRY(finish(stacks, target));
	}
	for (uint32_t i = 0; i < stacks->window.room; i++) {
		struct etw_stack_entry *entry = etw_stack_window_at(&stacks->window, i);

		if (!entry || !entry->is_wanted)
			continue;
		if (entry->target) {
			TRY(finish(stacks, entry->target));
			continue;
		}
		entry->is_wanted = false;
		TRY(stacks->done(stacks->context, entry->token, ETW_STACK_NONE, &none));
	}
	return 0;
}
