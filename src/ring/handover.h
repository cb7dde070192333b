/* SPDX-License-Identifier: MIT */
/*
 * For the thread sanitizer alone; nothing in other builds. A buffer goes from one writer's thread to
 * another's by way of the host: commit, clear, queue. The host is another process, whose half of that order
 * the sanitizer cannot see, so it is told: who reserves comes after all who committed there before. Places
 * are known by the page in which their event began.
 */
#ifndef ETW_RING_HANDOVER_H
#define ETW_RING_HANDOVER_H

#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ETW_RING_HANDOVER 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define ETW_RING_HANDOVER 1
#endif

#ifdef ETW_RING_HANDOVER
#include <sanitizer/tsan_interface.h>

#define ETW_RING_HANDOVER_PAGE UINT64_C(4096)
#define ETW_RING_HANDOVER_BACK UINT64_C(65536) /* no event is longer */

static inline void etw_ring_hand_over(const uint8_t *at)
{
	__tsan_release((void *)((uintptr_t)at & ~(uintptr_t)(ETW_RING_HANDOVER_PAGE - 1)));
}

static inline void etw_ring_take_over(const uint8_t *at, uint32_t bytes)
{
	uintptr_t page = (uintptr_t)at & ~(uintptr_t)(ETW_RING_HANDOVER_PAGE - 1);

	for (page -= ETW_RING_HANDOVER_BACK; page < (uintptr_t)at + bytes;
	     page += ETW_RING_HANDOVER_PAGE)
		__tsan_acquire((void *)page);
}
#else
static inline void etw_ring_hand_over(const uint8_t *at)
{
	(void)at;
}

static inline void etw_ring_take_over(const uint8_t *at, uint32_t bytes)
{
	(void)at;
	(void)bytes;
}
#endif

#endif
