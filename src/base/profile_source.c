/* SPDX-License-Identifier: MIT */
#include "base/profile_source.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"

#define CACHE(name, operation, result)                   \
	(PERF_COUNT_HW_CACHE_##name | (operation) << 8 | \
	 (uint64_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16)
#define READ         PERF_COUNT_HW_CACHE_OP_READ
#define NS_PER_FT    100
#define COUNTED      65536, 4096, INT32_MAX /* as Windows has it for counters of processors */
#define FREQUENT     100, 1, INT32_MAX
#define RARE         1, 1, INT32_MAX
#define HARDWARE(id) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id
#define CACHED       PERF_TYPE_HW_CACHE
#define SOFTWARE(id) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id

/*
 * Names and numbers below 0x1000 are those of Windows (KPROFILE_SOURCE, and what its processors add), the others are 0x1000
 * and perf's number of the software event.
 */
static const struct etw_profile_source sources[] = {
	{"Timer", ETW_PROFILE_SOURCE_TIMER, 10000, 1221, 10000000, SOFTWARE(CPU_CLOCK)},
	{"AlignmentFixup", 1, RARE, SOFTWARE(ALIGNMENT_FAULTS)},
	{"TotalIssues", 2, COUNTED, HARDWARE(INSTRUCTIONS)},
	{"BranchInstructions", 6, COUNTED, HARDWARE(BRANCH_INSTRUCTIONS)},
	{"DcacheMisses", 8, COUNTED, CACHED, CACHE(L1D, READ, MISS)},
	{"IcacheMisses", 9, COUNTED, CACHED, CACHE(L1I, READ, MISS)},
	{"CacheMisses", 10, COUNTED, HARDWARE(CACHE_MISSES)},
	{"BranchMispredictions", 11, COUNTED, HARDWARE(BRANCH_MISSES)},
	{"TotalCycles", 19, COUNTED, HARDWARE(CPU_CYCLES)},
	{"DcacheAccesses", 21, COUNTED, CACHED, CACHE(L1D, READ, ACCESS)},
	{"UnhaltedCoreCycles", 25, COUNTED, HARDWARE(CPU_CYCLES)},
	{"InstructionRetired", 26, COUNTED, HARDWARE(INSTRUCTIONS)},
	{"UnhaltedReferenceCycles", 27, COUNTED, HARDWARE(REF_CPU_CYCLES)},
	{"LLCReference", 28, COUNTED, HARDWARE(CACHE_REFERENCES)},
	{"LLCMisses", 29, COUNTED, HARDWARE(CACHE_MISSES)},
	{"BranchInstructionRetired", 30, COUNTED, HARDWARE(BRANCH_INSTRUCTIONS)},
	{"BranchMispredictsRetired", 31, COUNTED, HARDWARE(BRANCH_MISSES)},
	{"PageFaults", 0x1002, FREQUENT, SOFTWARE(PAGE_FAULTS)},
	{"ContextSwitches", 0x1003, FREQUENT, SOFTWARE(CONTEXT_SWITCHES)},
	{"CpuMigrations", 0x1004, RARE, SOFTWARE(CPU_MIGRATIONS)},
	{"PageFaultsMinor", 0x1005, FREQUENT, SOFTWARE(PAGE_FAULTS_MIN)},
	{"PageFaultsMajor", 0x1006, RARE, SOFTWARE(PAGE_FAULTS_MAJ)},
	{"EmulationFaults", 0x1008, RARE, SOFTWARE(EMULATION_FAULTS)},
};

static_assert(ARRAY_SIZE(sources) == ETW_PROFILE_SOURCES, "one number of sources");
static_assert(ETW_PROFILE_SOURCES <= 32, "sets of sources are bits");

int etw_perf_open(const struct perf_event_attr *attributes, pid_t tid, int cpu)
{
	long fd = syscall(SYS_perf_event_open, attributes, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

const struct etw_profile_source *etw_profile_source(uint32_t place)
{
	return &sources[place];
}

bool etw_profile_source_is_counter(uint32_t place)
{
	return sources[place].type != PERF_TYPE_SOFTWARE;
}

bool etw_profile_source_find(uint32_t id, uint32_t *ret_place)
{
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++) {
		if (sources[i].id == id) {
			*ret_place = i;
			return true;
		}
	}
	return false;
}

bool etw_profile_source_named(const char *name, size_t byte_count, uint32_t *ret_place)
{
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++) {
		if (strlen(sources[i].name) == byte_count &&
		    strncasecmp(sources[i].name, name, byte_count) == 0) {
			*ret_place = i;
			return true;
		}
	}
	return false;
}

bool etw_profile_source_allows(uint32_t place, uint32_t interval)
{
	return interval >= sources[place].interval_min && interval <= sources[place].interval_max;
}

void etw_profile_source_attributes(uint32_t place, uint64_t period, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.type = sources[place].type,
		.size = sizeof(*ret),
		.config = sources[place].config,
		.sample_period = period,
		.disabled = 1,
		/* All of the time, or not at all: what shares a counter counts a part, and nobody would know. */
		.pinned = etw_profile_source_is_counter(place),
	};
}

int etw_profile_source_probe(uint32_t place, etw_perf_open_fn *open)
{
	uint64_t unit = place == ETW_PROFILE_SOURCE_TIMER ? NS_PER_FT : 1;
	struct perf_event_attr attributes;
	int fd;

	etw_profile_source_attributes(place, sources[place].interval * unit, &attributes);
	/* This much everybody may, unless the machine forbids all of perf. */
	attributes.exclude_kernel = 1;
	attributes.exclude_hv = 1;
	fd = open(&attributes, 0, -1);
	if (fd < 0)
		return fd == -EPERM ? -EACCES : fd;
	close(fd);
	return 0;
}

uint32_t etw_profile_sources_probe(etw_perf_open_fn *open)
{
	uint32_t set = 0;

	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++)
		set |= (uint32_t)(etw_profile_source_probe(i, open) == 0) << i;
	return set;
}
