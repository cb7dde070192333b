/* SPDX-License-Identifier: MIT */
/*
 * The ring sets and clock pages that hosts gave to this process. A writer may be inside one at any time, stopped
 * for as long as it likes: so a mapping is given back when no thread can use it any more (provider/reclaim.h),
 * and private memory lies over its range until then.
 */
#ifndef ETW_PROVIDER_RING_SETS_H
#define ETW_PROVIDER_RING_SETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "provider/reclaim.h"
#include "ring/clock.h"
#include "ring/ring_set.h"
#include "ring/writer.h"

/* One mapped set. */
struct etw_ring_mapping {
	struct etw_ring_set set;             /* fixed; read by writers */
	unsigned link;                       /* fixed */
	const struct wire_clock_page *clock; /* atomic */
	/* Under the lock. */
	dev_t device; /* the control page, by which a set is known again after a host's restart */
	ino_t inode;
	uint32_t number;   /* on the present connection */
	bool is_announced; /* on the present connection */
	struct etw_ring_mapping *next;
	struct etw_retired retired;
};

/* etw_ring_mapping_reserve() - etw_ring_reserve() with the set's clock. For a thread that is inside (provider/thread.h). */
static inline int etw_ring_mapping_reserve(const struct etw_ring_mapping *ring, uint32_t bytes,
					   struct etw_ring_span *ret)
{
	const struct etw_clock_page clock = {load_relaxed(&ring->clock)};

	return etw_ring_reserve(&ring->set, &clock, bytes, ret);
}

/* etw_ring_mapping_reserve_direct() - etw_ring_reserve_direct() with the set's clock. For a thread that is inside. */
static ALWAYS_INLINE bool etw_ring_mapping_reserve_direct(const struct etw_ring_mapping *ring,
							  uint32_t units, struct etw_ring_span *ret)
{
	const struct etw_clock_page clock = {load_relaxed(&ring->clock)};

	return etw_ring_reserve_direct(&ring->set, &clock, units, ret);
}

/*
 * etw_provider_ring_sets_clock() - maps the clock page of a link's host, or finds the one that is mapped already.
 *
 * @fd: borrowed
 *
 * Returns 0 with a page that stays until the link has another one and no set of the link names it; -ENOMEM;
 * errors of etw_clock_page_map(), errno of fstat. Owner thread (the listener), holding the lock.
 */
int etw_provider_ring_sets_clock(unsigned link, int fd, const struct wire_clock_page **ret);

/*
 * etw_provider_ring_sets_add() - maps a set, or takes the one that is mapped already under a new number.
 *
 * @fds: borrowed
 *
 * Returns 0; -ENOMEM; -EPROTO; errors of etw_ring_set_map(), errno of fstat. Holding the lock.
 */
int etw_provider_ring_sets_add(unsigned link, uint32_t number, const struct etw_ring_set_fds *fds,
			       const struct wire_clock_page *clock);

/* etw_provider_ring_sets_has() - some set of the link is mapped. Holding the lock. */
bool etw_provider_ring_sets_has(unsigned link);

/* etw_provider_ring_sets_find() - by the host's number; NULL: not announced. Holding the lock. */
struct etw_ring_mapping *etw_provider_ring_sets_find(unsigned link, uint32_t number);

/* etw_provider_ring_sets_forget_numbers() - a new connection begins. Holding the lock. */
void etw_provider_ring_sets_forget_numbers(unsigned link);

/*
 * etw_provider_ring_sets_unannounced() - a set of a link that the present connection did not name.
 *
 * @after: what this returned before; NULL: the first. To be asked before @after is retired.
 *
 * NULL: no more. Holding the lock.
 */
struct etw_ring_mapping *etw_provider_ring_sets_unannounced(unsigned link,
							    const struct etw_ring_mapping *after);

/*
 * etw_provider_ring_sets_retire() - gives a set back which no registration names any more: at once, or once the
 * writers that are inside have left, who write to nothing meanwhile. etw_enable_retire_ring() does both.
 *
 * Returns 0; or the error of putting private memory over it, and then it stays. Owner thread, holding the lock.
 */
int etw_provider_ring_sets_retire(struct etw_ring_mapping *ring);

#endif
