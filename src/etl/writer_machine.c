/* SPDX-License-Identifier: MIT */
/* What the header event says of the machine: Linux facts in Windows' fields. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "etl/time_zone.h"
#include "etl/writer.h"

#define FALLBACK_TICK_FT 40000 /* 250 Hz, the usual kernel's */
#define NS_PER_FT        100

static void closep(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

static uint32_t processor_count(void)
{
	long count = sysconf(_SC_NPROCESSORS_CONF);

	return count > 0 ? (uint32_t)count : 1;
}

/* How often the kernel's coarse clock moves: what Windows calls the timer's resolution. */
static uint32_t tick_ft(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || tick.tv_nsec < NS_PER_FT)
		return FALLBACK_TICK_FT;
	return (uint32_t)(tick.tv_nsec / NS_PER_FT);
}

/* A number in a file of its own, in kHz; 0 when there is none. */
static uint32_t mhz_of_file(const char *path)
{
	CLEANUP(closep) FILE *file = fopen(path, "re");
	char text[32];

	if (!file || !fgets(text, sizeof(text), file))
		return 0;
	return (uint32_t)(strtoul(text, NULL, 10) / 1000);
}

static uint32_t mhz_of_cpuinfo(void)
{
	static const char key[] = "cpu MHz";
	CLEANUP(closep) FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		const char *colon = strchr(line, ':');

		if (colon && !strncmp(line, key, sizeof(key) - 1))
			return (uint32_t)(strtod(colon + 1, NULL) + 0.5);
	}
	return 0;
}

/*
 * Windows means the nominal speed, which the first file has where the driver knows it. The second tells the
 * speed of the moment or, on virtual machines, the nominal one; the last is the highest.
 */
static uint32_t nominal_mhz(void)
{
	uint32_t mhz = mhz_of_file("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency");

	if (!mhz)
		mhz = mhz_of_cpuinfo();
	if (!mhz)
		mhz = mhz_of_file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
	return mhz;
}

static int64_t clock_ft(clockid_t clock)
{
	struct timespec time = {0};

	(void)clock_gettime(clock, &time);
	return time.tv_sec * ETW_FILETIME_PER_SECOND + time.tv_nsec / NS_PER_FT;
}

void etw_etl_machine_head(struct etw_etl_file_head *head)
{
	/*
	 * Readers choose between versions of events by these. A Linux version there would send them to the
	 * layouts of Windows 2000 or to none; this build's are the ones that libetw writes, partition companion
	 * included.
	 */
	head->os_major = 10;
	head->os_minor = 0;
	head->os_build = 19045;
	head->has_partition = true;
	head->processors = processor_count();
	head->timer_resolution = tick_ft();
	head->pointer_bytes = sizeof(void *);
	head->cpu_mhz = nominal_mhz();
	head->boot_ft = ETW_FILETIME_UNIX_EPOCH + clock_ft(CLOCK_REALTIME) -
			clock_ft(CLOCK_BOOTTIME);
	etw_time_zone_write((int64_t)time(NULL), head->time_zone);
}
