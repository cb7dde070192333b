/* SPDX-License-Identifier: MIT */
/*
 * The payload of the first event of a file: TRACE_LOGFILE_HEADER with its two names. The two pointers in
 * the middle make two layouts; which one it is says the event's own header type.
 * Source: docs/format/etl.md "The header event".
 */
#ifndef ETW_WIRE_ETL_LOGFILE_H
#define ETW_WIRE_ETL_LOGFILE_H

#include <assert.h>

#include "base/bytes.h"

/* Up to the two pointers, the layouts are one. */
struct wire_logfile_head {
	le32 buffer_bytes; /* 0x00 of an uncompressed buffer [OBS] */
	uint8_t os_major;  /* 0x04 [OBS] */
	uint8_t os_minor;
	uint8_t layout_major; /* 0x06 SubVersion: 1 or 2 [OBS] */
	uint8_t layout_minor;
	le32 os_build;          /* 0x08 ProviderVersion [OBS] */
	le32 processors;        /* 0x0C [OBS] */
	le64 end_ft;            /* 0x10 0 while running or after a crash [SDK] */
	le32 timer_resolution;  /* 0x18 100 ns [SDK] */
	le32 maximum_file_size; /* 0x1C MB, or KB with mode 0x2000 [SDK] */
	le32 log_file_mode;     /* 0x20 [SDK] */
	le32 buffers_written;   /* 0x24 with the header buffer [OBS] */
	le32 start_buffers;     /* 0x28 1 [OBS] */
	le32 pointer_bytes;     /* 0x2C [OBS] */
	le32 events_lost;       /* 0x30 cumulative [OBS] */
	le32 cpu_mhz;           /* 0x34 [OBS] */
};
static_assert(sizeof(struct wire_logfile_head) == 0x38, "layout");

/* Behind the two pointers, at 0x40 (32-bit) or 0x48 (64-bit). */
struct wire_logfile_tail {
	uint8_t time_zone[0xAC]; /* 0x00 TIME_ZONE_INFORMATION [SDK] */
	le32 reserved_pad;       /* 0xAC */
	le64 boot_ft;            /* 0xB0 [SDK] */
	le64 perf_frequency;     /* 0xB8 ticks per second [OBS] */
	le64 start_ft;           /* 0xC0 FILETIME of the header event's raw time [OBS] */
	le32 clock_type;         /* 0xC8 ReservedFlags: 1 QPC, 2 system time, 3 cycles [OBS] */
	le32 buffers_lost;       /* 0xCC [SDK] */
};
static_assert(sizeof(struct wire_logfile_tail) == 0xD0, "layout");

#define WIRE_LOGFILE_BYTES32 (0x38 + 2 * 4 + 0xD0)
#define WIRE_LOGFILE_BYTES64 (0x38 + 2 * 8 + 0xD0)
static_assert(WIRE_LOGFILE_BYTES32 == 0x110, "layout");
static_assert(WIRE_LOGFILE_BYTES64 == 0x118, "layout");

#define WIRE_LOGFILE_OS_BUILD 19045 /* what our files say as build */

/*
 * What our files say as TimerResolution: the unit of KernelTime and UserTime, 100 ns. Linux counts CPU time
 * finer than its ticks, and Windows machines with a fast timer say 1 ms as well.
 */
#define WIRE_LOGFILE_TICK_FT 10000

#define WIRE_LOGFILE_MODE_RELOG       UINT32_C(0x00010000) /* written by the relogger [OBS] */
#define WIRE_LOGFILE_MODE_COMPRESSED  UINT32_C(0x04000000) /* [OBS DynamicEvents.etl] */
#define WIRE_LOGFILE_MODE_PRIVATE     UINT32_C(0x00000800) /* [SDK] */
#define WIRE_LOGFILE_MODE_CIRCULAR    UINT32_C(0x00000002) /* [SDK] */
#define WIRE_LOGFILE_MODE_APPEND      UINT32_C(0x00000004) /* [SDK] */
#define WIRE_LOGFILE_MODE_PREALLOCATE UINT32_C(0x00000020) /* [SDK] */
#define WIRE_LOGFILE_MODE_KBYTES      UINT32_C(0x00002000) /* maximum_file_size is in KB [SDK] */

#endif
