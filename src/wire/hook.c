/* SPDX-License-Identifier: MIT */
#include "wire/hook.h"

#include "base/guid.h"
#include "wire/class_guids.h"

const GUID etw_event_trace_guid = WIRE_CLASS_EVENT_TRACE;
const GUID etw_lost_event_guid = WIRE_CLASS_LOST_EVENT;
static const GUID kernel_logger_guid = WIRE_KERNEL_LOGGER_GUID;

/* Index 0x1F is the null GUID. */
static const GUID classes[WIRE_HOOK_GROUPS + 1] = {
	[0x00] = WIRE_CLASS_EVENT_TRACE, [0x01] = WIRE_CLASS_DISK_IO,
	[0x02] = WIRE_CLASS_PAGE_FAULT,  [0x03] = WIRE_CLASS_PROCESS,
	[0x04] = WIRE_CLASS_FILE_IO,     [0x05] = WIRE_CLASS_THREAD,
	[0x06] = WIRE_CLASS_TCP_IP,      [0x07] = WIRE_CLASS_JOB,
	[0x08] = WIRE_CLASS_UDP_IP,      [0x09] = WIRE_CLASS_REGISTRY,
	[0x0A] = WIRE_CLASS_DBG_PRINT,   [0x0B] = WIRE_CLASS_SYSTEM_CONFIG,
	[0x0C] = WIRE_CLASS_LAST_BRANCH, /* in old files Spare1 */
	[0x0D] = WIRE_CLASS_WNF,         [0x0E] = WIRE_CLASS_POOL,
	[0x0F] = WIRE_CLASS_PERF_INFO,   [0x10] = WIRE_CLASS_HEAP,
	[0x11] = WIRE_CLASS_OBJECT,      [0x12] = WIRE_CLASS_POWER,
	[0x13] = WIRE_CLASS_MOD_BOUND,   [0x14] = WIRE_CLASS_IMAGE,
	[0x15] = WIRE_CLASS_DPC,         [0x16] = WIRE_CLASS_CC,
	[0x17] = WIRE_CLASS_CRIT_SEC,    [0x18] = WIRE_CLASS_STACK_WALK,
	[0x19] = WIRE_CLASS_UMS,         [0x1A] = WIRE_CLASS_ALPC,
	[0x1B] = WIRE_CLASS_SPLIT_IO,    [0x1C] = WIRE_CLASS_THREAD_POOL,
	[0x1D] = WIRE_CLASS_HYPERVISOR,  [0x1E] = WIRE_CLASS_HYPERVISOR_X,
};

#define GROUP_PROCESS 0x03
#define GROUP_IMAGE   0x14

const GUID *etw_hook_class(uint8_t group, uint8_t type)
{
	if (group == GROUP_PROCESS && type == (WIRE_HOOK_IMAGE_LOAD & 0xFF))
		group = GROUP_IMAGE;
	return &classes[group < WIRE_HOOK_GROUPS ? group : WIRE_HOOK_GROUPS];
}

bool etw_hook_find(const GUID *class_, uint8_t type, uint16_t *ret)
{
	for (unsigned group = 0; group < WIRE_HOOK_GROUPS; group++) {
		if (!etw_guid_equal(class_, etw_hook_class((uint8_t)group, type)))
			continue;
		*ret = (uint16_t)(group << 8 | type);
		return true;
	}
	return false;
}

bool etw_hook_is_kernels(const GUID *guid)
{
	for (unsigned i = 0; i < WIRE_HOOK_GROUPS; i++) {
		if (etw_guid_equal(guid, &classes[i]))
			return true;
	}
	return etw_guid_equal(guid, &etw_lost_event_guid) ||
	       etw_guid_equal(guid, &kernel_logger_guid);
}
