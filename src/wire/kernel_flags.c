/* SPDX-License-Identifier: MIT */
#include "wire/kernel_flags.h"

#include <stdio.h>

#include <evntrace.h>

#define FLAGS 32

static const char *const names[FLAGS] = {
	[0] = "PROCESS",
	[1] = "THREAD",
	[2] = "IMAGE_LOAD",
	[3] = "PROCESS_COUNTERS",
	[4] = "CSWITCH",
	[5] = "DPC",
	[6] = "INTERRUPT",
	[7] = "SYSTEMCALL",
	[8] = "DISK_IO",
	[9] = "DISK_FILE_IO",
	[10] = "DISK_IO_INIT",
	[11] = "DISPATCHER",
	[12] = "MEMORY_PAGE_FAULTS",
	[13] = "MEMORY_HARD_FAULTS",
	[14] = "VIRTUAL_ALLOC",
	[15] = "VAMAP",
	[16] = "NETWORK_TCPIP",
	[17] = "REGISTRY",
	[18] = "DBGPRINT",
	[19] = "JOB",
	[20] = "ALPC",
	[21] = "SPLIT_IO",
	[22] = "DEBUG_EVENTS",
	[23] = "DRIVER",
	[24] = "PROFILE",
	[25] = "FILE_IO",
	[26] = "FILE_IO_INIT",
	[28] = "NO_SYSCONFIG",
	[29] = "ENABLE_RESERVE",
	[30] = "FORWARD_WMI",
	[31] = "EXTENSION",
};

const char *etw_kernel_flag_name(uint32_t flag)
{
	for (unsigned i = 0; i < FLAGS; i++) {
		if (flag == UINT32_C(1) << i)
			return names[i];
	}
	return NULL;
}

uint32_t etw_kernel_flags_events(uint32_t enable_flags)
{
	return enable_flags & ~(uint32_t)EVENT_TRACE_FLAG_NO_SYSCONFIG;
}

void etw_kernel_flags_format(uint32_t flags, char *room, size_t room_bytes)
{
	size_t used = 0;

	if (room_bytes)
		room[0] = '\0';
	for (unsigned i = 0; i < FLAGS && used < room_bytes; i++) {
		uint32_t flag = UINT32_C(1) << i;
		int bytes = 0;

		if (!(flags & flag))
			continue;
		if (names[i])
			bytes = snprintf(room + used, room_bytes - used, "%s%s", used ? ", " : "",
					 names[i]);
		else
			bytes = snprintf(room + used, room_bytes - used, "%s0x%08x",
					 used ? ", " : "", (unsigned)flag);
		used += bytes > 0 ? (size_t)bytes : 0;
	}
}
