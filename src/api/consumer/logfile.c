/* SPDX-License-Identifier: MIT */
#include "api/consumer/logfile.h"

#include <string.h>

#include "base/atomic.h"
#include "base/macros.h"

void etw_logfile_header(const struct etw_etl_header *header, TRACE_LOGFILE_HEADER *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->BufferSize = header->buffer_bytes;
	ret->VersionDetail.MajorVersion = header->os_major;
	ret->VersionDetail.MinorVersion = header->os_minor;
	ret->VersionDetail.SubVersion = header->layout_major;
	ret->VersionDetail.SubMinorVersion = header->layout_minor;
	ret->ProviderVersion = header->os_build;
	ret->NumberOfProcessors = header->processors;
	ret->EndTime.QuadPart = header->end_ft;
	ret->TimerResolution = header->timer_resolution;
	ret->MaximumFileSize = header->maximum_file_size;
	ret->LogFileMode = header->log_file_mode;
	ret->BuffersWritten = header->buffers_written;
	ret->StartBuffers = header->start_buffers;
	ret->PointerSize = header->pointer_bytes;
	/* Those of a session that is being read change meanwhile. */
	ret->EventsLost = load_relaxed(&header->events_lost);
	ret->BuffersLost = load_relaxed(&header->buffers_lost);
	ret->CpuSpeedInMHz = header->cpu_mhz;
	static_assert(sizeof(ret->TimeZone) == sizeof(header->time_zone), "one layout");
	memcpy(&ret->TimeZone, header->time_zone, sizeof(ret->TimeZone));
	ret->BootTime.QuadPart = header->boot_ft;
	ret->PerfFreq.QuadPart = (LONGLONG)header->perf_frequency;
	ret->StartTime.QuadPart = header->start_ft;
	ret->ReservedFlags = header->clock_type;
}

ULONG etw_logfile_is_kernel(const struct etw_etl_header *header)
{
	return header->companions.has_group_masks;
}
