/* SPDX-License-Identifier: MIT */
#include "wire/kernel_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <evntrace.h>

#include "base/macros.h"
#include "base/number.h"
#include "wire/name_list.h"

#define WORD_SHIFT  29 /* of a number that has its word in it */
#define BITS        32
#define NUMBER_MAX  16 /* characters of a number */
#define CONFIG_WORD 6
#define CONTROL     7

static const struct etw_kernel_kind kinds[] = {
	{"PROCESS", NULL, 0, 0x1},
	{"THREAD", NULL, 0, 0x2},
	{"LOADER", "IMAGE_LOAD", 0, 0x4},
	{"PERF_COUNTER", "PROCESS_COUNTERS", 0, 0x8},
	{"DISK_IO", NULL, 0, 0x100},
	{"FILENAME", "DISK_FILE_IO", 0, 0x200},
	{"DISK_IO_INIT", NULL, 0, 0x400},
	{"ALL_FAULTS", "MEMORY_PAGE_FAULTS", 0, 0x1000},
	{"HARD_FAULTS", "MEMORY_HARD_FAULTS", 0, 0x2000},
	{"VAMAP", NULL, 0, 0x8000},
	{"NETWORKTRACE", "NETWORK_TCPIP", 0, 0x10000},
	{"REGISTRY", NULL, 0, 0x20000},
	{"DBGPRINT", NULL, 0, 0x40000},
	{"JOB", NULL, 0, 0x80000},
	{"ALPC", NULL, 0, 0x100000},
	{"SPLIT_IO", NULL, 0, 0x200000},
	{"DEBUG_EVENTS", NULL, 0, 0x400000},
	{"FILE_IO", NULL, 0, 0x2000000},
	{"FILE_IO_INIT", NULL, 0, 0x4000000},
	{"NO_SYSCONFIG", NULL, 0, 0x10000000},
	{"MEMORY", NULL, 1, 0x1},
	{"PROFILE", NULL, 1, 0x2},
	{"CSWITCH", "CONTEXT_SWITCH", 1, 0x4},
	{"FOOTPRINT", NULL, 1, 0x8},
	{"DRIVERS", "DRIVER", 1, 0x10},
	{"REFSET", NULL, 1, 0x20},
	{"POOL", NULL, 1, 0x40},
	{"DPC", NULL, 1, 0x80},
	{"COMPACT_CSWITCH", NULL, 1, 0x100},
	{"DISPATCHER", NULL, 1, 0x200},
	{"PMC_PROFILE", NULL, 1, 0x400},
	{"PROCESS_INSWAP", NULL, 1, 0x800},
	{"AFFINITY", NULL, 1, 0x1000},
	{"PRIORITY", NULL, 1, 0x2000},
	{"INTERRUPT", NULL, 1, 0x4000},
	{"VIRT_ALLOC", "VIRTUAL_ALLOC", 1, 0x8000},
	{"SPINLOCK", NULL, 1, 0x10000},
	{"SYNC_OBJECTS", NULL, 1, 0x20000},
	{"DPC_QUEUE", NULL, 1, 0x40000},
	{"MEMINFO", NULL, 1, 0x80000},
	{"CONTMEMGEN", "CONTMEM_GEN", 1, 0x100000},
	{"SPINLOCK_CNTRS", NULL, 1, 0x200000},
	{"SESSION", "PFSECTION", 1, 0x400000},
	{"MEMINFO_WS", NULL, 1, 0x800000},
	{"KQUEUE", "KERNEL_QUEUE", 1, 0x1000000},
	{"INTERRUPT_STEER", NULL, 1, 0x2000000},
	{"SHOULD_YIELD", NULL, 1, 0x4000000},
	{"WS", NULL, 1, 0x8000000},
	{"ANTI_STARVATION", NULL, 2, 0x1},
	{"PROCESS_FREEZE", NULL, 2, 0x2},
	{"PFN_LIST", NULL, 2, 0x4},
	{"WS_DETAIL", NULL, 2, 0x8},
	{"WS_ENTRY", NULL, 2, 0x10},
	{"HEAP", NULL, 2, 0x20},
	{"SYSCALL", "SYSTEMCALL", 2, 0x40},
	{"UMS", NULL, 2, 0x80},
	{"BACKTRACE", NULL, 2, 0x100},
	{"VULCAN", NULL, 2, 0x200},
	{"OBJECTS", NULL, 2, 0x400},
	{"EVENTS", NULL, 2, 0x800},
	{"FULLTRACE", NULL, 2, 0x1000},
	{"DFSS", NULL, 2, 0x2000},
	{"PREFETCH", NULL, 2, 0x4000},
	{"IDLE_STATES", "PROCESSOR_IDLE", 2, 0x8000},
	{"CPU_CONFIG", NULL, 2, 0x10000},
	{"TIMER", NULL, 2, 0x20000},
	{"CLOCKINT", "CLOCK_INTERRUPT", 2, 0x40000},
	{"LOAD_BALANCER", NULL, 2, 0x80000},
	{"KE_CLOCK", "CLOCK_TIMER", 2, 0x100000},
	{"IDLE_SELECTION", NULL, 2, 0x200000},
	{"IPI", NULL, 2, 0x400000},
	{"IO_TIMER", NULL, 2, 0x800000},
	{"REG_HIVE", NULL, 2, 0x1000000},
	{"REG_NOTIF", NULL, 2, 0x2000000},
	{"PPM_EXIT_LATENCY", NULL, 2, 0x4000000},
	{"WORKER_THREAD", NULL, 2, 0x8000000},
	{"OPTICAL_IO", NULL, 4, 0x1},
	{"OPTICAL_IO_INIT", NULL, 4, 0x2},
	{"DLL_INFO", NULL, 4, 0x8},
	{"OB_HANDLE", NULL, 4, 0x40},
	{"OB_OBJECT", NULL, 4, 0x80},
	{"WAKE_DROP", NULL, 4, 0x200},
	{"WAKE_EVENT", NULL, 4, 0x400},
	{"DEBUGGER", NULL, 4, 0x800},
	{"PROC_ATTACH", NULL, 4, 0x1000},
	{"WAKE_COUNTER", NULL, 4, 0x2000},
	{"POWER", NULL, 4, 0x8000},
	{"SOFT_TRIM", NULL, 4, 0x10000},
	{"CC", NULL, 4, 0x20000},
	{"FLT_IO_INIT", NULL, 4, 0x80000},
	{"FLT_IO", NULL, 4, 0x100000},
	{"FLT_FASTIO", NULL, 4, 0x200000},
	{"FLT_IO_FAILURE", NULL, 4, 0x400000},
	{"HV_PROFILE", NULL, 4, 0x800000},
	{"WDF_DPC", NULL, 4, 0x1000000},
	{"WDF_INTERRUPT", NULL, 4, 0x2000000},
	{"CACHE_FLUSH", NULL, 4, 0x4000000},
	{"HIBERRUNDOWN", "HIBER_RUNDOWN", 5, 0x1},
	{"PHYSICAL_MEMORY", NULL, 5, 0x40},
	{"SYSCFG_SYSTEM", NULL, CONFIG_WORD, 0x1},
	{"SYSCFG_GRAPHICS", NULL, CONFIG_WORD, 0x2},
	{"SYSCFG_STORAGE", NULL, CONFIG_WORD, 0x4},
	{"SYSCFG_NETWORK", NULL, CONFIG_WORD, 0x8},
	{"SYSCFG_SERVICES", NULL, CONFIG_WORD, 0x10},
	{"SYSCFG_PNP", NULL, CONFIG_WORD, 0x20},
	{"SYSCFG_OPTICAL", NULL, CONFIG_WORD, 0x40},
	/* What stands for several of the above. */
	{"PROC_THREAD", NULL, 0, 0x3},
	{"DISK_IO", NULL, 0, 0x300}, /* events of disks have names of files in them */
	{"SYSCFG_ALL", NULL, CONFIG_WORD, 0x1FFFFFFF},
};

static const struct {
	const char *name;
	const char *kinds;
} groups[] = {
	{"Base", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+PROFILE+MEMINFO+MEMINFO_WS"},
	{"Diag", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+DPC+INTERRUPT+CSWITCH+"
		 "PERF_COUNTER+COMPACT_CSWITCH"},
	{"DiagEasy", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+DPC+INTERRUPT+CSWITCH+"
		     "PERF_COUNTER"},
	{"Latency", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+DPC+INTERRUPT+CSWITCH+"
		    "PROFILE"},
	{"FileIO", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+FILE_IO+FILE_IO_INIT"},
	{"IOTrace", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+CSWITCH"},
	{"ResumeTrace", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+PROFILE+POWER"},
	{"SysProf", "PROC_THREAD+LOADER+PROFILE"},
	{"ResidentSet", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+MEMORY+MEMINFO+VAMAP+"
			"SESSION+VIRT_ALLOC"},
	{"ReferenceSet", "PROC_THREAD+LOADER+HARD_FAULTS+MEMORY+FOOTPRINT+VIRT_ALLOC+MEMINFO+"
			 "VAMAP+SESSION+REFSET+MEMINFO_WS"},
	{"Network", "PROC_THREAD+LOADER+NETWORKTRACE"},
};

const struct etw_kernel_kind *etw_kernel_kinds(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(kinds);
	return kinds;
}

const char *etw_kernel_group_name(size_t index)
{
	return index < ARRAY_SIZE(groups) ? groups[index].name : NULL;
}

const char *etw_kernel_kind_name(uint32_t word, uint32_t bit)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].word == word && kinds[i].bits == bit)
			return kinds[i].name;
	}
	return NULL;
}

/* What stands for several comes first. */
static bool add_kind(const char *word, size_t bytes, uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	for (size_t i = ARRAY_SIZE(kinds); i-- > 0;) {
		if (!etw_name_list_is(kinds[i].name, word, bytes) &&
		    !etw_name_list_is(kinds[i].alias, word, bytes))
			continue;
		masks[kinds[i].word] |= kinds[i].bits;
		return true;
	}
	return false;
}

static bool add_group(const char *word, size_t bytes, uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		if (!etw_name_list_is(groups[i].name, word, bytes))
			continue;
		for (const char *at = groups[i].kinds; *at;) {
			size_t length = strcspn(at, "+");

			(void)add_kind(at, length, masks);
			at += length + (at[length] == '+');
		}
		return true;
	}
	return false;
}

/* EnableFlags that lie elsewhere are put where they lie. */
static bool add_number(const char *word, size_t bytes, uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	uint32_t flags[WIRE_GROUP_MASKS_WORDS];
	char copy[NUMBER_MAX + 1] = "";
	uint64_t number;

	if (bytes > NUMBER_MAX || bytes < 3 || word[0] != '0' || (word[1] | 0x20) != 'x')
		return false;
	memcpy(copy, word, bytes);
	if (!etw_number_parse(copy, UINT32_MAX, &number) || !number)
		return false;
	if (number >> WORD_SHIFT) {
		masks[number >> WORD_SHIFT] |= (uint32_t)number & ((UINT32_C(1) << WORD_SHIFT) - 1);
		return true;
	}
	etw_group_masks_of_flags((uint32_t)number, flags);
	for (size_t i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		masks[i] |= flags[i];
	return true;
}

int etw_kernel_kinds_parse(const char *word, size_t bytes, uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	return add_kind(word, bytes, masks) || add_group(word, bytes, masks) ||
			       add_number(word, bytes, masks)
		       ? 0
		       : -EINVAL;
}

bool etw_kernel_masks_events(const uint32_t masks[WIRE_GROUP_MASKS_WORDS],
			     uint32_t ret[WIRE_GROUP_MASKS_WORDS])
{
	uint32_t any = 0;

	for (size_t i = 0; i < WIRE_GROUP_MASKS_WORDS; i++) {
		ret[i] = i == CONFIG_WORD || i == CONTROL ? 0 : masks[i];
		if (i == 0)
			ret[i] &= ~(uint32_t)EVENT_TRACE_FLAG_NO_SYSCONFIG;
		any |= ret[i];
	}
	return any != 0;
}

void etw_kernel_masks_format(const uint32_t masks[WIRE_GROUP_MASKS_WORDS], char *room,
			     size_t room_bytes)
{
	struct etw_name_list list = etw_name_list_begin(room, room_bytes);

	for (uint32_t i = 0; i < WIRE_GROUP_MASKS_WORDS * BITS; i++) {
		uint32_t word = i / BITS, bit = UINT32_C(1) << i % BITS;
		char number[NUMBER_MAX];
		const char *name = etw_kernel_kind_name(word, bit);

		if (!(masks[word] & bit))
			continue;
		if (!name)
			(void)snprintf(number, sizeof(number), "0x%08x", word << WORD_SHIFT | bit);
		etw_name_list_put(&list, name ? name : number);
	}
	etw_name_list_end(&list);
}
