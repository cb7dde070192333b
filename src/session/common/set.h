/* SPDX-License-Identifier: MIT */
/*
 * A ring set as the session keeps it: one uid's rings, one for each output, and what is known of the processes that map
 * it. What is done to sets stands in the files that session/common/set_table.h lists.
 */
#ifndef ETW_SESSION_COMMON_SET_H
#define ETW_SESSION_COMMON_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ring/ring_set.h"
#include "session/common/stream.h"

/* "lock" is that of the table of sets (session/common/set_table.h); "owner" the session's thread. */
struct etw_session_set {
	uint32_t id, slot;
	uid_t uid;
	struct etw_ring_set_fds fds; /* owned */
	bool is_replaced;            /* processes are to leave it; owner, atomic */
	bool is_retired;             /* nobody reserves in it; owner, atomic */
	bool is_gone;                /* no process maps it: lock */
	bool is_orphan;              /* no process that is connected has it: lock, atomic */
	bool is_untracked;           /* whether others have it cannot be known: lock */
	bool is_broken;              /* owner */
	uint64_t retired_ns;         /* owner */
	uint64_t orphan_due_ns;      /* when to see who has it: lock */
	uint64_t charged_bytes;      /* to its uid; 0: none; as it was made */
	bool is_unkept;              /* the keeper has no room for it; atomic */
	uint64_t left_ns; /* when a process that had it ended, until that is settled; 0; atomic */
	struct etw_ring_set map;       /* as it was made */
	struct etw_check_cache *cache; /* owned; owner */
	uint32_t stream_count;
	struct etw_session_stream streams[]; /* by output; owner */
};

#endif
