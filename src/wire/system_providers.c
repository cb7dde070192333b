/* SPDX-License-Identifier: MIT */
#include "wire/system_providers.h"

#include <stddef.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"

#define WORD_SHIFT    29 /* as xperf writes bits of masks: the word is on top */
#define BITS          UINT32_C(0x1FFFFFFF)
#define KEYWORDS_MAX  17
#define IN(word, bit) ((UINT32_C(word) << WORD_SHIFT) | (bit))

/* By the keyword's bit, from 0; 0: nobody has said where its events are turned on. */
static const struct {
	GUID guid;
	uint32_t kinds[KEYWORDS_MAX];
	uint32_t keywords; /* that it has */
} providers[] = {
	/* Alpc: GENERAL */
	{{0xfcb9baaf, 0xe529, 0x4980, {0x92, 0xe9, 0xce, 0xd1, 0xa6, 0xaa, 0xdf, 0xdf}},
	 {0x100000},
	 1},
	/* Config: SYSTEM, GRAPHICS, STORAGE, NETWORK, SERVICES, PNP, OPTICAL */
	{{0xfef3a8b6, 0x318d, 0x4b67, {0xa9, 0x6a, 0x3b, 0x0f, 0x6b, 0x8f, 0x18, 0xfe}},
	 {IN(6, 0x1), IN(6, 0x2), IN(6, 0x4), IN(6, 0x8), IN(6, 0x10), IN(6, 0x20), IN(6, 0x40)},
	 7},
	/* Cpu: CONFIG, CACHE_FLUSH, SPEC_CONTROL, DOMAIN_CHANGE */
	{{0xc6c5265f, 0xeae8, 0x4650, {0xaa, 0xe4, 0x9d, 0x48, 0x60, 0x3d, 0x85, 0x10}},
	 {IN(2, 0x10000), IN(4, 0x4000000), 0, 0},
	 4},
	/* Hypervisor: PROFILE, CALLOUTS, VTL_CHANGE */
	{{0xbafa072a, 0x918a, 0x4bed, {0xb6, 0x22, 0xbc, 0x15, 0x20, 0x97, 0x09, 0x8f}},
	 {IN(4, 0x800000), 0, 0},
	 3},
	/* Interrupt: GENERAL, CLOCK_INTERRUPT, DPC, DPC_QUEUE, WDF_DPC, WDF_INTERRUPT, IPI */
	{{0xd4bbee17, 0xb545, 0x4888, {0x85, 0x8b, 0x74, 0x41, 0x69, 0x01, 0x5b, 0x25}},
	 {IN(1, 0x4000), IN(2, 0x40000), IN(1, 0x80), IN(1, 0x40000), IN(4, 0x1000000),
	  IN(4, 0x2000000), IN(2, 0x400000)},
	 7},
	/* Io: DISK, DISK_INIT, FILENAME, SPLIT, FILE, OPTICAL, OPTICAL_INIT, DRIVERS, CC, NETWORK, FILE_INIT, TIMER */
	{{0x3d5c43e3, 0x0f1c, 0x4202, {0xb8, 0x17, 0x17, 0x4c, 0x00, 0x70, 0xdc, 0x79}},
	 {0x100, 0x400, 0x200, 0x200000, 0x2000000, IN(4, 0x1), IN(4, 0x2), IN(1, 0x10),
	  IN(4, 0x20000), 0x10000, 0x4000000, IN(2, 0x800000)},
	 12},
	/* IoFilter: GENERAL, INIT, FASTIO, FAILURE */
	{{0xfbd09363, 0x9e22, 0x4661, {0xb8, 0xbf, 0xe7, 0xa3, 0x4b, 0x53, 0x5b, 0x8c}},
	 {IN(4, 0x100000), IN(4, 0x80000), IN(4, 0x200000), IN(4, 0x400000)},
	 4},
	/* Lock: SPINLOCK, SPINLOCK_COUNTERS, SYNC_OBJECTS */
	{{0x721ddfd3, 0xdacc, 0x4e1e, {0xb2, 0x6a, 0xa2, 0xcb, 0x31, 0xd4, 0x70, 0x5a}},
	 {IN(1, 0x10000), IN(1, 0x200000), IN(1, 0x20000)},
	 3},
	/* Memory: GENERAL, HARD_FAULTS, ALL_FAULTS, POOL, MEMINFO, PFSECTION, MEMINFO_WS, HEAP, WS, CONTMEM_GEN, VIRTUAL_ALLOC, FOOTPRINT, SESSION, REFSET, VAMAP, NONTRADEABLE */
	{{0x82958ca9, 0xb6cd, 0x47f8, {0xa3, 0xa8, 0x03, 0xae, 0x85, 0xa4, 0xbc, 0x24}},
	 {IN(1, 0x1), 0x2000, 0x1000, IN(1, 0x40), IN(1, 0x80000), IN(1, 0x400000), IN(1, 0x800000),
	  IN(2, 0x20), IN(1, 0x8000000), IN(1, 0x100000), IN(1, 0x8000), IN(1, 0x8),
	  IN(1, 0x400000), IN(1, 0x20), 0x8000, 0},
	 16},
	/* Object: GENERAL, HANDLE */
	{{0xfebd7460, 0x3d1d, 0x47eb, {0xaf, 0x49, 0xc9, 0xee, 0xb1, 0xe1, 0x46, 0xf2}},
	 {IN(4, 0x80), IN(4, 0x40)},
	 2},
	/* Power: GENERAL, HIBER_RUNDOWN, PROCESSOR_IDLE, IDLE_SELECTION, PPM_EXIT_LATENCY */
	{{0xc134884a, 0x32d5, 0x4488, {0x80, 0xe5, 0x14, 0xed, 0x7a, 0xbb, 0x82, 0x69}},
	 {IN(4, 0x8000), IN(5, 0x1), IN(2, 0x8000), IN(2, 0x200000), IN(2, 0x4000000)},
	 5},
	/* Process: GENERAL, INSWAP, FREEZE, PERF_COUNTER, WAKE_COUNTER, WAKE_DROP, WAKE_EVENT, DEBUG_EVENTS, DBGPRINT, JOB, WORKER_THREAD, THREAD, LOADER */
	{{0x151f55dc, 0x467d, 0x471f, {0x83, 0xb5, 0x5f, 0x88, 0x9d, 0x46, 0xff, 0x66}},
	 {0x1, IN(1, 0x800), IN(2, 0x2), 0x8, IN(4, 0x2000), IN(4, 0x200), IN(4, 0x400), 0x400000,
	  0x40000, 0x80000, IN(2, 0x8000000), 0x2, 0x4},
	 13},
	/* Profile: GENERAL, PMC_PROFILE */
	{{0xbfeb0324, 0x1cee, 0x496f, {0xa4, 0x09, 0x2a, 0xc2, 0xb4, 0x8a, 0x63, 0x22}},
	 {IN(1, 0x2), IN(1, 0x400)},
	 2},
	/* Registry: GENERAL, HIVE, NOTIFICATION */
	{{0x16156bd9, 0xfab4, 0x4cfa, {0xa2, 0x32, 0x89, 0xd1, 0x09, 0x90, 0x58, 0xe3}},
	 {0x20000, IN(2, 0x1000000), IN(2, 0x2000000)},
	 3},
	/* Scheduler: XSCHEDULER, DISPATCHER, KERNEL_QUEUE, SHOULD_YIELD, ANTI_STARVATION, LOAD_BALANCER, AFFINITY, PRIORITY, IDEAL_PROCESSOR, CONTEXT_SWITCH, COMPACT_CSWITCH, SCHEDULE_THREAD, READY_QUEUE, CPU_PARTITION, THREAD_FEEDBACK_READ, WORKLOAD_CLASS_UPDATE, AUTOBOOST */
	{{0x599a2a76, 0x4d91, 0x4910, {0x9a, 0xc7, 0x7d, 0x33, 0xf2, 0xe9, 0x7a, 0x6c}},
	 {0, IN(1, 0x200), IN(1, 0x1000000), IN(1, 0x4000000), IN(2, 0x1), IN(2, 0x80000),
	  IN(1, 0x1000), IN(1, 0x2000), 0, IN(1, 0x4), IN(1, 0x100), 0, 0, 0, 0, 0, 0},
	 17},
	/* Syscall: GENERAL */
	{{0x434286f7, 0x6f1b, 0x45bb, {0xb3, 0x7e, 0x95, 0xf6, 0x23, 0x04, 0x6c, 0x7c}},
	 {IN(2, 0x40)},
	 1},
	/* Timer: GENERAL, CLOCK_TIMER */
	{{0x4f061568, 0xe215, 0x499f, {0xab, 0x2e, 0xed, 0xa0, 0xae, 0x89, 0x0a, 0x5b}},
	 {IN(2, 0x20000), IN(2, 0x100000)},
	 2},
};

static size_t find(const GUID *provider)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(providers) && !etw_guid_equal(provider, &providers[i].guid))
		i++;
	return i;
}

bool etw_system_provider_is(const GUID *provider)
{
	return find(provider) < ARRAY_SIZE(providers);
}

uint64_t etw_system_provider_masks(const GUID *provider, uint64_t keywords,
				   uint32_t ret[WIRE_GROUP_MASKS_WORDS])
{
	const bool is_all = !keywords;
	size_t place = find(provider);

	memset(ret, 0, WIRE_GROUP_MASKS_WORDS * sizeof(ret[0]));
	if (place == ARRAY_SIZE(providers))
		return UINT64_MAX;
	if (is_all)
		keywords = (UINT64_C(1) << providers[place].keywords) - 1;
	for (uint32_t i = 0; i < providers[place].keywords; i++) {
		uint32_t kind = providers[place].kinds[i];

		if (!kind || !(keywords & UINT64_C(1) << i))
			continue;
		ret[kind >> WORD_SHIFT] |= kind & BITS;
		keywords &= ~(UINT64_C(1) << i);
	}
	return is_all ? 0 : keywords;
}
