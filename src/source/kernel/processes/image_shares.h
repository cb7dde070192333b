/* SPDX-License-Identifier: MIT */
/*
 * How many bytes of image events each user's processes may cause. A fork repeats every image of its parent, whose names a
 * user makes as long as he likes: without a bound thousands of mappings and a few forks a second fill the trace and the
 * host's memory, and other users' events are lost for want of room. root has no bound.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_PROCESSES_IMAGE_SHARES_H
#define ETW_SOURCE_KERNEL_PROCESSES_IMAGE_SHARES_H

#include <stdbool.h>
#include <stdint.h>

/* As many at once, and so many more each second: of one user, and of all but root. */
#define ETW_KERNEL_SHARE_BYTES         (UINT64_C(64) << 20)
#define ETW_KERNEL_SHARE_SECOND_BYTES  (UINT64_C(32) << 20)
#define ETW_KERNEL_SHARES_BYTES        (UINT64_C(256) << 20)
#define ETW_KERNEL_SHARES_SECOND_BYTES (UINT64_C(128) << 20)
#define ETW_KERNEL_SHARES_MAX          32 /* users that are told apart */

struct etw_kernel_share {
	uint32_t uid;
	uint64_t left_bytes;
	uint64_t at_ns; /* when it was looked at last */
};

struct etw_kernel_shares {
	struct etw_kernel_share all, of_uid[ETW_KERNEL_SHARES_MAX];
	uint32_t count; /* of @of_uid */
};

/* etw_kernel_shares_init() - everybody has all of his share. */
void etw_kernel_shares_init(struct etw_kernel_shares *shares);

/*
 * etw_kernel_shares_take() - takes @bytes off the share of @uid, and off that of all.
 *
 * @now_ns: rises, of a clock that goes on; of the events
 *
 * Returns false, and takes nothing, where one of the two has less.
 */
bool etw_kernel_shares_take(struct etw_kernel_shares *shares, uint32_t uid, uint64_t now_ns,
			    uint32_t bytes);

#endif
