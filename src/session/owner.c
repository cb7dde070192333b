/* SPDX-License-Identifier: MIT */
/*
 * Rights of another user for one thread. The C library would change all threads of the process, so the
 * groups are set by the system call itself.
 */
#include "session/owner.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"

#define UNKNOWN_GROUP 65534 /* the kernel's overflow gid */

static int set_groups(int count, const gid_t *groups)
{
	return (int)syscall(SYS_setgroups, count, groups);
}

static int find_groups(uid_t uid, gid_t *ret_gid, gid_t groups[ETW_OWNER_GROUPS_MAX])
{
	char room[4096];
	struct passwd user, *found = NULL;
	int count = ETW_OWNER_GROUPS_MAX;

	*ret_gid = UNKNOWN_GROUP;
	if (getpwuid_r(uid, &user, room, sizeof(room), &found) != 0 || !found)
		return 0;
	*ret_gid = user.pw_gid;
	/* With more groups than that the file is made with fewer rights, never with more. */
	if (getgrouplist(user.pw_name, user.pw_gid, groups, &count) < 0)
		return ETW_OWNER_GROUPS_MAX;
	return count;
}

int etw_owner_become(uid_t uid, struct etw_owner *ret)
{
	struct etw_owner owner = {.uid = geteuid(), .gid = getegid()};
	gid_t groups[ETW_OWNER_GROUPS_MAX];
	gid_t gid;
	int count;

	*ret = owner;
	if (geteuid() != 0 || uid == 0)
		return 0;
	owner.group_count = getgroups(ETW_OWNER_GROUPS_MAX, owner.groups);
	if (owner.group_count < 0)
		return -EPERM;
	count = find_groups(uid, &gid, groups);
	owner.is_changed = true;
	if (set_groups(count, groups) < 0)
		return -EPERM;
	(void)setfsgid(gid);
	(void)setfsuid(uid);
	*ret = owner;
	/* They tell no errors, but what is in force. */
	if ((uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == gid)
		return 0;
	etw_owner_return(&owner);
	ret->is_changed = false;
	return -EPERM;
}

void etw_owner_return(const struct etw_owner *owner)
{
	if (!owner->is_changed)
		return;
	(void)setfsuid(owner->uid);
	(void)setfsgid(owner->gid);
	(void)set_groups(owner->group_count, owner->groups);
}
