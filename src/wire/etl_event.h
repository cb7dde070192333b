/* SPDX-License-Identifier: MIT */
/*
 * The headers of events in a buffer. The first dword (the marker) tells which one it is.
 * Tags as in wire/etl_buffer.h. Source: docs/format/etl.md "Event headers".
 */
#ifndef ETW_WIRE_ETL_EVENT_H
#define ETW_WIRE_ETL_EVENT_H

#include <assert.h>

#include "base/bytes.h"

/* The marker's high byte. */
#define WIRE_EVENT_FLAG_TRACE   0xC0 /* a typed trace header; the byte below is its type [OBS] */
#define WIRE_EVENT_FLAG_MESSAGE 0x90 /* WPP [SDK] */
#define WIRE_EVENT_FLAG_COMPACT 0xB0 /* marker16, size16, u32, time: Windows 2000 [GUESS] */

enum wire_header_type {
	WIRE_HEADER_SYSTEM32 = 1,
	WIRE_HEADER_SYSTEM64 = 2,
	WIRE_HEADER_COMPACT32 = 3,
	WIRE_HEADER_COMPACT64 = 4,
	WIRE_HEADER_FULL32 = 10,
	WIRE_HEADER_INSTANCE32 = 11,
	WIRE_HEADER_TIMED = 12,   /* unused [SDK] */
	WIRE_HEADER_ERROR = 13,   /* reader-internal on Windows [SDK] */
	WIRE_HEADER_WNODE = 14,   /* unused in files [SDK] */
	WIRE_HEADER_MESSAGE = 15, /* not stored; the number this project gives to WPP messages */
	WIRE_HEADER_PERFINFO32 = 16,
	WIRE_HEADER_PERFINFO64 = 17,
	WIRE_HEADER_EVENT32 = 18,
	WIRE_HEADER_EVENT64 = 19,
	WIRE_HEADER_FULL64 = 20,
	WIRE_HEADER_INSTANCE64 = 21,
	WIRE_HEADER_TYPES = 22,
};

/* SYSTEM_TRACE_HEADER; COMPACT is its first 0x18 bytes [SDK][OBS]. */
struct wire_system_header {
	le16 version; /* 0x00 low byte: payload version [OBS] */
	uint8_t header_type;
	uint8_t header_flag;
	le16 bytes;     /* 0x04 exact, unpadded [OBS] */
	uint8_t type;   /* 0x06 opcode; with `group` the hook id [OBS] */
	uint8_t group;  /* 0x07 [OBS] */
	le32 thread_id; /* 0x08 */
	le32 process_id;
	le64 time_raw;     /* 0x10 */
	le32 kernel_ticks; /* 0x18 not in COMPACT */
	le32 user_ticks;
};
static_assert(sizeof(struct wire_system_header) == 0x20, "layout");
#define WIRE_COMPACT_HEADER_BYTES 0x18

/* PERFINFO_TRACE_HEADER [SDK][OBS]. */
struct wire_perfinfo_header {
	le16 version; /* 0x00 high byte: WIRE_PERFINFO_* [SDK] */
	uint8_t header_type;
	uint8_t header_flag;
	le16 bytes; /* 0x04 */
	uint8_t type;
	uint8_t group;
	le64 time_raw; /* 0x08 */
};
static_assert(sizeof(struct wire_perfinfo_header) == 0x10, "layout");
#define WIRE_PERFINFO_PEBS_INDEX   0x8000 /* one u64 before the payload [SDK] */
#define WIRE_PERFINFO_COUNTER_MASK 0x0700 /* so many u64 counters before the payload [SDK] */

/* EVENT_TRACE_HEADER as stored: classic events of user mode [SDK][OBS]. */
struct wire_full_header {
	le16 bytes; /* 0x00 */
	uint8_t header_type;
	uint8_t header_flag;
	uint8_t type; /* 0x04 opcode */
	uint8_t level;
	le16 version;
	le32 thread_id; /* 0x08 */
	le32 process_id;
	le64 time_raw;     /* 0x10 */
	uint8_t guid[16];  /* 0x18 class */
	le32 kernel_ticks; /* 0x28 */
	le32 user_ticks;
};
static_assert(sizeof(struct wire_full_header) == 0x30, "layout");

/* EVENT_INSTANCE_GUID_HEADER: a full header and the instance [SDK]. */
struct wire_instance_header {
	struct wire_full_header full;
	le32 instance_id; /* 0x30 */
	le32 parent_instance_id;
	uint8_t parent_guid[16]; /* 0x38 */
};
static_assert(sizeof(struct wire_instance_header) == 0x48, "layout");

/* EVENT_HEADER as stored; the same offsets as the structure that consumers receive [SDK][OBS]. */
struct wire_event_header {
	le16 bytes; /* 0x00 header, extended items and payload */
	uint8_t header_type;
	uint8_t header_flag;
	le16 flags; /* 0x04 WIRE_EVENT_EXTENDED_INFO or 0 [OBS] */
	le16 property;
	le32 thread_id; /* 0x08 */
	le32 process_id;
	le64 time_raw; /* 0x10 */
	uint8_t provider[16];
	le16 id; /* 0x28 */
	uint8_t version;
	uint8_t channel;
	uint8_t level;
	uint8_t opcode;
	le16 task;
	le64 keyword;      /* 0x30 */
	le32 kernel_ticks; /* 0x38 */
	le32 user_ticks;
	uint8_t activity[16]; /* 0x40 */
};
static_assert(sizeof(struct wire_event_header) == 0x50, "layout");
#define WIRE_EVENT_EXTENDED_INFO 0x0001

/* An extended data item; data follows, the whole padded to 8 bytes [SDK][OBS]. */
struct wire_extended_item {
	le16 bytes;      /* 0x00 with this header and padding */
	le16 type;       /* 0x02 EVENT_HEADER_EXT_TYPE_* */
	le16 linkage;    /* 0x04 bit 0: another item follows */
	le16 data_bytes; /* 0x06 exact */
};
static_assert(sizeof(struct wire_extended_item) == 8, "layout");
#define WIRE_EXTENDED_LINKAGE 0x0001

/* A WPP message: these 8 bytes, then what the options name, in the order of the bits below [SDK]. */
struct wire_message_header {
	le16 bytes; /* 0x00 */
	uint8_t reserved_type;
	uint8_t header_flag;
	le16 number;  /* 0x04 */
	le16 options; /* 0x06 enum wire_message_option */
};
static_assert(sizeof(struct wire_message_header) == 8, "layout");

enum wire_message_option {
	WIRE_MESSAGE_SEQUENCE = 0x0001,    /* u32 */
	WIRE_MESSAGE_GUID = 0x0002,        /* 16 bytes, unless COMPONENT is set */
	WIRE_MESSAGE_COMPONENT = 0x0004,   /* u32, in the GUID's place */
	WIRE_MESSAGE_TIMESTAMP = 0x0008,   /* u64 raw time, 4-aligned */
	WIRE_MESSAGE_PERF_TIME = 0x0010,   /* obsolete, the same slot */
	WIRE_MESSAGE_SYSTEM_INFO = 0x0020, /* u32 thread id, u32 process id */
	WIRE_MESSAGE_POINTER32 = 0x0040,
	WIRE_MESSAGE_POINTER64 = 0x0080,
};

#endif
