/* SPDX-License-Identifier: MIT */
/*
 * The header in front of every buffer of an .etl file (WMI_BUFFER_HEADER).
 * Tags: [SDK] documented by Microsoft; [OBS] seen in genuine files; [GUESS] inferred.
 * Source: docs/format/etl.md "Buffer header".
 */
#ifndef ETW_WIRE_ETL_BUFFER_H
#define ETW_WIRE_ETL_BUFFER_H

#include <assert.h>

#include "base/bytes.h"

#define WIRE_BUFFER_HEADER_BYTES 0x48

/*
 * In `reference_start` of a buffer in a real-time consumer's memory: how many of its events are notes of the host's own,
 * which are no loss when they do not arrive.
 *
 * In `reference_start` of a buffer that a real-time consumer hands on: it is the last one of its batch, and
 * `reference_clock` has the watermark, a raw time before which nothing more comes. Never in files, where both are junk.
 */
#define WIRE_BUFFER_PROMISE UINT64_C(0x4B52414D52455457) /* "WTERMARK" */

/* Buffers are at most 16 MiB by Windows' rules [SDK]; a reader allows for more. */
#define WIRE_BUFFER_BYTES_MAX (64u * 1024 * 1024)

enum wire_buffer_flag {
	WIRE_BUFFER_FLUSH_MARKER = 0x0001, /* last of a flush batch [OBS gcevents.etl] */
	WIRE_BUFFER_EVENTS_LOST = 0x0002,  /* events were dropped before or while it filled [SDK] */
	WIRE_BUFFER_BUFFER_LOST = 0x0004,  /* whole buffers were dropped [SDK] */
	WIRE_BUFFER_RTBACKUP_CORRUPT = 0x0008, /* real-time backup file damaged [SDK] */
	WIRE_BUFFER_RTBACKUP = 0x0010,         /* came out of a real-time backup file [SDK] */
	WIRE_BUFFER_PROC_INDEX = 0x0020,       /* processor is 16 bits wide [OBS gcevents.etl] */
	WIRE_BUFFER_COMPRESSED = 0x0040, /* body is XPRESS-compressed [OBS DynamicEvents.etl] */
	WIRE_BUFFER_FLAGS_KNOWN = 0x007F,
};

enum wire_buffer_type {
	WIRE_BUFFER_GENERIC = 0,
	WIRE_BUFFER_RUNDOWN = 1,      /* layouts before Vista [SDK] */
	WIRE_BUFFER_CONTEXT_SWAP = 2, /* layouts before Vista [SDK] */
	WIRE_BUFFER_REFTIME = 3,      /* real-time persistence; holds no events [GUESS] */
	WIRE_BUFFER_HEADER = 4,
	WIRE_BUFFER_BATCHED = 5,      /* [SDK] */
	WIRE_BUFFER_EMPTY_MARKER = 6, /* holds no events [GUESS] */
	WIRE_BUFFER_DEBUG_INFO = 7,   /* holds no events [GUESS] */
	WIRE_BUFFER_TYPES = 8,
};

#define WIRE_BUFFER_STATE_MAX 6 /* Placeholder, since Windows 10 1607 [SDK] */

/* The mask of a 16-bit processor index: 2048 processors [SDK]. */
#define WIRE_BUFFER_PROCESSOR_MASK 0x7FF

struct wire_buffer_header {
	le32 buffer_bytes;    /* 0x00 distance to the next buffer [OBS] */
	le32 saved_offset;    /* 0x04 writer bookkeeping [OBS] */
	le32 current_offset;  /* 0x08 writer bookkeeping, may exceed buffer_bytes [OBS] */
	le32 reference_count; /* 0x0C 0 on disk [OBS] */
	le64 time_raw;       /* 0x10 when it was flushed, session clock; relogger: FILETIME [OBS] */
	le64 sequence;       /* 0x18 0 for the header buffer, else from 1 [OBS] */
	le64 reserved_clock; /* 0x20 clock type and frequency in DBG_INFO buffers, else junk [SDK] */
	le16 processor;      /* 0x28 index; without PROC_INDEX number u8 and alignment u8 [OBS] */
	le16 logger_id;      /* 0x2A session number at run time [OBS] */
	le32 state;          /* 0x2C 3 in files [OBS] */
	le32 valid_bytes;    /* 0x30 with this header; of a compressed buffer: decompressed [OBS] */
	le16 flags;          /* 0x34 enum wire_buffer_flag [OBS] */
	le16 type;           /* 0x36 enum wire_buffer_type [OBS] */
	le64 reference_start; /* 0x38 StartTime of a REFTIME buffer, else junk [SDK] */
	le64 reference_clock; /* 0x40 StartPerfClock of a REFTIME buffer, else junk [SDK] */
};
static_assert(sizeof(struct wire_buffer_header) == WIRE_BUFFER_HEADER_BYTES, "layout");
static_assert(offsetof(struct wire_buffer_header, processor) == 0x28, "layout");
static_assert(offsetof(struct wire_buffer_header, valid_bytes) == 0x30, "layout");
static_assert(offsetof(struct wire_buffer_header, type) == 0x36, "layout");

/* Events start 8-aligned within the (decompressed) buffer [OBS]. */
#define WIRE_EVENT_ALIGNMENT 8

/* A dword of ones where an event should start ends the buffer [OBS]. */
#define WIRE_EVENT_END_MARK UINT32_C(0xFFFFFFFF)

#endif
