/* SPDX-License-Identifier: MIT */
/*
 * Rights of another user for one thread. The C library would change all threads of the process, so the
 * groups are set by the system call itself.
 */
#include "session/common/owner.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"

#define UNKNOWN_GROUP 65534 /* the kernel's overflow gid */

/*
 * What another file system uid does not take away by itself: room that is kept for root, other processes' files
 * below /proc, and what some file systems allow whoever administers the machine.
 */
#define OF_ROOT                                                            \
	(UINT32_C(1) << CAP_SYS_RESOURCE | UINT32_C(1) << CAP_SYS_PTRACE | \
	 UINT32_C(1) << CAP_SYS_ADMIN)

static int set_groups(int count, const gid_t *groups)
{
	return (int)syscall(SYS_setgroups, count, groups);
}

static etw_owner_find_groups
	find_groups; /* set before there are threads; NULL: nobody knows them */

void etw_owner_use_groups(etw_owner_find_groups find)
{
	find_groups = find;
}

/*
 * Takes what root alone may out of the effective capabilities, or puts it back. Returns what was changed. By the system
 * call: it is the thread's own, and no library is needed for one bit.
 */
static uint32_t change_capability(uint32_t bits, bool is_raised)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
	uint32_t before;

	if (!bits || syscall(SYS_capget, &head, data) < 0)
		return 0;
	before = data[0].effective;
	data[0].effective = is_raised ? before | bits : before & ~bits;
	if (data[0].effective == before || syscall(SYS_capset, &head, data) < 0)
		return 0;
	return before ^ data[0].effective;
}

static bool is_other(uid_t uid)
{
	return geteuid() == 0 && uid != 0;
}

void etw_owner_write(uid_t uid, struct etw_owner *ret)
{
	*ret = (struct etw_owner){.uid = geteuid(), .gid = getegid()};
	if (!is_other(uid))
		return;
	ret->is_changed = true;
	ret->lowered = change_capability(OF_ROOT, /* is_raised= */ false);
	(void)setfsuid(uid);
}

int etw_owner_become(uid_t uid, struct etw_owner *ret)
{
	struct etw_owner owner = {.uid = geteuid(), .gid = getegid()};
	gid_t groups[ETW_OWNER_GROUPS_MAX];
	gid_t gid = UNKNOWN_GROUP;
	int count = 0;

	*ret = owner;
	if (!is_other(uid))
		return 0;
	owner.group_count = getgroups(ETW_OWNER_GROUPS_MAX, owner.groups);
	if (owner.group_count < 0)
		return -EPERM;
	if (find_groups)
		count = find_groups(uid, &gid, groups);
	owner.is_changed = owner.has_groups = true;
	if (set_groups(count, groups) < 0)
		return -EPERM;
	owner.lowered = change_capability(OF_ROOT, /* is_raised= */ false);
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
	if (owner->has_groups) {
		(void)setfsgid(owner->gid);
		(void)set_groups(owner->group_count, owner->groups);
	}
	(void)change_capability(owner->lowered, /* is_raised= */ true);
}
