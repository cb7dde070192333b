/* SPDX-License-Identifier: MIT */
#include "control/instance.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "wire/well_known.h"

/* Of a group's entry, which names its members. */
#define ENTRY_BYTES_FIRST 4096
#define ENTRY_BYTES_MAX   (16 << 20)

static bool find_group(gid_t *ret)
{
	for (size_t bytes = ENTRY_BYTES_FIRST; bytes <= ENTRY_BYTES_MAX; bytes *= 2) {
		CLEANUP(freep) char *strings = malloc(bytes);
		struct group entry, *found = NULL;
		int error;

		if (!strings)
			return false;
		error = getgrnam_r(WIRE_CONTROL_GROUP, &entry, strings, bytes, &found);
		if (error == ERANGE)
			continue;
		if (error || !found)
			return false;
		*ret = found->gr_gid;
		return true;
	}
	return false;
}

static bool is_in_group(void)
{
	CLEANUP(freep) gid_t *groups = NULL;
	int count = getgroups(0, NULL);
	gid_t wanted;

	if (!find_group(&wanted))
		return false;
	if (getegid() == wanted)
		return true;
	groups = count > 0 ? malloc((size_t)count * sizeof(*groups)) : NULL;
	if (!groups)
		return false;
	count = getgroups(count, groups);
	for (int i = 0; i < count; i++) {
		if (groups[i] == wanted)
			return true;
	}
	return false;
}

size_t etw_control_start_order(bool is_kernel, enum etw_instance ret[2], bool ret_may_start[2])
{
	size_t count = 0;

	if (etw_runtime_is_one()) {
		ret[0] = ETW_INSTANCE_SYSTEM;
		ret_may_start[0] = true;
		return 1;
	}
	if (is_kernel || is_in_group()) {
		ret[count] = ETW_INSTANCE_SYSTEM;
		ret_may_start[count++] = false; /* root has one instance */
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
