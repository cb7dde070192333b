/* SPDX-License-Identifier: MIT */
/* The groups of users, as the machine's user database has them. */
#ifndef ETWD_USER_GROUPS_H
#define ETWD_USER_GROUPS_H

#include <sys/types.h>

#include "session/common/owner.h"

/*
 * etwd_user_groups() - for etw_owner_use_groups().
 *
 * Returns the number of groups; 0 with ret_gid as it was, where there is no such user.
 */
int etwd_user_groups(uid_t uid, gid_t *ret_gid, gid_t groups[ETW_OWNER_GROUPS_MAX]);

#endif
