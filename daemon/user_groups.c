/* SPDX-License-Identifier: MIT */
/* The groups of users, by the C library. */
#include "daemon/user_groups.h"

#include <grp.h>
#include <pwd.h>
#include <stddef.h>

int etwd_user_groups(uid_t uid, gid_t *ret_gid, gid_t groups[ETW_OWNER_GROUPS_MAX])
{
	char room[4096];
	struct passwd user, *found = NULL;
	int count = ETW_OWNER_GROUPS_MAX;

	if (getpwuid_r(uid, &user, room, sizeof(room), &found) != 0 || !found)
		return 0;
	*ret_gid = user.pw_gid;
	/* With more groups than that the file is made with fewer rights, never with more. */
	if (getgrouplist(user.pw_name, user.pw_gid, groups, &count) < 0)
		return ETW_OWNER_GROUPS_MAX;
	return count;
}
