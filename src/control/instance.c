/* SPDX-License-Identifier: MIT */
#include "control/instance.h"

#include <grp.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/guid.h"
#include "wire/message.h"
#include "wire/well_known.h"

#define GROUPS_MAX 1024

static const GUID kernel_logger = WIRE_KERNEL_LOGGER_GUID;

bool etw_control_is_kernel(const struct wire_session_config *config)
{
	return !strcasecmp(config->name, KERNEL_LOGGER_NAMEA) ||
	       etw_guid_equal(&config->guid, &kernel_logger) ||
	       (config->log_file_mode & EVENT_TRACE_SYSTEM_LOGGER_MODE);
}

static bool is_in_group(void)
{
	gid_t groups[GROUPS_MAX];
	char room[4096];
	struct group entry, *found = NULL;
	int count;

	if (getgrnam_r(WIRE_CONTROL_GROUP, &entry, room, sizeof(room), &found) || !found)
		return false;
	if (getegid() == found->gr_gid)
		return true;
	count = getgroups(GROUPS_MAX, groups);
	for (int i = 0; i < count; i++) {
		if (groups[i] == found->gr_gid)
			return true;
	}
	return false;
}

size_t etw_control_start_order(bool is_kernel, enum etw_instance ret[2], bool ret_may_start[2])
{
	bool is_root = geteuid() == 0;
	size_t count = 0;

	if (etw_runtime_is_one()) {
		ret[0] = ETW_INSTANCE_SYSTEM;
		ret_may_start[0] = true;
		return 1;
	}
	if (is_kernel || is_in_group()) {
		ret[count] = ETW_INSTANCE_SYSTEM;
		ret_may_start[count++] = is_root;
	}
	if (!is_kernel) {
		ret[count] = ETW_INSTANCE_USER;
		ret_may_start[count++] = true;
	}
	return count;
}

size_t etw_control_lookup_order(enum etw_instance ret[2])
{
	if (etw_runtime_is_one()) {
		ret[0] = ETW_INSTANCE_SYSTEM;
		return 1;
	}
	ret[0] = ETW_INSTANCE_USER;
	ret[1] = ETW_INSTANCE_SYSTEM;
	return 2;
}
