/* SPDX-License-Identifier: MIT */
#include "base/process_rights.h"

#include <linux/capability.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool has_one_user(void)
{
	uid_t real, effective, saved;
	gid_t real_group, effective_group, saved_group;

	return getresuid(&real, &effective, &saved) == 0 && real == effective && real == saved &&
	       getresgid(&real_group, &effective_group, &saved_group) == 0 &&
	       real_group == effective_group && real_group == saved_group;
}

/* What it may have is enough: it can take that up at any time. */
static bool has_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &head, sets) < 0)
		return true;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		if (sets[i].permitted)
			return true;
	}
	return false;
}

bool etw_process_is_plain(void)
{
	return !getauxval(AT_SECURE) && has_one_user() && !has_capabilities();
}
