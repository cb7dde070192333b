/* SPDX-License-Identifier: MIT */
/* The header event of a file: TRACE_LOGFILE_HEADER of either bitness, names, clock, companions. */
#ifndef ETW_ETL_HEADER_H
#define ETW_ETL_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/time.h"
#include "etl/companions.h"

struct etw_etl_header {
	uint32_t buffer_bytes; /* of an uncompressed buffer */
	uint8_t os_major, os_minor, layout_major, layout_minor;
	uint32_t os_build;
	uint32_t processors;
	uint32_t timer_resolution;  /* 100 ns */
	uint32_t maximum_file_size; /* MB, or KB with EVENT_TRACE_USE_KBYTES_FOR_SIZE */
	uint32_t log_file_mode;
	uint32_t buffers_written;
	uint32_t start_buffers;
	uint32_t pointer_bytes; /* as stored: of the traced system */
	uint32_t events_lost;
	uint32_t cpu_mhz;
	uint32_t buffers_lost;
	uint32_t clock_type;            /* as stored */
	uint32_t header_pointer_bytes;  /* 4 or 8: the layout of the header event itself */
	uint32_t process_id, thread_id; /* of the controller */
	uint8_t time_zone[0xAC];        /* TIME_ZONE_INFORMATION as stored */
	int64_t end_ft;                 /* 0: still running, or crashed */
	int64_t boot_ft;
	int64_t start_ft;
	int64_t time_raw; /* raw time of start_ft */
	uint64_t perf_frequency;
	char *logger_name;   /* UTF-8, owned; "" when empty */
	char *log_file_name; /* UTF-8, owned; "" when empty */
	struct etw_clock clock;
	struct etw_etl_companions companions;
};

/*
 * etw_etl_header_parse() - reads the header event.
 *
 * @event: @bytes from the event's own header up to the end of the header buffer's valid part
 *
 * Returns 0; -EBADMSG with @reterr (offsets from the start of @event); -ENOMEM. A name that is cut or
 * missing is read as far as it goes; a size that cannot be is taken for all of @bytes.
 */
int etw_etl_header_parse(const uint8_t *event, size_t bytes, struct etw_etl_header *ret,
			 struct etw_fault *reterr);

/* etw_etl_header_done() - frees names and companions; takes a zeroed header. */
void etw_etl_header_done(struct etw_etl_header *header);

/* etw_etl_header_has_unix_path() - whether the recorder gave the file a path of Unix: it ran on Linux. */
static inline bool etw_etl_header_has_unix_path(const struct etw_etl_header *header)
{
	return header->log_file_name[0] == '/';
}

#endif
