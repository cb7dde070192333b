/* SPDX-License-Identifier: MIT */
/* What the header event says of the machine: Linux facts in Windows' fields. */
#include <time.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/time.h"
#include "etl/time_zone.h"
#include "etl/writer.h"
#include "wire/etl_logfile.h"

static int64_t clock_ft(clockid_t clock)
{
	struct timespec time = {0};

	(void)clock_gettime(clock, &time);
	return time.tv_sec * ETW_FILETIME_PER_SECOND + time.tv_nsec / ETW_NS_PER_FT;
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
	head->os_build = WIRE_LOGFILE_OS_BUILD;
	head->has_partition = true;
	head->processors = etw_machine_processors();
	head->timer_resolution = WIRE_LOGFILE_TICK_FT;
	head->pointer_bytes = sizeof(void *);
	head->cpu_mhz = etw_machine_mhz();
	head->boot_ft = ETW_FILETIME_UNIX_EPOCH + clock_ft(CLOCK_REALTIME) -
			clock_ft(CLOCK_BOOTTIME);
	etw_time_zone_write((int64_t)time(NULL), head->time_zone);
}
