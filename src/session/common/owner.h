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
 * Which groups a user is in: his own and the others, of which it returns the number. For a user whom nobody knows,
 * ret_gid stays as it is and the number is 0.
 */
typedef int (*etw_owner_find_groups)(uid_t uid, gid_t *ret_gid, gid_t groups[ETW_OWNER_GROUPS_MAX]);

/*
 * etw_owner_use_groups() - from now on this is asked for the groups of users; called before there are threads. Without
 * it files are made as by a user without groups: with fewer rights, never with more.
 *
 * The C library's own answer loads modules, which a static program cannot, so only hosts bring it
 * (daemon/user_groups.h). Private sessions of a program are those of its own user and need none.
 */
void etw_owner_use_groups(etw_owner_find_groups find);

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
