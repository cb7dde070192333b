/* SPDX-License-Identifier: MIT */
/*
 * Writing .etl files: the bytes of header buffers and data buffers. Pure functions over memory, used by the
 * session engine, by private sessions and by tools that rewrite traces; src/etl/file_writer.h puts the
 * result on disk.
 * Source: docs/format/etl.md "Writing".
 */
#ifndef ETW_ETL_WRITER_H
#define ETW_ETL_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uchar.h>

#include <guiddef.h>

#include "wire/etl_buffer.h"

#define ETW_ETL_BUFFER_BYTES_MIN 0x200 /* readers take less for damage */

/*
 * What a header buffer says. Two facts decide over more than their own field: versions before Windows 8
 * (6.2) have the older forms of processor and SavedOffset, and the relogger's mode bit its conventions.
 */
struct etw_etl_file_head {
	uint32_t buffer_bytes; /* of every buffer */
	uint8_t os_major, os_minor;
	uint8_t layout_major, layout_minor; /* 0.0: 1.5, or 2.0 for what 1.5 cannot express */
	uint32_t os_build;
	uint32_t processors;
	uint32_t timer_resolution; /* 100 ns */
	uint32_t maximum_file_size;
	uint32_t log_file_mode; /* as the session has it; what files never say is masked off here */
	uint32_t pointer_bytes; /* 4 or 8 */
	uint32_t cpu_mhz;
	uint64_t name_words[2]; /* what stands where the pointers to the names were; 0 */
	uint8_t time_zone[0xAC];
	int64_t boot_ft;
	uint64_t perf_frequency;
	int64_t start_ft; /* T0 as FILETIME */
	int64_t t0_raw;   /* time of the header event, session clock */
	uint32_t clock_type;
	uint16_t logger_id;
	uint32_t process_id, thread_id; /* who started the session */
	uint32_t kernel_ticks, user_ticks;
	const char16_t *logger_name; /* NUL-terminated; NULL: empty */
	const char16_t *log_file_name;
	bool has_partition;   /* companion 0050, zeros */
	bool has_group_masks; /* companion 0005 */
	uint32_t group_masks[8];
	/* The companions as they stand in a file, each padded to 8; NULL: the two flags above tell. */
	const uint8_t *companions;
	uint32_t companion_bytes;
	int64_t flush_raw; /* of the header buffer: 0, which only Vista has otherwise */
	/* Rewritten when the session stops. */
	int64_t end_ft;
	uint32_t buffers_written; /* with the header buffer */
	uint32_t events_lost, buffers_lost;
};

/*
 * etw_etl_write_header_buffer() - a whole header buffer.
 *
 * @buffer: head->buffer_bytes of room, overwritten with the buffer and its fill of 0xFF
 *
 * Returns 0; -EMSGSIZE when names and companions do not fit; -EINVAL for a buffer size that is no multiple
 * of 8 within ETW_ETL_BUFFER_BYTES_MIN and WIRE_BUFFER_BYTES_MAX, pointer_bytes other than 4 and 8, or
 * companions that are not padded to 8.
 */
int etw_etl_write_header_buffer(const struct etw_etl_file_head *head, uint8_t *buffer);

/*
 * etw_etl_rewrite_header_buffer() - brings EndTime, BuffersWritten, EventsLost and BuffersLost of a header
 * buffer up to date; every other byte stays. Returns 0 or -EBADMSG when it is no header buffer.
 */
int etw_etl_rewrite_header_buffer(uint8_t *buffer, uint32_t buffer_bytes, int64_t end_ft,
				  uint32_t buffers_written, uint32_t events_lost,
				  uint32_t buffers_lost);

/*
 * etw_etl_shrink_header_buffer() - the form that a relogger's compressed file has: as long as needed, in steps of 0x200.
 *
 * @buffer: of etw_etl_write_header_buffer(); its own header is changed, of what is behind only less counts
 *
 * Returns the bytes that it has from now on.
 */
uint32_t etw_etl_shrink_header_buffer(uint8_t *buffer);

/* What the header of a data buffer says, beside sizes. */
struct etw_etl_buffer_head {
	uint32_t buffer_bytes;
	uint16_t processor;
	uint16_t logger_id;
	uint64_t sequence;        /* from 1 */
	int64_t time_raw;         /* when it was flushed */
	uint16_t flags;           /* WIRE_BUFFER_*; PROC_INDEX is added here */
	bool is_before_windows_8; /* no PROC_INDEX: processor number and alignment instead */
	bool is_partial;          /* flushed before it was full: CurrentOffset says so */
	uint32_t next_bytes;      /* full: size of the event that did not fit; 0: unknown */
};

/*
 * etw_etl_append_event() - copies an event behind the others, with zero padding to 8.
 *
 * @event: @event_bytes, not inside @buffer
 * @used: bytes used so far, WIRE_BUFFER_HEADER_BYTES for an empty buffer; moved on success
 *
 * Returns 0 or -ENOSPC.
 */
int etw_etl_append_event(uint8_t *buffer, uint32_t buffer_bytes, uint32_t *used,
			 const uint8_t *event, uint32_t event_bytes);

/* etw_etl_write_buffer_header() - as etw_etl_seal_buffer(), without the fill: @buffer has @used bytes. */
void etw_etl_write_buffer_header(const struct etw_etl_buffer_head *head, uint8_t *buffer,
				 uint32_t used);

/*
 * etw_etl_seal_buffer() - writes the header in front of the events, and the fill of 0xFF behind them.
 *
 * @used: header and events with their padding, a multiple of 8
 */
void etw_etl_seal_buffer(const struct etw_etl_buffer_head *head, uint8_t *buffer, uint32_t used);

/*
 * etw_etl_mark_flushed() - a sealed buffer, full or not, as if it had been flushed: it has the flush marker, and looks like
 * one that was written before it was full. A closed file's last buffer is one.
 */
void etw_etl_mark_flushed(struct wire_buffer_header *header, uint32_t buffer_bytes);

/*
 * etw_etl_machine_head() - fills in what is true of this Linux machine: OS version (10.0 and a build that
 * tells readers the right layouts), processors, timer resolution, pointer size, MHz, time zone, boot time, and
 * the partition companion that such a build has. The rest of @head stays as it is.
 *
 * Readers convert the times of clock type 3 by cpu_mhz: then the caller puts the counter's own frequency
 * there. Context: reads files of /proc and /sys; calls localtime.
 */
void etw_etl_machine_head(struct etw_etl_file_head *head);

#endif
