/* SPDX-License-Identifier: MIT */
/*
 * The slots of threads. A thread takes one at its first write, which may well be in a signal handler: without
 * lock, allocation or key, by CAS on the slot's `owner`. Nobody is told when a thread ends; its slot is taken
 * back when slots are scarce, or when it stands in the way of the reclaimer.
 *
 * An owner: the thread's id (24 bits; 0: free), a flag, how often the slot has changed hands (14 bits), and the
 * end of the process's origin (24 bits). In a forked child the slots of the parent's threads are free, once the
 * child's only thread has its own; who forks past the C library does without them.
 */
#include "provider/thread.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sched_point.h"
#include "provider/leave.h"

#define OWNER_ID_MASK      UINT64_C(0xFFFFFF)
#define OWNER_LEAVING      (UINT64_C(1) << 25) /* somebody takes the slot back */
#define OWNER_TURN         (UINT64_C(1) << 26)
#define OWNER_TURN_MASK    (OWNER_TURN * 0x3FFF)
#define OWNER_ORIGIN_SHIFT 40

#define MARK_NOBODY 1 /* outside; no page's stamp */

/* Chunk i has FIRST << i slots: 131,008 in all. */
#define CHUNK_COUNT 11
#define CHUNK_FIRST 64u

static struct etw_thread first_chunk[CHUNK_FIRST];
static struct etw_thread *chunks[CHUNK_COUNT] = {first_chunk}; /* atomic, each set once */
static uint32_t unlisted;       /* atomic; stays of threads that found no slot */
static uint32_t next_try;       /* atomic; a hint where a slot may be free */
static uint64_t settled_origin; /* atomic; of a child in which the slots of its parent are free */
static uint64_t epoch = 1;      /* atomic; written holding the lock */

static struct etw_thread nobody = {.mark = MARK_NOBODY}; /* never written */

ETW_HIDDEN _Thread_local struct etw_thread *etw_thread
	__attribute__((tls_model("initial-exec"))) = &nobody;

static bool is_inside(uint64_t mark)
{
	return !(mark & 1);
}

static bool is_of(uint64_t owner, uint64_t origin)
{
	return owner >> OWNER_ORIGIN_SHIFT == (origin & OWNER_ID_MASK);
}

/* The same thread, however often the slot has changed hands. */
static bool is_same(uint64_t left, uint64_t right)
{
	return ((left ^ right) & ~OWNER_TURN_MASK) == 0;
}

static uint64_t owner_of(uint64_t origin, uint32_t thread_id)
{
	return (origin & OWNER_ID_MASK) << OWNER_ORIGIN_SHIFT | (thread_id & OWNER_ID_MASK);
}

static bool is_own(const struct etw_thread *thread, uint64_t origin)
{
	const uint64_t owner = load_relaxed(&thread->owner);

	return thread != &nobody && is_of(owner, origin) && owner & OWNER_ID_MASK;
}

/* NULL: there is none with that number. */
static struct etw_thread *slot_at(uint32_t number)
{
	for (uint32_t i = 0; i < CHUNK_COUNT; i++) {
		struct etw_thread *chunk = load_acquire(&chunks[i]);

		if (!chunk)
			return NULL;
		if (number < CHUNK_FIRST << i)
			return &chunk[number];
		number -= CHUNK_FIRST << i;
	}
	return NULL;
}

static uint32_t count_slots(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < CHUNK_COUNT && load_acquire(&chunks[i]); i++)
		count += CHUNK_FIRST << i;
	return count;
}

/* The id may be that of another thread by now, which then counts. */
static bool is_gone(uint64_t owner)
{
	return syscall(SYS_tgkill, load_relaxed(&etw_fork_page->own_id), owner & OWNER_ID_MASK, 0) <
		       0 &&
	       errno == ESRCH;
}

/* Sets a slot free whose owner has not changed. Returns whether it did. */
static bool release(struct etw_thread *slot, uint64_t owner)
{
	if (!cas_acq_rel(&slot->owner, &owner, owner | OWNER_LEAVING))
		return false;
	SCHED_POINT(
		"provider.thread.leaving"); /* nobody takes the slot, and its mark does not count */
	/* Pairs with etw_thread_leave(): what the thread did with its slot is before what the next one does. */
	(void)load_acquire(&slot->mark);
	store_relaxed(&slot->mark, (uint64_t)MARK_NOBODY);
	store_release(&slot->owner, owner & OWNER_TURN_MASK);
	return true;
}

/* Takes the slots of threads back that are gone. Returns how many. */
static uint32_t sweep(uint64_t origin)
{
	struct etw_thread *slot;
	uint32_t freed = 0;

	for (uint32_t i = 0; (slot = slot_at(i)); i++) {
		const uint64_t owner = load_acquire(&slot->owner);

		if (is_of(owner, origin) && owner & OWNER_ID_MASK && !(owner & OWNER_LEAVING) &&
		    is_gone(owner))
			freed += release(slot, owner);
	}
	return freed;
}

/* Adds a chunk to @count slots, unless somebody has meanwhile. Returns whether there are more now. */
static bool grow(uint32_t count)
{
	uint32_t i = 0;
	struct etw_thread *none = NULL;
	size_t bytes;
	void *chunk;

	while (i < CHUNK_COUNT && count >= CHUNK_FIRST << i)
		count -= CHUNK_FIRST << i++;
	if (i == CHUNK_COUNT)
		return false;
	if (load_acquire(&chunks[i]))
		return true;
	bytes = sizeof(struct etw_thread) * (CHUNK_FIRST << i);
	chunk = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk == MAP_FAILED)
		return load_acquire(&chunks[i]) != NULL;
	/* Zeroed: every owner is 0, and every mark says "inside" of nobody. */
	if (!cas_acq_rel(&chunks[i], &none, (struct etw_thread *)chunk))
		(void)munmap(chunk, bytes);
	return true;
}

/*
 * Makes @slot @owner's where it is free, or that of a thread which had the same id: such a one is gone, or is
 * this very thread, interrupted while it did the same.
 */
static bool take(struct etw_thread *slot, uint64_t owner, uint64_t origin)
{
	uint64_t seen = load_acquire(&slot->owner);

	if (seen & OWNER_ID_MASK && !is_same(seen, owner) &&
	    (is_of(seen, origin) ||
	     (slot != etw_thread && load_relaxed(&settled_origin) != origin)))
		return false;
	return cas_acq_rel(&slot->owner, &seen, owner | ((seen + OWNER_TURN) & OWNER_TURN_MASK));
}

static struct etw_thread *take_any(uint64_t owner, uint64_t origin, uint32_t count)
{
	const uint32_t first = load_relaxed(&next_try);

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t number = (first + i) % count;
		struct etw_thread *slot = slot_at(number);

		if (!take(slot, owner, origin))
			continue;
		(void)load_acquire(&slot->mark); /* as in release(), of one that had the same id */
		store_relaxed(&next_try, number + 1);
		store_relaxed(&slot->mark,
			      (uint64_t)MARK_NOBODY); /* of before a fork, else that already */
		return slot;
	}
	return NULL;
}

/*
 * A sweep that frees few slots is followed by growth, so that each slot costs few system calls. Other threads may take
 * all that there is new before this one looks: then it makes more, and each turn has given them slots. NULL: no slot.
 */
static struct etw_thread *take_slot(uint64_t owner, uint64_t origin)
{
	uint32_t count = count_slots();
	struct etw_thread *slot = take_any(owner, origin, count);

	while (!slot) {
		const bool has_more = sweep(origin) >= count / 4 || grow(count);

		count = count_slots();
		slot = take_any(owner, origin, count);
		if (!has_more)
			break;
	}
	return slot;
}

static struct etw_thread *take_own_slot(uint64_t origin, uint32_t thread_id)
{
	const uint64_t owner = owner_of(origin, thread_id);
	struct etw_thread *slot = etw_thread;

	/* That of before a fork, if nobody has it by now. */
	if (slot == &nobody || !take(slot, owner, origin))
		slot = take_slot(owner, origin);
	if (!slot)
		return NULL;
	slot->thread_id = thread_id;
	fence_signal();
	etw_thread = slot;
	return slot;
}

/* Inside with a slot that was looked up; from here on the fast way is open to the thread. */
static void enter_slot(struct etw_thread *thread, uint64_t stack, struct etw_entry *ret)
{
	/* Pairs with etw_fork_renew_stamp(): whoever sees the stamp sees the epoch, and the gates of before. */
	const uint64_t stamp = load_acquire(&etw_fork_page->stamp);

	/* Pairs with etw_thread_passed(): what the thread did before is done. */
	store_release(&thread->epoch, etw_thread_epoch());
	thread->outside = stamp;
	store_release(&thread->mark, stack);
	fence_signal(); /* A1 */
	ret->thread = thread;
}

static void enter_outermost(uint64_t stack, struct etw_entry *ret)
{
	const uint64_t origin = etw_fork_fill();
	struct etw_thread *thread = etw_thread;

	etw_leave_parents(origin);
	if (is_own(thread, origin)) {
		ret->thread_id = thread->thread_id;
	} else {
		ret->thread_id = (uint32_t)gettid();
		/* A vfork child has no slot to stay: nobody here would know when it is gone. */
		thread = (uint32_t)getpid() == load_relaxed(&etw_fork_page->own_id)
				 ? take_own_slot(origin, ret->thread_id)
				 : NULL;
	}
	if (thread) {
		enter_slot(thread, stack, ret);
		return;
	}
	ret->is_unlisted = true;
	(void)add_seq_cst(&unlisted, 1u); /* as A1 */
}

void etw_thread_enter_slow(uint64_t stack, struct etw_entry *ret)
{
	const uint64_t mark = load_relaxed(&etw_thread->mark);
	const int saved_errno = errno;

	*ret = (struct etw_entry){0};
	if (is_inside(mark) && (mark < etw_stack_pointer() || mark > stack)) {
		const uint64_t origin = etw_fork_fill();

		etw_leave_parents(origin);
		/* A signal's handler: the write that it interrupted is inside for both. */
		ret->thread_id = is_own(etw_thread, origin) ? etw_thread->thread_id
							    : (uint32_t)gettid();
	} else {
		enter_outermost(stack, ret);
	}
	errno = saved_errno;
}

void etw_thread_leave_slow(const struct etw_entry *entry)
{
	if (entry->thread)
		etw_thread_leave(entry->thread);
	else if (entry->is_unlisted)
		(void)add_seq_cst(&unlisted, -1u); /* as A3 */
}

void etw_thread_after_fork(void)
{
	const uint64_t origin = etw_fork_fill();
	const uint32_t thread_id = (uint32_t)gettid();

	/* The mark stays: the fork may have happened in a handler that interrupted a write. */
	if (etw_thread != &nobody && take(etw_thread, owner_of(origin, thread_id), origin))
		etw_thread->thread_id = thread_id;
	store_relaxed(&unlisted, 0u); /* of the parent's threads */
	store_relaxed(&settled_origin, origin);
}

uint64_t etw_thread_epoch(void)
{
	return load_acquire(&epoch);
}

uint64_t etw_thread_begin_epoch(void)
{
	const uint64_t begun = load_relaxed(&epoch) + 1;

	/* Behind the gates, and before the stamp: a thread that sees the stamp sees the epoch and the gates. */
	store_release(&epoch, begun);
	etw_fork_renew_stamp();
	return begun;
}

uint64_t etw_thread_passed(uint64_t until)
{
	const uint64_t origin = etw_fork_fill();
	struct etw_thread *slot;

	if (load_seq_cst(&unlisted)) /* as R3 */
		return 0;
	for (uint32_t i = 0; (slot = slot_at(i)); i++) {
		/* R3; before the owner and the epoch, which belong to a mark as old or younger. */
		const bool is_in = is_inside(load_acquire(&slot->mark));
		const uint64_t owner = load_acquire(&slot->owner);
		const uint64_t since = load_acquire(&slot->epoch);

		if (!is_in || since >= until || !is_of(owner, origin) || owner & OWNER_LEAVING ||
		    !(owner & OWNER_ID_MASK))
			continue;
		SCHED_POINT("provider.thread.met");
		if (is_gone(owner))
			(void)release(slot, owner);
		else
			until = since;
	}
	return until;
}
