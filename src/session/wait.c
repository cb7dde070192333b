/* SPDX-License-Identifier: MIT */
/*
 * Waiting on the words of all ring sets and on the session's own. The words of ring sets lie in memory
 * that processes can write: one that keeps changing them must not make the thread spin.
 */
#include "session/wait.h"

#include <errno.h>
#include <sys/param.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/futex.h"
#include "base/time.h"

#define POLL_NS  UINT64_C(2000000) /* between looks where there is no futex_waitv */
#define TIRED_NS UINT64_C(1000000) /* after waits that ended at once */

void etw_wait_arm(struct etw_session_wait *wait, struct etw_session_sets *sets, bool is_armed)
{
	struct etw_session_set *all[ETW_STATE_SETS];
	uint32_t count;

	if (!is_armed && !wait->is_armed)
		return;
	count = etw_session_sets_list(sets, all);
	/* Pairs with the writers' load behind their switch of buffers. */
	for (uint32_t i = 0; i < count; i++)
		store_seq_cst(&etw_ring_set_page(&all[i]->map)->asleep, is_armed ? 1u : 0u);
	fence_seq_cst();
	wait->is_armed = is_armed;
}

/* On the own word alone. */
static void wait_alone(const uint32_t *word, uint32_t wake, uint64_t deadline_ns)
{
	struct timespec deadline = etw_timespec_of_ns(deadline_ns);

	(void)syscall(SYS_futex, word, FUTEX_WAIT_BITSET, wake,
		      deadline_ns == UINT64_MAX ? NULL : &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

/* Returns 0 or a negative errno. */
static int wait_for_all(struct etw_session_sets *sets, uint32_t wake, uint64_t deadline_ns)
{
	struct futex_waitv words[ETW_STATE_SETS + 1] = {0};
	struct etw_session_set *all[ETW_STATE_SETS];
	struct timespec deadline = etw_timespec_of_ns(deadline_ns);
	uint32_t count = etw_session_sets_list(sets, all);

	words[0] = (struct futex_waitv){
		.val = wake, .uaddr = (uintptr_t)&sets->context->wake, .flags = FUTEX_32};
	for (uint32_t i = 0; i < count; i++)
		words[i + 1] = (struct futex_waitv){
			.val = 1,
			.uaddr = (uintptr_t)&etw_ring_set_page(&all[i]->map)->asleep,
			.flags = FUTEX_32};
	if (syscall(SYS_futex_waitv, words, count + 1, 0,
		    deadline_ns == UINT64_MAX ? NULL : &deadline, CLOCK_MONOTONIC) < 0)
		return -errno;
	return 0;
}

void etw_wait(struct etw_session_wait *wait, struct etw_session_sets *sets, uint32_t wake,
	      uint64_t deadline_ns)
{
	const uint32_t *word = &sets->context->wake;
	uint64_t now_ns = etw_monotonic_ns();
	int result = 0;

	if (wait->is_spurious)
		wait_alone(word, wake, MIN(deadline_ns, now_ns + TIRED_NS));
	else
		result = wait_for_all(sets, wake, deadline_ns);
	wait->is_spurious = result == -EAGAIN && load_relaxed(word) == wake;
	if (result < 0 && result != -EAGAIN && result != -EINTR && result != -ETIMEDOUT)
		wait_alone(word, wake, MIN(deadline_ns, now_ns + POLL_NS));
}
