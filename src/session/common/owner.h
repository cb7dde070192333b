/* SPDX-License-Identifier: MIT */
/*
 * Doing one thing with the rights of another user: the calling thread alone changes, and changes back. Nothing
 * happens when the process is not root, or the user is its own.
 */
#ifndef ETW_SESSION_COMMON_OWNER_H
#define ETW_SESSION_COMMON_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ETW_OWNER_GROUPS_MAX 64

struct etw_owner {
	bool is_changed, has_groups;
	uint32_t lowered; /* capabilities that are taken out of the effective ones, by bit */
	uid_t uid;
	gid_t gid;
	int group_count;
	gid_t groups[ETW_OWNER_GROUPS_MAX];
};

/*
 * etw_owner_become() - files are opened with this user's rights and groups from now on, and written as by
 * etw_owner_write().
 *
 * Returns 0; -EPERM when the change did not take.
 */
int etw_owner_become(uid_t uid, struct etw_owner *ret);

/*
 * etw_owner_write() - files that are open already are written within this user's quota, and not into the blocks that
 * a file system keeps for root: with this user's file system uid, and without CAP_SYS_RESOURCE, CAP_SYS_PTRACE and
 * CAP_SYS_ADMIN, which that does not take away.
 *
 * RLIMIT_FSIZE stays the process's: it has no place in a thread.
 */
void etw_owner_write(uid_t uid, struct etw_owner *ret);

/* etw_owner_return() - takes back what one of these two changed. */
void etw_owner_return(const struct etw_owner *owner);

#endif
