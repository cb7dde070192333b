/* SPDX-License-Identifier: MIT */
#include "source/kernel/probe/classes.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "source/kernel/bpf/memory_records.h"
#include "source/kernel/bpf/network_records.h"
#include "source/kernel/bpf/stack_records.h"
#include "source/kernel/probe/probe_class.h"

/* In the words of the group masks: wire/group_masks.h. */
static const struct {
	uint32_t word, bit;
	uint32_t kind; /* enum etw_kernel_cpu_kind */
	uint16_t hook; /* of the event that the kind makes */
} classes[] = {
	{0, EVENT_TRACE_FLAG_DISK_IO, ETW_KERNEL_DISK_END, 0x010A},
	{0, EVENT_TRACE_FLAG_DISK_IO, ETW_KERNEL_DISK_END, 0x010B},
	{0, EVENT_TRACE_FLAG_DISK_IO, ETW_KERNEL_DISK_END, 0x010E},
	{0, EVENT_TRACE_FLAG_DISK_IO_INIT, ETW_KERNEL_DISK_BEGIN, 0x010C},
	{0, EVENT_TRACE_FLAG_DISK_IO_INIT, ETW_KERNEL_DISK_BEGIN, 0x010D},
	{0, EVENT_TRACE_FLAG_DISK_IO_INIT, ETW_KERNEL_DISK_BEGIN, 0x010F},
	{0, EVENT_TRACE_FLAG_SPLIT_IO, ETW_KERNEL_SPLIT, 0x1B20},
	{1, 0x2, ETW_KERNEL_SAMPLE, 0x0F2E},           /* PROFILE */
	{1, 0x400, ETW_KERNEL_COUNTER_SAMPLE, 0x0F2F}, /* PMC_PROFILE */
	{1, 0x4, ETW_KERNEL_SWITCH, 0x0524},           /* CSWITCH */
	{1, 0x200, ETW_KERNEL_READY, 0x0532},          /* DISPATCHER */
	{1, 0x4000, ETW_KERNEL_INTERRUPT, 0x0F43},     /* INTERRUPT */
	{1, 0x80, ETW_KERNEL_SOFT_INTERRUPT, 0x0F44},  /* DPC */
	{1, 0x80, ETW_KERNEL_SOFT_INTERRUPT, 0x0F42},
	{1, 0x80, ETW_KERNEL_SOFT_INTERRUPT, 0x0F45},
	{1, 0x2000, ETW_KERNEL_PRIORITY, 0x0530},   /* PRIORITY */
	{2, 0x8000, ETW_KERNEL_IDLE_STATE, 0x1239}, /* IDLE_STATES */
	{4, 0x8000, ETW_KERNEL_IDLE_STATE, 0x1239}, /* POWER, from here */
	{4, 0x8000, ETW_KERNEL_FREQUENCY, 0},
	{2, 0x40, ETW_KERNEL_SYSCALL_ENTER, 0x0F33}, /* SYSCALL */
	{2, 0x40, ETW_KERNEL_SYSCALL_EXIT, 0x0F34},
	{0, EVENT_TRACE_FLAG_FILE_IO, ETW_KERNEL_FILE_END, 0x044C},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x0440}, /* operations */
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x0441},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x0442},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x0443},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x0444},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x0445},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x0448},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x0449},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x044A},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x044B},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x044F},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x0450},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_BEGIN, 0x0451},
	/* What names files, from here. */
	{0, EVENT_TRACE_FLAG_DISK_FILE_IO, ETW_KERNEL_FILE_NAME, 0},
	{0, EVENT_TRACE_FLAG_FILE_IO, ETW_KERNEL_FILE_NAME, 0},
	{0, EVENT_TRACE_FLAG_FILE_IO_INIT, ETW_KERNEL_FILE_NAME, 0},
	{0, EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS, ETW_KERNEL_FILE_NAME, 0},
	{0, EVENT_TRACE_FLAG_VAMAP, ETW_KERNEL_FILE_NAME, 0},
	{0, EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS, ETW_KERNEL_FAULT, 0x020A},
	{0, EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS, ETW_KERNEL_FAULT, 0x020B},
	{0, EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS, ETW_KERNEL_FAULT, 0x020C},
	{0, EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS, ETW_KERNEL_FAULT, 0x020D},
	{0, EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS, ETW_KERNEL_FAULT, 0x020E},
	{0, EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS, ETW_KERNEL_FAULT, 0x020F},
	{0, EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS, ETW_KERNEL_HARD_FAULT, 0x0220},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x060A},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x060B},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x060C},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x060F},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x061A},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x061B},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x061C},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x061F},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x080A},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x080B},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x081A},
	{0, EVENT_TRACE_FLAG_NETWORK_TCPIP, ETW_KERNEL_NETWORK, 0x081B},
	{1, 0x8000, ETW_KERNEL_MEMORY, 0x0262}, /* VIRTUAL_ALLOC */
	{1, 0x8000, ETW_KERNEL_MEMORY, 0x0263},
	{0, EVENT_TRACE_FLAG_VAMAP, ETW_KERNEL_VIEW, 0x0425},
	{0, EVENT_TRACE_FLAG_VAMAP, ETW_KERNEL_VIEW, 0x0426},
};

uint32_t etw_kernel_class_kinds(const uint32_t masks[8])
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if (masks[classes[i].word] & classes[i].bit)
			kinds |= UINT32_C(1) << classes[i].kind;
	return kinds;
}

void etw_kernel_class_masks(uint32_t kinds, uint32_t ret[8])
{
	memset(ret, 0, 8 * sizeof(ret[0]));
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if (kinds >> classes[i].kind & 1)
			ret[classes[i].word] |= classes[i].bit;
}

/* What the kernel must have for a kind. */
static const enum etw_kernel_class probed[ETW_KERNEL_CPU_KINDS] = {
	[ETW_KERNEL_SWITCH] = ETW_KERNEL_CLASS_SWITCHES,
	[ETW_KERNEL_READY] = ETW_KERNEL_CLASS_READY,
	[ETW_KERNEL_SAMPLE] = ETW_KERNEL_CLASS_SAMPLES,
	[ETW_KERNEL_SYSCALL_ENTER] = ETW_KERNEL_CLASS_SYSTEM_CALLS,
	[ETW_KERNEL_SYSCALL_EXIT] = ETW_KERNEL_CLASS_SYSTEM_CALLS,
	[ETW_KERNEL_INTERRUPT] = ETW_KERNEL_CLASS_INTERRUPTS,
	[ETW_KERNEL_SOFT_INTERRUPT] = ETW_KERNEL_CLASS_DPCS,
	[ETW_KERNEL_PRIORITY] = ETW_KERNEL_CLASS_PRIORITIES,
	[ETW_KERNEL_IDLE_STATE] = ETW_KERNEL_CLASS_POWER,
	[ETW_KERNEL_FREQUENCY] = ETW_KERNEL_CLASS_POWER,
	[ETW_KERNEL_COUNTER_SAMPLE] = ETW_KERNEL_CLASS_COUNTERS,
	[ETW_KERNEL_FILE_NAME] = ETW_KERNEL_CLASS_FILE_NAMES,
	[ETW_KERNEL_FILE_BEGIN] = ETW_KERNEL_CLASS_FILES,
	[ETW_KERNEL_FILE_END] = ETW_KERNEL_CLASS_FILES,
	[ETW_KERNEL_DISK_BEGIN] = ETW_KERNEL_CLASS_DISKS,
	[ETW_KERNEL_DISK_END] = ETW_KERNEL_CLASS_DISKS,
	[ETW_KERNEL_SPLIT] = ETW_KERNEL_CLASS_SPLITS,
	[ETW_KERNEL_FAULT] = ETW_KERNEL_CLASS_FAULTS,
	[ETW_KERNEL_HARD_FAULT] = ETW_KERNEL_CLASS_FAULTS,
	[ETW_KERNEL_NETWORK] = ETW_KERNEL_CLASS_NETWORK,
	[ETW_KERNEL_MEMORY] = ETW_KERNEL_CLASS_MEMORY,
	[ETW_KERNEL_VIEW] = ETW_KERNEL_CLASS_MEMORY,
};

int etw_kernel_class_lacking(const uint32_t masks[8], uint32_t ret[8], struct etw_fault *reterr)
{
	int result = 0;

	memset(ret, 0, 8 * sizeof(ret[0]));
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		int r;

		if (!(masks[classes[i].word] & classes[i].bit))
			continue;
		r = etw_kernel_probe_class(probed[classes[i].kind], result ? NULL : reterr);
		if (!r)
			continue;
		ret[classes[i].word] |= classes[i].bit;
		result = r;
	}
	return result;
}

uint32_t etw_kernel_class_given(uint32_t kinds)
{
	if (!etw_kernel_probe_features()->has[ETW_KERNEL_HAS_FREQUENCY])
		kinds &= ~(UINT32_C(1) << ETW_KERNEL_FREQUENCY);
	return kinds;
}

#define CONFIG_WORD 6 /* what is told of the machine */

bool etw_kernel_class_names_code(const struct etw_source_request *request)
{
	uint32_t others = request->group_masks[0] &
			  ~(uint32_t)(ETW_KERNEL_TASK_FLAGS | ETW_KERNEL_DISK_FLAGS |
				      ETW_KERNEL_FILE_FLAGS | EVENT_TRACE_FLAG_NO_SYSCONFIG);

	for (size_t i = 1; i < ARRAY_SIZE(request->group_masks); i++)
		others |= i == CONFIG_WORD ? 0 : request->group_masks[i];
	return others || request->stack_hook_count;
}

/* Events that a kind of records alone does not tell apart. */
static const struct {
	uint32_t word, bit;
	uint32_t event; /* enum etw_kernel_stack_event */
	uint16_t hook;
} stack_events[] = {
	{0, EVENT_TRACE_FLAG_PROCESS, ETW_KERNEL_STACK_PROCESS_START, 0x0301},
	{0, EVENT_TRACE_FLAG_PROCESS, ETW_KERNEL_STACK_PROCESS_END, 0x0302},
	{0, EVENT_TRACE_FLAG_IMAGE_LOAD, ETW_KERNEL_STACK_IMAGE_LOAD, 0x030A},
	{0, EVENT_TRACE_FLAG_IMAGE_LOAD, ETW_KERNEL_STACK_IMAGE_UNLOAD, 0x1402},
	{0, EVENT_TRACE_FLAG_THREAD, ETW_KERNEL_STACK_THREAD_START, 0x0501},
	{0, EVENT_TRACE_FLAG_THREAD, ETW_KERNEL_STACK_THREAD_END, 0x0502},
	{0, EVENT_TRACE_FLAG_DISK_IO_INIT, ETW_KERNEL_STACK_DISK_READ, 0x010C},
	{0, EVENT_TRACE_FLAG_DISK_IO_INIT, ETW_KERNEL_STACK_DISK_WRITE, 0x010D},
	{0, EVENT_TRACE_FLAG_DISK_IO_INIT, ETW_KERNEL_STACK_DISK_FLUSH, 0x010F},
	{0, EVENT_TRACE_FLAG_DISK_IO, ETW_KERNEL_STACK_DISK_READ_END, 0x010A},
	{0, EVENT_TRACE_FLAG_DISK_IO, ETW_KERNEL_STACK_DISK_WRITE_END, 0x010B},
	{0, EVENT_TRACE_FLAG_DISK_IO, ETW_KERNEL_STACK_DISK_FLUSH_END, 0x010E},
	{1, 0x80, ETW_KERNEL_STACK_THREADED_DPC, 0x0F42},
	{1, 0x80, ETW_KERNEL_STACK_DPC, 0x0F44},
	{1, 0x80, ETW_KERNEL_STACK_TIMER_DPC, 0x0F45},
};

int etw_kernel_class_less(uint32_t kinds, struct etw_fault *reterr)
{
	static const struct {
		uint32_t kind, feature;
	} drivers[] = {
		{ETW_KERNEL_IDLE_STATE, ETW_KERNEL_HAS_IDLE_DRIVER},
		{ETW_KERNEL_FREQUENCY, ETW_KERNEL_HAS_FREQUENCY_DRIVER},
	};

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (kinds >> drivers[i].kind & 1 &&
		    !etw_kernel_probe_features()->has[drivers[i].feature])
			return etw_fault_set(
				reterr, -EOPNOTSUPP, 0, "kernel source",
				etw_kernel_probe_class_name(ETW_KERNEL_CLASS_POWER),
				etw_kernel_class_loss(ETW_KERNEL_CLASS_POWER,
						      (enum etw_kernel_feature)drivers[i].feature));
	return 0;
}

uint32_t etw_kernel_class_stack_kinds(const struct etw_source_request *request)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		for (uint32_t j = 0; j < request->stack_hook_count; j++)
			if (request->stack_hooks[j] == classes[i].hook)
				kinds |= UINT32_C(1) << classes[i].kind;
	}
	return kinds & etw_kernel_class_kinds(request->group_masks);
}

uint32_t etw_kernel_class_file_stacks(const struct etw_source_request *request)
{
	uint32_t types = 0;

	for (uint32_t i = 0; i < request->stack_hook_count; i++) {
		uint32_t type = (uint32_t)request->stack_hooks[i] - ETW_KERNEL_FILE_HOOKS_FIRST;

		if (type < 32)
			types |= UINT32_C(1) << type;
	}
	return types;
}

uint32_t etw_kernel_class_stack_events(const struct etw_source_request *request)
{
	uint32_t events = 0;

	for (size_t i = 0; i < ARRAY_SIZE(stack_events); i++) {
		if (!(request->group_masks[stack_events[i].word] & stack_events[i].bit))
			continue;
		for (uint32_t j = 0; j < request->stack_hook_count; j++)
			if (request->stack_hooks[j] == stack_events[i].hook)
				events |= stack_events[i].event;
	}
	return events;
}

#define GROUP_UDPIP 0x08
#define GROUP_FAULT 0x02

uint32_t etw_kernel_class_network_stacks(const struct etw_source_request *request)
{
	uint32_t bits = 0;

	if (!(request->group_masks[0] & EVENT_TRACE_FLAG_NETWORK_TCPIP))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		uint16_t hook = classes[i].hook;

		if (classes[i].kind != ETW_KERNEL_NETWORK)
			continue;
		/* Those of IPv6 have the same bit: 16 more. */
		for (uint32_t j = 0; j < request->stack_hook_count; j++)
			if (request->stack_hooks[j] == hook)
				bits |= etw_kernel_network_stack_bit(hook & 0xFF,
								     hook >> 8 == GROUP_UDPIP);
	}
	return bits;
}

uint32_t etw_kernel_class_memory_stacks(const struct etw_source_request *request)
{
	static const struct {
		uint16_t hook;
		uint32_t bit;
	} others[] = {
		{0x0262, ETW_KERNEL_STACK_ALLOC},
		{0x0263, ETW_KERNEL_STACK_FREE},
		{0x0425, ETW_KERNEL_STACK_MAP_VIEW},
		{0x0426, ETW_KERNEL_STACK_UNMAP_VIEW},
	};
	uint32_t bits = 0;

	for (uint32_t i = 0; i < request->stack_hook_count; i++) {
		const uint16_t hook = request->stack_hooks[i];

		if (hook >> 8 == GROUP_FAULT && (hook & 0xFF) >= ETW_KERNEL_FAULT_TRANSITION &&
		    (hook & 0xFF) <= ETW_KERNEL_FAULT_ACCESS_VIOLATION)
			bits |= etw_kernel_fault_stack_bit(hook & 0xFF);
		for (size_t j = 0; j < ARRAY_SIZE(others); j++)
			bits |= hook == others[j].hook ? others[j].bit : 0;
	}
	return bits;
}

uint32_t etw_kernel_loss_class(uint32_t kind)
{
	static const uint8_t losses[ETW_KERNEL_CPU_KINDS] = {
		[ETW_KERNEL_SWITCH] = ETW_LOSS_OF_SWITCHES,
		[ETW_KERNEL_READY] = ETW_LOSS_OF_READY,
		[ETW_KERNEL_SAMPLE] = ETW_LOSS_OF_SAMPLES,
		[ETW_KERNEL_SYSCALL_ENTER] = ETW_LOSS_OF_CALLS,
		[ETW_KERNEL_SYSCALL_EXIT] = ETW_LOSS_OF_RETURNS,
		[ETW_KERNEL_INTERRUPT] = ETW_LOSS_OF_INTERRUPTS,
		[ETW_KERNEL_SOFT_INTERRUPT] = ETW_LOSS_OF_DPCS,
		[ETW_KERNEL_PRIORITY] = ETW_LOSS_OF_TASKS,
		[ETW_KERNEL_IDLE_STATE] = ETW_LOSS_OF_POWER,
		[ETW_KERNEL_FREQUENCY] = ETW_LOSS_OF_POWER,
		[ETW_KERNEL_COUNTER_SAMPLE] = ETW_LOSS_OF_SAMPLES,
		[ETW_KERNEL_DISK_BEGIN] = ETW_LOSS_OF_DISKS,
		[ETW_KERNEL_DISK_END] = ETW_LOSS_OF_DISKS,
		[ETW_KERNEL_SPLIT] = ETW_LOSS_OF_DISKS,
		[ETW_KERNEL_FILE_NAME] = ETW_LOSS_OF_NAMES,
		[ETW_KERNEL_FILE_BEGIN] = ETW_LOSS_OF_FILES,
		[ETW_KERNEL_FILE_END] = ETW_LOSS_OF_FILES,
		[ETW_KERNEL_FAULT] = ETW_LOSS_OF_FAULTS,
		[ETW_KERNEL_HARD_FAULT] = ETW_LOSS_OF_FAULTS,
		[ETW_KERNEL_MEMORY] = ETW_LOSS_OF_MEMORY,
		[ETW_KERNEL_VIEW] = ETW_LOSS_OF_MEMORY,
		[ETW_KERNEL_NETWORK] = ETW_LOSS_OF_NETWORK,
	};

	return kind < ETW_KERNEL_CPU_KINDS ? losses[kind] : ETW_LOSS_OF_ANY;
}
