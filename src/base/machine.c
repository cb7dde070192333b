/* SPDX-License-Identifier: MIT */
#include "base/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"

static void closep(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

uint32_t etw_machine_processors(void)
{
	long count = sysconf(_SC_NPROCESSORS_CONF);

	return count > 0 ? (uint32_t)count : 1;
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
uint32_t etw_machine_mhz(void)
{
	uint32_t mhz = mhz_of_file("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency");

	if (!mhz)
		mhz = mhz_of_cpuinfo();
	if (!mhz)
		mhz = mhz_of_file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
	return mhz;
}
