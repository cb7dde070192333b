/* SPDX-License-Identifier: MIT */
#include "provider/reclaim.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/time.h"
#include "provider/thread.h"

/* A thread is inside for less than a microsecond, or is stopped there; then nobody knows how long. */
#define LOOK_FIRST_MS 10
#define LOOK_LAST_MS  60000

/* Under the lock. */
static struct etw_retired *oldest, *newest;
static bool has_membarrier;
static uint64_t due_ns = UINT64_MAX;
static uint32_t look_ms;

static bool is_switched_off(void)
{
	const char *setting = secure_getenv("ETW_MEMBARRIER");

	return setting && strcmp(setting, "0") == 0;
}

void etw_reclaim_prepare(void)
{
	has_membarrier = !is_switched_off() &&
			 syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) ==
				 0;
}

/* Every running thread of the process passes a full barrier meanwhile (R2 in thread.h). */
static bool pass_barrier(void)
{
	if (has_membarrier && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) < 0)
		has_membarrier = false; /* forbidden since */
	return has_membarrier;
}

/* Frees the oldest first: what is younger is not over before. Returns the last epoch that is over. */
static uint64_t free_passed(void)
{
	const uint64_t over = etw_thread_passed(etw_thread_epoch());

	while (oldest && oldest->epoch <= over) {
		struct etw_retired *retired = oldest;

		oldest = retired->next;
		if (!oldest)
			newest = NULL;
		retired->free(retired);
	}
	return over;
}

bool etw_reclaim_is_over(uint64_t of)
{
	return pass_barrier() && free_passed() >= of;
}

void etw_reclaim_later(struct etw_retired *retired)
{
	retired->next = NULL;
	if (newest)
		newest->next = retired;
	else
		oldest = retired;
	newest = retired;
	look_ms = LOOK_FIRST_MS;
	due_ns = etw_monotonic_ns() + look_ms * ETW_NS_PER_MS;
}

void etw_reclaim_advance(uint64_t now_ns)
{
	if (now_ns < due_ns)
		return;
	if (pass_barrier())
		(void)free_passed();
	look_ms = look_ms < LOOK_LAST_MS / 2 ? look_ms * 2 : LOOK_LAST_MS;
	due_ns = oldest && has_membarrier ? now_ns + look_ms * ETW_NS_PER_MS : UINT64_MAX;
}

uint64_t etw_reclaim_due_ns(void)
{
	return due_ns;
}
