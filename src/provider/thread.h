/* SPDX-License-Identifier: MIT */
/*
 * Which threads are inside a write, so that a ring's mapping is given back when none can use it any more
 * (provider/reclaim.h). Each thread that writes has a slot in memory that is never freed. The hot word there,
 * its mark, is odd while the thread is outside: the stamp of the fork page under which it last looked around.
 * While the thread is inside, the mark is its writer's stack pointer, which is even.
 *
 * So one comparison of mark and stamp in front of a write says all at once: the thread has a slot, the process
 * is still the same, nothing was retired since the thread's last look, and no write of the thread lies below
 * this one, interrupted by a signal. Where it fails, etw_thread_enter_slow() finds out which it is.
 *
 * | access                     | who                   | pairs with                                         |
 * |----------------------------|-----------------------|----------------------------------------------------|
 * | A1 mark = stack pointer    | writer, enters        | R3, through the membarrier R2                      |
 * | A2 load of ring, of gate   | writer, after A1      | R1, through the membarrier R2                      |
 * | A3 mark = stamp, release   | writer, leaves        | R3, acquire: what was done inside is done          |
 * | R1 gates turned            | reclaimer             | A2                                                 |
 * | R2 membarrier              | reclaimer, after R1   | the compiler barrier between A1 and A2             |
 * | R3 load of mark, acquire   | reclaimer, after R2   | A1, A3                                             |
 *
 * A thread that R3 sees outside either has left (A3), or enters after R2: then A2 sees R1.
 */
#ifndef ETW_PROVIDER_THREAD_H
#define ETW_PROVIDER_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "provider/fork.h"

/* A thread's slot. Any thread reads; its owner writes, but for `owner`. */
struct etw_thread {
	_Alignas(64) uint64_t mark; /* atomic */
	uint64_t outside;           /* the owner's alone: its mark while it is outside */
	uint32_t thread_id;         /* the same */
	uint32_t reserved_zero;
	uint64_t epoch; /* atomic; nothing that was retired up to it is used by the thread */
	uint64_t owner; /* atomic; thread.c */
};

/* Never NULL: a slot that is nobody's, whose mark is no stamp, stands for none. */
extern ETW_HIDDEN _Thread_local struct etw_thread *etw_thread
	__attribute__((tls_model("initial-exec")));

/* What etw_thread_enter_slow() found. */
struct etw_entry {
	struct etw_thread *thread; /* NULL: none, or it was inside already */
	uint32_t thread_id;
	bool is_unlisted; /* without a slot: counted, and nothing is freed meanwhile */
};

#if defined(__SANITIZE_THREAD__)
#define ETW_THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ETW_THREAD_SANITIZED 1
#endif
#endif

/* etw_stack_pointer() - where the calling function's stack ends. */
static ALWAYS_INLINE uint64_t etw_stack_pointer(void)
{
#if defined(__x86_64__) && !defined(ETW_THREAD_SANITIZED)
	uint64_t at;

	__asm__ volatile("movq %%rsp, %0" : "=r"(at));
	return at;
#else
	return (uintptr_t)__builtin_frame_address(0) & ~UINT64_C(1);
#endif
}

/*
 * Whether the thread's mark is @mark: a relaxed load and a comparison, in one instruction, which the compiler
 * does not make of an atomic load. A plain read would be a race: in a forked child another thread may free the
 * slot while its owner, which has another thread id there than in the parent, asks.
 */
static ALWAYS_INLINE bool etw_thread_has_mark(const struct etw_thread *thread, uint64_t mark)
{
#if defined(__x86_64__) && !defined(ETW_THREAD_SANITIZED)
	bool is_equal;

	__asm__ volatile("cmpq %[mark], %[own]"
			 : "=@cce"(is_equal)
			 : [own] "m"(thread->mark), [mark] "r"(mark));
	return is_equal;
#else
	return load_relaxed(&thread->mark) == mark;
#endif
}

/* A1. One store, and a barrier for the compiler alone: the processor's is the reclaimer's membarrier. */
static ALWAYS_INLINE void etw_thread_put_mark(struct etw_thread *thread)
{
#if defined(__x86_64__) && !defined(ETW_THREAD_SANITIZED)
	__asm__ volatile("movq %%rsp, %0" : "=m"(thread->mark) : : "memory");
#else
	store_relaxed(&thread->mark, etw_stack_pointer());
	fence_signal();
#endif
}

/*
 * etw_thread_enter() - the calling thread is inside, from before the first load that leads to a ring.
 *
 * Returns its slot; NULL where it is not so simple, and nothing has happened: etw_thread_enter_slow(). Context:
 * any thread, signal-safe.
 */
static ALWAYS_INLINE struct etw_thread *etw_thread_enter(void)
{
	struct etw_thread *thread = etw_thread;

	if (!thread)
		__builtin_unreachable(); /* spares the caller a test for NULL */
	if (UNLIKELY(!etw_thread_has_mark(thread, load_relaxed(&etw_fork_page->stamp))))
		return NULL;
	etw_thread_put_mark(thread);
	return thread;
}

/* etw_thread_leave() - ends what etw_thread_enter() began. */
static ALWAYS_INLINE void etw_thread_leave(struct etw_thread *thread)
{
	store_release(&thread->mark, thread->outside); /* A3 */
}

/*
 * etw_thread_enter_slow() - as etw_thread_enter(), whatever is the matter: a thread's first write, one after a
 * fork or a retirement, one in a signal handler that interrupted a write.
 *
 * @stack: etw_stack_pointer() of the outermost function of the write. No other write that goes on lies between
 *         it and here: a mark from there was left by one that never ended, as when siglongjmp() left a
 *         signal handler, or a vfork child was killed.
 *
 * To be followed by etw_thread_leave_slow(). Keeps errno. Context: any thread, signal-safe. A thread's first write
 * makes a few system calls.
 */
void etw_thread_enter_slow(uint64_t stack, struct etw_entry *ret);
void etw_thread_leave_slow(const struct etw_entry *entry);

/* etw_thread_after_fork() - the only thread of a child keeps its slot. In the handler of pthread_atfork(). */
void etw_thread_after_fork(void);

/*
 * etw_thread_begin_epoch() - a new epoch: something has just been unpublished, and is about to be retired.
 *
 * Every thread notes the epoch in its slot when it next enters. Returns it. Owner thread (the listener), holding
 * the lock; not in a child that has no listener.
 */
uint64_t etw_thread_begin_epoch(void);

/* etw_thread_epoch() - the present one. Order: acquire; pairs with etw_thread_begin_epoch(). Any thread. */
uint64_t etw_thread_epoch(void);

/*
 * etw_thread_passed() - the last epoch up to @until that is over: no thread is inside that may have entered
 * before it began. Behind a membarrier (R2). Takes slots back whose threads ended inside. Holding the
 * lock.
 */
uint64_t etw_thread_passed(uint64_t until);

#endif
