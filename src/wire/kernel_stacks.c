/* SPDX-License-Identifier: MIT */
#include "wire/kernel_stacks.h"

#include <errno.h>
#include <stdio.h>

#include "base/macros.h"
#include "wire/name_list.h"

#define NUMBER_BYTES 16

static const struct etw_kernel_stack stacks[] = {
	{"ProcessCreate", 0x0301, 0, 0x1},
	{"ProcessDelete", 0x0302, 0, 0x1},
	{"ImageLoad", 0x030A, 0, 0x4},
	{"ImageUnload", 0x1402, 0, 0x4},
	{"ThreadCreate", 0x0501, 0, 0x2},
	{"ThreadDelete", 0x0502, 0, 0x2},
	{"CSwitch", 0x0524, 1, 0x4},
	{"ReadyThread", 0x0532, 1, 0x200},
	{"ThreadSetPriority", 0x0530, 1, 0x2000},
	{"ThreadSetBasePriority", 0x0531, 1, 0x2000},
	{"KernelQueueEnqueue", 0x053E, 1, 0x1000000},
	{"KernelQueueDequeue", 0x053F, 1, 0x1000000},
	{"ExecutiveResource", 0x052B, 1, 0x20000},
	{"Mark", 0x0F22, 0, 0x0},
	{"Profile", 0x0F2E, 1, 0x2},
	{"PmcInterrupt", 0x0F2F, 1, 0x400},
	{"ProfileSetInterval", 0x0F48, 1, 0x2},
	{"SyscallEnter", 0x0F33, 2, 0x40},
	{"SyscallExit", 0x0F34, 2, 0x40},
	{"TimerSetPeriodic", 0x0F52, 2, 0x20000},
	{"TimerSetOneShot", 0x0F53, 2, 0x20000},
	{"DiskRead", 0x010A, 0, 0x100}, /* not xperf's, like the two below it */
	{"DiskWrite", 0x010B, 0, 0x100},
	{"DiskFlush", 0x010E, 0, 0x100},
	{"DiskReadInit", 0x010C, 0, 0x400},
	{"DiskWriteInit", 0x010D, 0, 0x400},
	{"DiskFlushInit", 0x010F, 0, 0x400},
	{"PagefaultTransition", 0x020A, 0, 0x1000},
	{"PagefaultDemandZero", 0x020B, 0, 0x1000},
	{"PagefaultCopyOnWrite", 0x020C, 0, 0x1000},
	{"PagefaultGuard", 0x020D, 0, 0x1000},
	{"PagefaultHard", 0x020E, 0, 0x1000},
	{"PagefaultAV", 0x020F, 0, 0x1000},
	{"HardFault", 0x0220, 0, 0x2000},
	{"VirtualAlloc", 0x0262, 1, 0x8000},
	{"VirtualFree", 0x0263, 1, 0x8000},
	{"HeapRangeCreate", 0x0265, 2, 0x20},
	{"HeapRangeReserve", 0x0266, 2, 0x20},
	{"HeapRangeRelease", 0x0267, 2, 0x20},
	{"HeapRangeDestroy", 0x0268, 2, 0x20},
	{"PagefileBackedImageMapping", 0x0269, 0, 0x8000},
	{"ContiguousMemoryGeneration", 0x0271, 1, 0x100000},
	{"PageRangeAccess", 0x0278, 1, 0x20},
	{"PageRangeRelease", 0x0279, 1, 0x20},
	{"MapFile", 0x0425, 0, 0x8000},
	{"UnMapFile", 0x0426, 0, 0x8000},
	{"FileCreate", 0x0440, 0, 0x4000000},
	{"FileCleanup", 0x0441, 0, 0x4000000},
	{"FileClose", 0x0442, 0, 0x4000000},
	{"FileRead", 0x0443, 0, 0x4000000},
	{"FileWrite", 0x0444, 0, 0x4000000},
	{"FileSetInformation", 0x0445, 0, 0x4000000},
	{"FileDelete", 0x0446, 0, 0x4000000},
	{"FileRename", 0x0447, 0, 0x4000000},
	{"FileDirEnum", 0x0448, 0, 0x4000000},
	{"FileFlush", 0x0449, 0, 0x4000000},
	{"FileQueryInformation", 0x044A, 0, 0x4000000},
	{"FileFSCTL", 0x044B, 0, 0x4000000},
	{"FileOpEnd", 0x044C, 0, 0x2000000},
	{"FileDirNotify", 0x044D, 0, 0x4000000},
	{"MiniFilterPreOpInit", 0x0460, 4, 0x80000},
	{"MiniFilterPostOpInit", 0x0461, 4, 0x80000},
	{"RegCreateKey", 0x090A, 0, 0x20000},
	{"RegOpenKey", 0x090B, 0, 0x20000},
	{"RegDeleteKey", 0x090C, 0, 0x20000},
	{"RegQueryKey", 0x090D, 0, 0x20000},
	{"RegSetValue", 0x090E, 0, 0x20000},
	{"RegDeleteValue", 0x090F, 0, 0x20000},
	{"RegQueryValue", 0x0910, 0, 0x20000},
	{"RegEnumerateKey", 0x0911, 0, 0x20000},
	{"RegEnumerateValueKey", 0x0912, 0, 0x20000},
	{"RegQueryMultipleValue", 0x0913, 0, 0x20000},
	{"RegSetInformation", 0x0914, 0, 0x20000},
	{"RegFlush", 0x0915, 0, 0x20000},
	{"RegKcbCreate", 0x0916, 0, 0x20000},
	{"RegKcbDelete", 0x0917, 0, 0x20000},
	{"RegVirtualize", 0x091A, 0, 0x20000},
	{"RegCloseKey", 0x091B, 0, 0x20000},
	{"PoolAlloc", 0x0E20, 1, 0x40},
	{"PoolAllocSession", 0x0E21, 1, 0x40},
	{"PoolFree", 0x0E22, 1, 0x40},
	{"PoolFreeSession", 0x0E23, 1, 0x40},
	{"HeapCreate", 0x1020, 2, 0x20},
	{"HeapAlloc", 0x1021, 2, 0x20},
	{"HeapRealloc", 0x1022, 2, 0x20},
	{"HeapDestroy", 0x1023, 2, 0x20},
	{"HeapFree", 0x1024, 2, 0x20},
	{"HandleCreate", 0x1120, 4, 0x40},
	{"HandleClose", 0x1121, 4, 0x40},
	{"HandleDuplicate", 0x1122, 4, 0x40},
	{"PowerSetPowerAction", 0x1222, 4, 0x8000},
	{"PowerSetPowerActionReturn", 0x1223, 4, 0x8000},
	{"PowerSetDevicesState", 0x1224, 4, 0x8000},
	{"PowerSetDevicesStateReturn", 0x1225, 4, 0x8000},
	{"PowerDeviceNotify", 0x1226, 4, 0x8000},
	{"PowerDeviceNotifyComplete", 0x1227, 4, 0x8000},
	{"PowerSessionCallout", 0x1228, 4, 0x8000},
	{"PowerSessionCalloutReturn", 0x1229, 4, 0x8000},
	{"PowerPreSleep", 0x1230, 4, 0x8000},
	{"PowerPostSleep", 0x1231, 4, 0x8000},
	{"PowerPerfStateChange", 0x1233, 4, 0x8000},
	{"PowerIdleStateChange", 0x1235, 4, 0x8000},
	{"PowerThermalConstraint", 0x1236, 4, 0x8000},
	{"CcWorkitemEnqueue", 0x1600, 4, 0x20000},
	{"CcWorkitemDequeue", 0x1601, 4, 0x20000},
	{"CcWorkitemComplete", 0x1602, 4, 0x20000},
	{"CcReadAhead", 0x1603, 4, 0x20000},
	{"CcWriteBehind", 0x1604, 4, 0x20000},
	{"CcLazyWriteScan", 0x1605, 4, 0x20000},
	{"CcCanIWriteFail", 0x1606, 4, 0x20000},
	{"CcFlushCache", 0x1609, 4, 0x20000},
	{"CcFlushSection", 0x160A, 4, 0x20000},
	{"CritSecCollision", 0x1722, 0, 0x0},
	{"AlpcSendMessage", 0x1A21, 0, 0x100000},
	{"AlpcReceiveMessage", 0x1A22, 0, 0x100000},
	{"AlpcWaitForReply", 0x1A23, 0, 0x100000},
	{"AlpcWaitForNewMessage", 0x1A24, 0, 0x100000},
	{"AlpcUnwait", 0x1A25, 0, 0x100000},
	{"AlpcConnectRequest", 0x1A26, 0, 0x100000},
	{"AlpcConnectSuccess", 0x1A27, 0, 0x100000},
	{"AlpcConnectFail", 0x1A28, 0, 0x100000},
	{"AlpcClosePort", 0x1A29, 0, 0x100000},
	{"SplitIO", 0x1B20, 0, 0x200000},
	{"ThreadPoolCallbackEnqueue", 0x1C20, 0, 0x0},
	{"ThreadPoolCallbackDequeue", 0x1C21, 0, 0x0},
	{"ThreadPoolCallbackStart", 0x1C22, 0, 0x0},
	{"ThreadPoolCallbackStop", 0x1C23, 0, 0x0},
	{"ThreadPoolCallbackCancel", 0x1C24, 0, 0x0},
	{"ThreadPoolCreate", 0x1C25, 0, 0x0},
	{"ThreadPoolClose", 0x1C26, 0, 0x0},
	{"ThreadPoolSetMinThreads", 0x1C27, 0, 0x0},
	{"ThreadPoolSetMaxThreads", 0x1C28, 0, 0x0},
	/* xperf has no names for these; they are those of the events. */
	{"ThreadedDPC", 0x0F42, 1, 0x80},
	{"ISR", 0x0F43, 1, 0x4000},
	{"DPC", 0x0F44, 1, 0x80},
	{"TimerDPC", 0x0F45, 1, 0x80},
	/* Not xperf's; each is for both families. The IPV6 names are for telling. */
	{"TcpSend", 0x060A, 0, 0x10000},
	{"TcpReceive", 0x060B, 0, 0x10000},
	{"TcpConnect", 0x060C, 0, 0x10000},
	{"TcpAccept", 0x060F, 0, 0x10000},
	{"UdpSend", 0x080A, 0, 0x10000},
	{"UdpReceive", 0x080B, 0, 0x10000},
	{"TcpSendIPV6", 0x061A, 0, 0x10000},
	{"TcpReceiveIPV6", 0x061B, 0, 0x10000},
	{"TcpConnectIPV6", 0x061C, 0, 0x10000},
	{"TcpAcceptIPV6", 0x061F, 0, 0x10000},
	{"UdpSendIPV6", 0x081A, 0, 0x10000},
	{"UdpReceiveIPV6", 0x081B, 0, 0x10000},
};

const struct etw_kernel_stack *etw_kernel_stacks(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(stacks);
	return stacks;
}

const struct etw_kernel_stack *etw_kernel_stack_of(uint16_t hook)
{
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++) {
		if (stacks[i].hook == hook)
			return &stacks[i];
	}
	return NULL;
}

int etw_kernel_stack_parse(const char *word, size_t bytes, uint16_t *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++) {
		if (!etw_name_list_is(stacks[i].name, word, bytes))
			continue;
		*ret = stacks[i].hook;
		return 0;
	}
	return -EINVAL;
}

void etw_kernel_stacks_format(const uint16_t *hooks, size_t count, char *room, size_t room_bytes)
{
	struct etw_name_list list = etw_name_list_begin(room, room_bytes);

	for (size_t i = 0; i < count; i++) {
		const struct etw_kernel_stack *stack = etw_kernel_stack_of(hooks[i]);
		char number[NUMBER_BYTES];

		if (!stack)
			(void)snprintf(number, sizeof(number), "0x%04x", hooks[i]);
		etw_name_list_put(&list, stack ? stack->name : number);
	}
	etw_name_list_end(&list);
}
