/* SPDX-License-Identifier: MIT */
/* Doing one thing with the rights of another user: the calling thread alone changes, and changes back. */
#ifndef ETW_SESSION_OWNER_H
#define ETW_SESSION_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

#define ETW_OWNER_GROUPS_MAX 64

struct etw_owner {
	bool is_changed;
	uid_t uid;
	gid_t gid;
	int group_count;
	gid_t groups[ETW_OWNER_GROUPS_MAX];
};

/*
 * etw_owner_become() - files are opened with this user's rights and groups from now on.
 *
 * Nothing happens when the process is not root, or @uid is its own. Returns 0; -EPERM when the change did
 * not take.
 */
int etw_owner_become(uid_t uid, struct etw_owner *ret);

/* etw_owner_return() - takes back what etw_owner_become() changed. */
void etw_owner_return(const struct etw_owner *owner);

#endif
